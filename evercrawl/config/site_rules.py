"""Rules for single sites: the `[site."example.org"]` sections of crawl.toml."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Final, cast

from evercrawl.config import network, session_keys, values
from evercrawl.config.hours import Hours
from evercrawl.config.sections import see_keys, value_of
from evercrawl.config.values import ValueKind
from evercrawl.errors import ConfigError

MOST: Final = 10_000
"""Maximum number of sections."""
UNSET: Final = -1
"""Value of a number that a section does not set."""


@dataclass(frozen=True, slots=True)
class SiteRules:
    """One section: what holds for a host and all hosts below it, in place of, or beside, what holds for the crawl.

    Attributes
    ----------
    name
        Of the host, such as example.org, which stands for www.example.org too.
    delay_s
        Pause between two visits of one of its hosts, in place of the crawl's; `UNSET` where it names none.
    rate_per_s
        Pages per second of one of its hosts, at most; 0 where it names none.
    hours
        When it may be asked, as `Hours` reads it; "" for always.
    max_depth
        Links between a seed and a page, at most, in place of the crawl's; 0 = unlimited, `UNSET` where it names none.
    include, exclude
        Expressions: the first in place of the crawl's, the second beside them.
    scope
        Which of its hosts belong, in place of the crawl's: those of seeds ("hosts"), of their registrable domains
        ("domains") or all of them ("any"); "" where it names none.
    headers, cookies
        Lines that each request to it has; whether its cookies are kept and sent.
    user, password, bearer
        What the Authorization header says; passwords and tokens by reference.
    certificate, certificate_key, certificate_password
        PEM files of a client certificate and its key, and where the key's password is.
    login, login_fields, logged_out
        Page with a login form, what is filled in, and an expression that is found on pages shown to who is logged out.
    secrets_over_http
        Whether its secrets are sent unencrypted too.

    Raises
    ------
    ConfigError
        When a value is not of its kind.

    Examples
    --------
    >>> SiteRules("Example.org", delay_s="5s", hours="22-6", rate_per_s=0.1).rest_s(1.0)
    10.0
    """

    name: str
    delay_s: float = UNSET
    rate_per_s: float = 0.0
    hours: str = ""
    max_depth: int = UNSET
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    scope: str = ""
    headers: tuple[str, ...] = ()
    cookies: bool = False
    user: str = ""
    password: str = ""
    bearer: str = ""
    certificate: str = ""
    certificate_key: str = ""
    certificate_password: str = ""
    login: str = ""
    login_fields: tuple[str, ...] = ()
    logged_out: str = ""
    secrets_over_http: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", value_of("the name", NAME, self.name))
        for name, kind in KINDS.items():
            raw = getattr(self, name)
            if raw != _DEFAULTS[name]:
                object.__setattr__(self, name, value_of(name, kind, raw, secret=name in session_keys.KINDS))
        session_keys.check(self.name, {name: getattr(self, name) for name in session_keys.KINDS})

    def rest_s(self, usual_s: float) -> float:
        """Return the delay of its hosts between two visits, where `usual_s` is the delay of other hosts."""
        delay_s = self.delay_s if self.delay_s != UNSET else usual_s
        return max(delay_s, 1.0 / self.rate_per_s) if self.rate_per_s else delay_s

    @property
    def keeps_cookies(self) -> bool:
        """Return whether its cookies are kept and sent: if it says so, or has a login."""
        return self.cookies or bool(self.login)

    @property
    def has_session(self) -> bool:
        """Return whether it sets any session key."""
        return bool(self.headers or self.user or self.bearer or self.certificate or self.keeps_cookies)

    def given(self) -> dict[str, object]:
        """Return the keys that it sets, by name."""
        return {name: value for name in KINDS if (value := getattr(self, name)) != _DEFAULTS[name]}


class Sites:
    """The sections of a crawl, by host: if several apply to a host, the one with the longest name counts.

    Examples
    --------
    >>> rules = Sites((SiteRules("example.org", delay_s=5), SiteRules("www.example.org", delay_s=9)))
    >>> [rules.of(host).delay_s for host in ("a.example.org", "a.www.example.org")], rules.of("example.com")
    ([5.0, 9.0], None)
    """

    def __init__(self, sections: Sequence[SiteRules]) -> None:
        self._by_name = {section.name: section for section in sections}

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self._by_name)

    def of(self, host: str) -> SiteRules | None:
        """Return the section of a host; None if no section applies to it."""
        by_name, host = self._by_name, host.removesuffix(".")
        while by_name and host:
            if (found := by_name.get(host)) is not None:
                return found
            host = host.partition(".")[2]
        return None

    def opens_at(self, host: str, now: float) -> float:
        """Return the first instant at or after `now` at which a host may be requested."""
        rules = self.of(host)
        return Hours.read(rules.hours).opens_at(now) if rules is not None and rules.hours else now


def read(raw: object, source: Callable[[str, str], str] = lambda name, key: f'site."{name}"') -> tuple[SiteRules, ...]:
    """Return the sections from TOML or from a program, by name.

    Parameters
    ----------
    raw
        Name -> content of the section; or sections.
    source
        Function of the name of a section and of a key in it, or "", that returns its location, for messages.

    Raises
    ------
    ConfigError
        A section is invalid; the message begins with its location.

    Examples
    --------
    >>> read({"example.org": {"delay": "5s"}})
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: site."example.org": delay is not a key of a site section; did you mean delay_s?
    """
    if isinstance(raw, tuple | list):
        sections = cast("Sequence[object]", raw)
        if not all(isinstance(section, SiteRules) for section in sections):
            raise ConfigError('sites must be sections, each under a line such as [site."example.org"]')
        return tuple(sorted(cast("Sequence[SiteRules]", sections), key=lambda section: section.name))
    if not isinstance(raw, Mapping):
        raise ConfigError(f'{source("", "")} must be sections, each under a line such as [site."example.org"]')
    tables = cast("Mapping[str, object]", raw)
    if len(tables) > MOST:
        raise ConfigError(f"{source('', '')}: {len(tables)} sections are too many; write {MOST} at most")
    made = [_section(name, table, source) for name, table in tables.items()]
    return tuple(sorted(made, key=lambda section: section.name))


def _section(name: str, table: object, source: Callable[[str, str], str]) -> SiteRules:
    if not isinstance(table, dict):
        raise ConfigError(f'{source(name, "")} must be a section, under a line such as [site."example.org"]')
    given = cast("dict[str, Any]", table)
    if any(isinstance(value, dict) for value in given.values()):
        raise ConfigError(f'{source(name, "")}: put the name between quotes, as in [site."{name}.org"]')
    see_keys(given, KINDS, "a site section", partial(source, name))
    at = ""
    try:
        value_of("the name", NAME, name)
        for at, value in given.items():
            value_of(at, KINDS[at], value, secret=at in session_keys.KINDS)
        at = ""
        return SiteRules(name, **given)
    except ConfigError as error:
        raise ConfigError(f"{source(name, at)}: {error}") from error


def _name(raw: object) -> str:
    names = network.sites().read([raw])
    if not isinstance(names, tuple) or len(names) != 1 or "*" in names[0]:
        raise ValueError
    return names[0] if names[0].isascii() else names[0].encode("idna").decode()


def _hours(raw: object) -> str:
    if not isinstance(raw, str):
        raise ValueError
    return str(Hours.read(raw)) if raw.strip() else ""


NAME: Final = ValueKind("SITE", "the name of a host, such as example.org", _name)
KINDS: Final = {
    "delay_s": values.duration(),
    "rate_per_s": values.number(0.0),
    "hours": ValueKind("HOURS", "hours of the day in UTC, such as 22:00-06:00", _hours),
    "max_depth": values.whole(),
    "include": network.patterns(),
    "exclude": network.patterns(),
    "scope": values.choice("hosts", "domains", "any"),
    **session_keys.KINDS,
}
_DEFAULTS: Final = {field.name: field.default for field in fields(SiteRules)}
assert ["name", *KINDS] == list(_DEFAULTS)
