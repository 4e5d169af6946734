"""Parsing of dates as other programs write them."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Final

_DIGITS: Final = re.compile(r"\d{14}(?:\d{3})?")
_NUMBER: Final = re.compile(r"\d{9,10}(?:\.\d+)?|\d{13}")
_JAVA: Final = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d\d):(\d\d):(\d\d) (\S+) (\d{4})")
_MONTHS: Final = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_ZONES: Final = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "BST": 60, "WEST": 60, "CET": 60, "CEST": 120, "EET": 120, "EEST": 180,
    "MSK": 180, "IST": 330, "JST": 540, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360,
    "PST": -480, "PDT": -420,
}  # fmt: skip
_OFFSET: Final = re.compile(r"(?:GMT|UTC)?([+-])(\d\d):?(\d\d)")


def instant(text: str) -> float:
    """Return a date as seconds since the epoch; nan if the text is no date.

    Formats: ISO 8601 (in UTC if no zone is named), 14 or 17 digits as archives write them, seconds or milliseconds
    since the epoch, and the dates of mail, HTTP and Java.

    Examples
    --------
    >>> instant("1970-01-02"), instant("19700102000000"), instant("Fri Jan 02 01:00:00 CET 1970"), instant("soon")
    (86400.0, 86400.0, 86400.0, nan)
    >>> instant("Fri, 02 Jan 1970 00:00:00 GMT"), instant("1709294400"), instant("19700102000000250")
    (86400.0, 1709294400.0, 86400.25)
    """
    text = text.strip()
    try:
        if _DIGITS.fullmatch(text):
            return _of_digits(text)
        if _NUMBER.fullmatch(text):
            return float(text) / (1000.0 if len(text) == 13 and "." not in text else 1.0)
        if (found := _JAVA.fullmatch(text)) is not None:
            return _of_java(found)
        if text[:4].isdigit():
            return _utc(datetime.fromisoformat(text.replace("/", "-")))
        return _utc(parsedate_to_datetime(text)) if text else math.nan
    except (ValueError, OverflowError, IndexError, TypeError):
        return math.nan


def _utc(moment: datetime) -> float:
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _of_digits(text: str) -> float:
    moment = datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return moment.timestamp() + (int(text[14:]) / 1000.0 if len(text) > 14 else 0.0)


def _of_java(found: re.Match[str]) -> float:
    month, day, hour, minute, second, zone, year = found.groups()
    minutes = _ZONES.get(zone, 0)
    if (offset := _OFFSET.fullmatch(zone)) is not None:
        minutes = (int(offset[2]) * 60 + int(offset[3])) * (-1 if offset[1] == "-" else 1)
    zoned = timezone(timedelta(minutes=minutes))
    at = datetime(int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second), tzinfo=zoned)
    return at.timestamp()
