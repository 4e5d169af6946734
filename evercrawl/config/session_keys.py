"""The session keys of a site section: headers, cookies, passwords, tokens, certificates and a login form."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from evercrawl.config import network, values
from evercrawl.config.secrets import REFERENCE
from evercrawl.config.values import ValueKind
from evercrawl.errors import ConfigError

_HEADER: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)")
_FIELD: Final = re.compile(r"([^=\s][^=]*)=(.*)", re.DOTALL)
_SECRET: Final = re.compile(r"authori[sz]ation|cookie|passw|pwd|\bpass\b|token|secret|api-?_?key|credential", re.I)
_OURS: Final = re.compile(
    r"host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|range|user-agent|accept-encoding|"
    r"content-.*|if-.*|proxy-.*|signature.*",
    re.I,
)


def parted(entry: str, sign: str) -> tuple[str, str]:
    """Return the name and the value of an entry of `headers` (`sign` ":") or of `login_fields` ("=").

    >>> parted("X-Key: env:KEY", ":"), parted("user=me=you", "=")
    (('X-Key', 'env:KEY'), ('user', 'me=you'))
    """
    name, _, value = entry.partition(sign)
    return name.strip(), value.strip()


def is_reference(value: str) -> bool:
    """Return whether a value is a reference to a secret rather than the secret itself."""
    return re.fullmatch(REFERENCE, value) is not None


def _header(raw: object) -> str:
    found = _HEADER.fullmatch(raw.strip()) if isinstance(raw, str) else None
    if found is None:
        raise ValueError
    name, value = found.groups()
    if _OURS.fullmatch(name):
        raise ValueError(f"evercrawl sets {name} itself")
    if _SECRET.search(name) and not is_reference(value):
        raise ValueError(f"{name} holds a secret: write {name}: env:NAME, or {name}: file:PATH")
    return f"{name}: {value}"


def _field(raw: object) -> str:
    found = _FIELD.fullmatch(raw) if isinstance(raw, str) else None
    if found is None:
        raise ValueError
    name, value = parted(found[0], "=")
    if _SECRET.search(name) and not is_reference(value):
        raise ValueError(f"{name} holds a secret: write {name}=env:NAME, or {name}=file:PATH")
    return f"{name}={value}"


def _login(raw: object) -> str:
    if not isinstance(raw, str):
        raise ValueError
    value = raw.strip()
    if value:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ValueError
        if not value.isascii() or not value.isprintable() or " " in value:
            raise ValueError
    return value


_REFERENCE: Final = ValueKind("REF", "env:NAME or file:PATH, where the secret is", network.reference().read)
KINDS: Final = {
    "headers": values.each(
        ValueKind("NAME: VALUE", "", _header), 'a list such as ["Accept-Language: de", "X-Key: env:KEY"]'
    ),
    "cookies": values.switch(),
    "user": values.text(),
    "password": _REFERENCE,
    "bearer": _REFERENCE,
    "certificate": network.file(),
    "certificate_key": network.file(),
    "certificate_password": _REFERENCE,
    "login": ValueKind("URL", "the http or https URL of a page with a login form", _login),
    "login_fields": values.each(
        ValueKind("NAME=VALUE", "", _field), 'a list such as ["user=me", "password=env:SITE_PASSWORD"]'
    ),
    "logged_out": network.page_pattern(),
    "secrets_over_http": values.switch(),
}
"""Key of a section -> its kind of value."""


def check(site: str, said: Mapping[str, Any]) -> None:
    """Check that the keys of a section are consistent.

    Parameters
    ----------
    site
        The name of the section.
    said
        Each key of `KINDS` and its value.

    Raises
    ------
    ConfigError
        The keys are inconsistent; the message says which one is missing or superfluous.
    """
    headers = {parted(entry, ":")[0].lower() for entry in said["headers"]}
    login = str(said["login"])
    if bool(said["user"]) != bool(said["password"]):
        raise ConfigError("user and password go together: give both, the password as env:NAME or file:PATH")
    ways = [name for name in ("user", "bearer") if said[name]]
    ways += ["headers (Authorization)"] if "authorization" in headers else []
    if len(ways) > 1:
        raise ConfigError(f"{' and '.join(ways)} both set the Authorization header; give one of them")
    if "cookie" in headers and (said["cookies"] or login):
        raise ConfigError("a Cookie header and kept cookies contradict each other; give one of them")
    if bool(login) != bool(said["login_fields"]):
        raise ConfigError('login and login_fields go together: login_fields = ["user=me", "password=env:NAME"]')
    if login and not _below(urlsplit(login).hostname or "", site):
        raise ConfigError(f"login must be a page of {site} or of a host below it, not {login}")
    if login.startswith("http:") and not said["secrets_over_http"]:
        raise ConfigError(f"login would send {login} a password unencrypted; use https, or secrets_over_http")
    if said["logged_out"] and not login:
        raise ConfigError("logged_out says when to log in again, so it needs login and login_fields")
    if (said["certificate_key"] or said["certificate_password"]) and not said["certificate"]:
        raise ConfigError("certificate_key and certificate_password need certificate")


def _below(host: str, name: str) -> bool:
    return host == name or host.endswith(f".{name}")
