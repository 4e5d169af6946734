"""The credentials of a site section, with its secrets resolved; none of them is ever printed."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evercrawl.config.secrets import revealed
from evercrawl.config.session_keys import is_reference, parted
from evercrawl.errors import ConfigError
from evercrawl.fetch.transfer import ClientCertificate

if TYPE_CHECKING:
    from evercrawl.config import SiteRules

ALWAYS_SECRET: Final = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Request fields that are never archived."""
_SHARED: Final = 0o077


class Credentials:
    """The additions to requests for the hosts of one section.

    Parameters
    ----------
    rules
        The section.
    environ
        Where `env:NAME` is looked up.

    Attributes
    ----------
    rules
        The section.
    plain, secret
        The public and the secret header fields.
    secret_names
        Names of the fields that must not be archived, in lower case.
    login_fields
        The values for the login form.
    certificate
        The client certificate; None if there is none.
    cookies
        Whether cookies are kept and sent.

    Raises
    ------
    ConfigError
        A secret is not available, or is not valid in a header field.
    """

    def __init__(self, rules: SiteRules, environ: Mapping[str, str] = os.environ) -> None:
        self.rules, self._environ = rules, environ
        plain, secret = list[tuple[str, str]](), list[tuple[str, str]]()
        for name, value in (parted(entry, ":") for entry in rules.headers):
            if is_reference(value):
                secret.append((name, self._secret(value, f"headers ({name})")))
            else:
                plain.append((name, value))
        if rules.user:
            pair = f"{rules.user}:{self._secret(rules.password, 'password', line=False)}"
            secret.append(("Authorization", f"Basic {b64encode(pair.encode()).decode()}"))
        if rules.bearer:
            secret.append(("Authorization", f"Bearer {self._secret(rules.bearer, 'bearer')}"))
        self.plain, self.secret = tuple(plain), tuple(secret)
        self.secret_names = ALWAYS_SECRET | {name.lower() for name, _ in secret}
        filled = (parted(entry, "=") for entry in rules.login_fields)
        self.login_fields = tuple(
            (name, self._secret(value, f"login_fields ({name})", line=False) if is_reference(value) else value)
            for name, value in filled
        )
        self.certificate = self._certificate() if rules.certificate else None
        self.cookies = rules.keeps_cookies

    def __repr__(self) -> str:
        """Return the name of the site, without any secret."""
        return f"Credentials({self.rules.name!r})"

    def same_login(self, other: Credentials) -> bool:
        """Whether both log in with the same values at the same form, or neither logs in."""
        login, others = (self.rules.login, self.login_fields), (other.rules.login, other.login_fields)
        return login == others

    def lets(self, https: bool) -> bool:
        """Whether secrets may be sent over such a connection."""
        return https or self.rules.secrets_over_http

    def fields(self, https: bool) -> tuple[tuple[str, str], ...]:
        """Return the header fields of a request."""
        return (*self.plain, *self.secret) if self.lets(https) else self.plain

    def _secret(self, value: str, key: str, *, line: bool = True) -> str:
        where = f'site."{self.rules.name}".{key}'
        found = revealed(value, where, self._environ)
        if not found:
            raise ConfigError(f"{where} is {value}, which is empty")
        if line and not (found.isascii() and found.isprintable()):
            raise ConfigError(f"{where} is {value}, which holds more than one line of visible ASCII")
        return found

    def _certificate(self) -> ClientCertificate:
        rules = self.rules
        where = rules.certificate_key or rules.certificate
        try:
            mode = Path(where).stat().st_mode
        except OSError as error:
            raise ConfigError(f'site."{rules.name}".certificate: {where} cannot be read: {error}') from error
        if mode & _SHARED:
            raise ConfigError(f'site."{rules.name}": others can read the key in {where}: run chmod 600 {where}')
        password = rules.certificate_password and self._secret(rules.certificate_password, "certificate_password")
        return ClientCertificate(rules.certificate, rules.certificate_key, password)
