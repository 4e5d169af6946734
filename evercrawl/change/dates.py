"""When a date that a server, a sitemap or a feed gives is to be trusted, and what it then tells."""

import math
import re
from calendar import monthrange, timegm
from functools import lru_cache
from typing import Final

MOMENT_S: Final = 5.0
"""A date so near the visit is that of the answer, written by a program, and says nothing of the page."""
TRUSTED: Final = 0.8
"""Share of good dates, by Laplace's rule of succession, from which a site's dates are believed: three of three."""
LIKELY: Final = 0.5
"""Share of right announcements from which the first of them is taken for the change that a visit then finds."""
MOST_PRECISION: Final = 0.95
"""No notice is believed more than this: beyond it a single false one would send for a page again and again."""
_W3C: Final = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)? ?([Zz]|[+-]\d\d:?\d\d)?)?)?)?", re.ASCII
)
_USUAL: Final = re.compile(
    r"[A-Z][a-z]{2}, (\d\d [A-Z][a-z]{2} [12]\d{3}) ([01]\d|2[0-3]):([0-5]\d):([0-5]\d) GMT", re.ASCII
)
_LEAST: Final = (1, 1, 1, 0, 0, 0)  # year, month, day, hour, minute, second where a date leaves them out
_DATE_CHARS: Final = 64  # the longest date there is has half as many


def http_date(text: str) -> float | None:
    """Return the instant of an HTTP or e-mail date, in any form RFC 9110 names; None for what is no date.

    Examples
    --------
    >>> http_date("Sun, 06 Nov 1994 08:49:37 GMT")
    784111777.0
    >>> http_date("Sunday, 06-Nov-94 08:49:37 GMT"), http_date("Sun Nov  6 08:49:37 1994"), http_date("yesterday")
    (784111777.0, 784111777.0, None)
    """
    usual = _USUAL.fullmatch(text)
    if usual is None:
        return _date(text)
    midnight = _midnight(usual[1])
    return None if midnight is None else midnight + 3600 * int(usual[2]) + 60 * int(usual[3]) + int(usual[4])


@lru_cache(maxsize=4096)
def _midnight(day: str) -> float | None:
    """Return the first instant of a day as nearly all dates write it: they are read in a fifth of the time."""
    return _date(f"{day} 00:00:00 GMT")


def _date(text: str) -> float | None:
    from email.utils import mktime_tz, parsedate_tz  # here, for most starts read no dates

    try:
        fields = parsedate_tz(text[:_DATE_CHARS])
    except (ValueError, IndexError, OverflowError):
        return None
    if fields is None or not _valid(*fields[:6]):
        return None
    offset_s = fields[9] or 0  # without a zone: in universal time, whatever this machine's zone
    return float(mktime_tz((*fields[:9], offset_s))) if abs(offset_s) <= 86_400 else None


def w3c_date(text: str) -> float | None:
    """Return the instant of a date in a sitemap or feed: W3C's forms, or RFC 822's of RSS; None for what is no date.

    A day, month or year stands for its first instant, a time without a zone for universal time.

    Examples
    --------
    >>> w3c_date("1970-01-02"), w3c_date("1970-01-01T01:00:00.5+01:00"), w3c_date("1971")
    (86400.0, 0.5, 31536000.0)
    >>> w3c_date("Sun, 06 Nov 1994 08:49:37 +0000"), w3c_date("1970-13-01")
    (784111777.0, None)
    """
    text = text[:_DATE_CHARS].strip()
    found = _W3C.fullmatch(text)
    if found is None:
        return http_date(text)
    numbers = [int(part) if part else least for part, least in zip(found.groups()[:6], _LEAST, strict=True)]
    if not _valid(*numbers):
        return None
    return timegm((*numbers, 0, 0, 0)) + float(found[7] or 0.0) - _zone_s(found[8] or "Z")


def judge(
    changed: bool, interval_s: float, date_at: float | None, before_at: float | None, visited_at: float
) -> bool | None:
    """Return whether a visit speaks for a site's dates (True), against them (False), or says nothing (None).

    Parameters
    ----------
    changed
        Whether the visit found a change.
    interval_s
        Since the visit before.
    date_at, before_at
        The page's date at this visit and at the one before; None where there was none.
    visited_at
        Instant of this visit, by the server's own clock (its Date) where it tells.

    Examples
    --------
    Changed, and the date says when; changed, yet the date is older than the visit before; not changed, yet it moved:

    >>> judge(True, 100.0, 950.0, 10.0, 1000.0), judge(True, 100.0, 10.0, 10.0, 1000.0)
    (True, False)
    >>> judge(False, 100.0, 950.0, 10.0, 1000.0), judge(False, 100.0, 10.0, 10.0, 1000.0)
    (False, None)
    """
    if date_at is None or before_at is None:
        return None
    if not changed:
        return None if date_at == before_at else False
    if abs(visited_at - date_at) <= MOMENT_S:
        return None
    return age_s(date_at, visited_at, interval_s) is not None


def trusted(good: int, bad: int) -> bool:
    """Return whether a site's dates are to be believed, after so many visits for and against them.

    Examples
    --------
    >>> trusted(2, 0), trusted(3, 0), trusted(3, 1), trusted(7, 1)
    (False, True, False, True)
    """
    return (good + 1) / (good + bad + 2) >= TRUSTED


def likely(good: int, bad: int) -> bool:
    """Return whether a site's announcements are at least as likely to be right as to be false.

    >>> likely(0, 0), likely(2, 3)
    (True, False)
    """
    return (good + 1) / (good + bad + 2) >= LIKELY


def age_s(date_at: float | None, visited_at: float, interval_s: float) -> float | None:
    """Return how long before the visit the change was, where its date can be true: within the interval.

    Examples
    --------
    >>> age_s(950.0, 1000.0, 100.0), age_s(850.0, 1000.0, 100.0), age_s(1000.0, 1000.0, 100.0)
    (50.0, None, None)
    """
    if date_at is None or not MOMENT_S < visited_at - date_at <= interval_s:
        return None
    return visited_at - date_at


def notice(good: int, bad: int) -> float:
    """Return what a site's notice that a page changed is worth: -ln of the probability that it did not.

    The probability that it did is the mean of a Beta distribution, one half before anything is known.

    Parameters
    ----------
    good, bad
        Notices after which the page had changed, and had not.

    Examples
    --------
    >>> round(notice(0, 0), 3), round(notice(8, 0), 3), round(notice(1000, 0), 3)
    (0.693, 2.303, 2.996)
    """
    return -math.log1p(-min((good + 1) / (good + bad + 2), MOST_PRECISION))


def _valid(year: int, month: int, day: int, hour: int, minute: int, second: int) -> bool:
    if not (1 <= year <= 9999 and 1 <= month <= 12):
        return False
    return 1 <= day <= monthrange(year, month)[1] and 0 <= hour < 24 and 0 <= minute < 60 and 0 <= second <= 60


def _zone_s(zone: str) -> int:
    """Return how far a zone is ahead of universal time."""
    if zone in "Zz":
        return 0
    ahead_s = 3600 * int(zone[1:3]) + 60 * int(zone[-2:])
    return -ahead_s if zone[0] == "-" else ahead_s
