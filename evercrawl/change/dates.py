"""Trust in the dates of servers, sitemaps and feeds, and the ages of changes that follow from these dates."""

import math
import re
from calendar import monthrange, timegm
from functools import lru_cache
from typing import Final

MOMENT_S: Final = 5.0
"""Distance (s) from the visit within which a date is ignored, as it was generated with the response."""
TRUSTED: Final = 0.8
"""Fraction of good dates, by Laplace's rule of succession, above which a site's dates are trusted: three of three."""
LIKELY: Final = 0.5
"""Fraction of right announcements above which the first one counts as the cause of the change that a visit finds."""
MOST_PRECISION: Final = 0.95
"""Maximum trust in a notice: above it, a single false notice would cause repeated visits."""
_W3C: Final = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)? ?([Zz]|[+-]\d\d:?\d\d)?)?)?)?", re.ASCII
)
_USUAL: Final = re.compile(
    r"[A-Z][a-z]{2}, (\d\d [A-Z][a-z]{2} [12]\d{3}) ([01]\d|2[0-3]):([0-5]\d):([0-5]\d) GMT", re.ASCII
)
_LEAST: Final = (1, 1, 1, 0, 0, 0)  # default year, month, day, hour, minute, second of an incomplete date
_DATE_CHARS: Final = 64  # twice the length of the longest date


def http_date(text: str) -> float | None:
    """Return the instant of an HTTP or e-mail date, in any form of RFC 9110; None for other text.

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
    """Return the first instant of a day in the usual format of dates, which is parsed five times faster."""
    return _date(f"{day} 00:00:00 GMT")


def _date(text: str) -> float | None:
    from email.utils import mktime_tz, parsedate_tz  # imported here, because most starts parse no dates

    try:
        fields = parsedate_tz(text[:_DATE_CHARS])
    except (ValueError, IndexError, OverflowError):
        return None
    if fields is None or not _valid(*fields[:6]):
        return None
    offset_s = fields[9] or 0  # without a zone: universal time, whatever this machine's zone
    return float(mktime_tz((*fields[:9], offset_s))) if abs(offset_s) <= 86_400 else None


def w3c_date(text: str) -> float | None:
    """Return the instant of a date in a sitemap or feed: W3C's forms, or RFC 822's of RSS; None for other text.

    A day, month or year stands for its first instant; a time without a zone is in universal time.

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
    """Return whether a visit is evidence for a site's dates (True), against them (False), or neither (None).

    Parameters
    ----------
    changed
        Whether the visit found a change.
    interval_s
        Time since the previous visit.
    date_at, before_at
        The page's date at this visit and at the previous one; None without a date.
    visited_at
        Instant of this visit, by the server's own clock (its Date header) if available.

    Examples
    --------
    Changed, with a plausible date; changed, with a date before the previous visit; unchanged, with a new date:

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
    """Return whether a site's dates are trusted, given the numbers of visits for and against them.

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
    """Return the time from the change to the visit, if its date is plausible: within the interval.

    Examples
    --------
    >>> age_s(950.0, 1000.0, 100.0), age_s(850.0, 1000.0, 100.0), age_s(1000.0, 1000.0, 100.0)
    (50.0, None, None)
    """
    if date_at is None or not MOMENT_S < visited_at - date_at <= interval_s:
        return None
    return visited_at - date_at


def notice(good: int, bad: int) -> float:
    """Return the weight of a site's notice that a page changed: -ln of the probability that it did not.

    The probability of a change is the mean of a Beta distribution, one half without any evidence.

    Parameters
    ----------
    good, bad
        Number of notices after which the page had changed, and had not.

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
    """Return the offset of a zone from universal time."""
    if zone in "Zz":
        return 0
    ahead_s = 3600 * int(zone[1:3]) + 60 * int(zone[-2:])
    return -ahead_s if zone[0] == "-" else ahead_s
