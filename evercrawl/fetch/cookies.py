"""Cookies by RFC 6265: the domain that set each, the requests that it is sent with, and its lifetime."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

__all__ = ["Cookie", "CookieJar", "cookie_date"]

MOST_OF_DOMAIN: Final = 180
"""The highest number of cookies of one domain; the one unused for longest makes room."""
MOST: Final = 3_000
"""The highest number of cookies in all."""
MOST_BYTES: Final = 4_096
"""The longest name and value together; an attribute may have a quarter of that. Longer ones are ignored."""
MOST_S: Final = 400 * 86_400.0
"""The longest time for which a cookie is kept, whatever it says."""
_MOST_LINES: Final = 50  # of one answer
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_DELIMITERS: Final = re.compile(r"[\x09\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_TIME: Final = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D.*)?", re.ASCII)
_DAY: Final = re.compile(r"(\d{1,2})(?:\D.*)?", re.ASCII)
_YEAR: Final = re.compile(r"(\d{2,4})(?:\D.*)?", re.ASCII)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class Cookie(msgspec.Struct):
    """One cookie.

    Attributes
    ----------
    name, value
        As they were set.
    domain, path
        The domain and path that it is sent to.
    expires_at
        Time in seconds since the epoch; None if it names none.
    secure, host_only
        Whether it is sent only over https; and only to `domain` itself, not to hosts below it.
    created_at, used_at
        Times in seconds since the epoch.
    """

    name: str
    value: str
    domain: str
    path: str
    expires_at: float | None
    secure: bool
    host_only: bool
    created_at: float
    used_at: float

    def over(self, now: float) -> bool:
        """Whether it has expired."""
        return self.expires_at is not None and self.expires_at <= now

    def __repr__(self) -> str:
        """Describe the cookie without its value."""
        return f"Cookie({self.name!r} of {self.domain}{self.path})"


class CookieJar:
    """Stores the cookies that answers set, and selects those for a request.

    Parameters
    ----------
    registrable
        Host -> its registrable domain; None for a public suffix.
    cookies
        The cookies of an earlier run.

    Attributes
    ----------
    version
        Changes with the cookies.

    Examples
    --------
    >>> jar = CookieJar(lambda host: None if "." not in host else host)
    >>> lines = ["id=7; Path=/; Secure", "x=1; Domain=example", "t=1; Max-Age=0"]
    >>> jar.set_from("a.example", "/docs/", True, lines, 0.0)
    True
    >>> [jar.header("a.example", path, https, 1.0) for path, https in (("/", True), ("/", False))]
    ['id=7', '']

    References
    ----------
    RFC 6265, sections 5.1 to 5.4; the limits and the prefixes of names are those of its successor (6265bis).
    """

    def __init__(self, registrable: Callable[[str], str | None], cookies: Iterable[Cookie] = ()) -> None:
        self._registrable = registrable
        self._of: dict[str, dict[tuple[str, str, bool], Cookie]] = {}  # domain -> (name, path, host only) -> cookie
        self.version = 0
        for cookie in cookies:
            self._of.setdefault(cookie.domain, {})[cookie.name, cookie.path, cookie.host_only] = cookie

    def __iter__(self) -> Iterator[Cookie]:
        return (cookie for of_domain in self._of.values() for cookie in of_domain.values())

    def holds(self, host: str) -> bool:
        """Whether any cookie would be sent to a host."""
        return any(self._matching(host))

    def header(self, host: str, path: str, https: bool, now: float) -> str:
        """Return the value of the Cookie field for a request; "" if it gets none."""
        found = [
            cookie
            for cookie in self._matching(host)
            if not cookie.over(now) and (https or not cookie.secure) and _path_matches(path, cookie.path)
        ]
        found.sort(key=lambda cookie: (-len(cookie.path), cookie.created_at))
        for cookie in found:
            cookie.used_at = now
        return "; ".join(f"{cookie.name}={cookie.value}" if cookie.name else cookie.value for cookie in found)

    def set_from(self, host: str, path: str, https: bool, lines: Iterable[str], now: float) -> bool:
        """Store the cookies in the Set-Cookie fields of an answer; return whether one is new or has another value."""
        changed = False
        for line, _ in zip(lines, range(_MOST_LINES), strict=False):
            cookie = self._read(line, host, path, https, now)
            changed |= cookie is not None and self._keep(cookie, https, now)
        return changed

    def forget(self, wanted: Callable[[str], bool]) -> int:
        """Drop the cookies of domains for which `wanted` is true; return how many there were."""
        gone = [domain for domain in self._of if wanted(domain)]
        dropped = sum(len(self._of.pop(domain)) for domain in gone)
        self.version += bool(dropped)
        return dropped

    def _matching(self, host: str) -> Iterable[Cookie]:
        domain = host
        while domain:
            for cookie in self._of.get(domain, {}).values():
                if domain == host or not cookie.host_only:
                    yield cookie
            domain = "" if _is_address(host) else domain.partition(".")[2]

    def _read(self, line: str, host: str, path: str, https: bool, now: float) -> Cookie | None:
        """Return the cookie of one field; None if it is to be ignored (sections 5.2 and 5.3)."""
        pair, _, rest = line.partition(";")
        name, equals, value = pair.partition("=")
        name, value = (name.strip(" \t"), value.strip(" \t")) if equals else ("", pair.strip(" \t"))
        if not (name or value) or len(name) + len(value) > MOST_BYTES or _CONTROL.search(line):
            return None
        expires_at, max_age_s, domain, at, secure = None, None, "", "", False
        for attribute in rest.split(";"):
            key, _, said = attribute.partition("=")
            key, said = key.strip(" \t").lower(), said.strip(" \t")
            if len(said) > MOST_BYTES // 4:
                continue
            if key == "expires":
                expires_at = cookie_date(said) if cookie_date(said) is not None else expires_at
            elif key == "max-age" and re.fullmatch(r"-?[0-9]+", said):
                max_age_s = float(said[:12])
            elif key == "domain":
                domain = said.removeprefix(".").lower()
            elif key == "path":
                at = said if said.startswith("/") else ""
            elif key == "secure":
                secure = True
        until = now + max_age_s if max_age_s is not None else expires_at
        host_only = not domain or (domain == host and self._registrable(host) is None)
        if domain and not host_only and not self._may_set(host, domain):
            return None
        if (secure and not https) or not _prefix_holds(name, secure, host_only and not domain, at):
            return None
        return Cookie(
            name, value, host if host_only else domain, at or _default_path(path),
            None if until is None else min(until, now + MOST_S), secure, host_only, now, now,
        )  # fmt: skip

    def _may_set(self, host: str, domain: str) -> bool:
        """Whether a host may set cookies for a domain: its own, or one above it that is no public suffix."""
        if _is_address(host):
            return domain == host
        return (host == domain or host.endswith(f".{domain}")) and self._registrable(domain) is not None

    def _keep(self, cookie: Cookie, https: bool, now: float) -> bool:
        of_domain = self._of.setdefault(cookie.domain, {})
        key = (cookie.name, cookie.path, cookie.host_only)
        before = of_domain.get(key)
        if before is not None and before.secure and not https:  # http may not replace a secure cookie
            return False
        if cookie.over(now):
            if before is not None:
                del of_domain[key]
                self.version += 1
            return before is not None
        if before is not None:
            cookie.created_at = before.created_at
        of_domain[key] = cookie
        self._make_room(of_domain, now)
        changed = before is None or before.value != cookie.value
        self.version += changed or (before is not None and before.expires_at != cookie.expires_at)
        return changed

    def _make_room(self, of_domain: dict[tuple[str, str, bool], Cookie], now: float) -> None:
        for key in [key for key, cookie in of_domain.items() if cookie.over(now)]:
            del of_domain[key]
        while len(of_domain) > MOST_OF_DOMAIN:
            del of_domain[min(of_domain, key=lambda key: of_domain[key].used_at)]
        if sum(map(len, self._of.values())) > MOST:
            largest = max(self._of.values(), key=len)
            del largest[min(largest, key=lambda key: largest[key].used_at)]


def cookie_date(text: str) -> float | None:
    """Return the time in an Expires attribute, as section 5.1.1 reads it; None if it is not valid.

    >>> cookie_date("Wed, 09 Jun 2021 10:18:14 GMT"), cookie_date("06-Nov-94 08:49:37"), cookie_date("tomorrow")
    (1623233894.0, 784111777.0, None)
    """
    time = day = month = year = None
    for token in filter(None, _DELIMITERS.split(text)):
        if time is None and (found := _TIME.fullmatch(token)):
            time = tuple(map(int, found.groups()))
        elif day is None and (found := _DAY.fullmatch(token)):
            day = int(found[1])
        elif month is None and token[:3].lower() in _MONTHS:
            month = _MONTHS.index(token[:3].lower()) + 1
        elif year is None and (found := _YEAR.fullmatch(token)):
            year = int(found[1])
    if time is None or day is None or month is None or year is None:
        return None
    year += 1900 if 70 <= year <= 99 else 2000 if 0 <= year <= 69 else 0
    hour, minute, second = time
    if year < 1601 or hour > 23 or minute > 59 or second > 59 or not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    return float(calendar.timegm((year, month, day, hour, minute, second)))


def _default_path(path: str) -> str:
    """Return the folder of a request's path (section 5.1.4)."""
    path = path.partition("?")[0]
    return path[: path.rfind("/")] if path.startswith("/") and path.count("/") > 1 else "/"


def _path_matches(path: str, of_cookie: str) -> bool:
    path = path.partition("?")[0]
    if not path.startswith(of_cookie):
        return False
    return len(path) == len(of_cookie) or of_cookie.endswith("/") or path[len(of_cookie)] == "/"


def _prefix_holds(name: str, secure: bool, of_host: bool, path: str) -> bool:
    """Whether a cookie meets what the prefix of its name requires."""
    if name.lower().startswith("__secure-"):
        return secure
    return not name.lower().startswith("__host-") or (secure and of_host and path == "/")


def _is_address(host: str) -> bool:
    return host.startswith("[") or host.rpartition(".")[2].isdigit()
