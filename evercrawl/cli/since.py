"""Instants as people write them: a date, a word, or how long ago."""

import time
from datetime import datetime, timedelta
from typing import Final

from evercrawl.config.values import duration
from evercrawl.errors import ConfigError

_DAYS: Final = {"today": 0, "yesterday": 1}


def instant_of(text: str, flag: str, now: float | None = None) -> float:
    """Return the instant that was written after `flag`, in seconds since the epoch.

    Parameters
    ----------
    text
        `today` or `yesterday`, the beginning of that day here; an ISO date or instant, here where it has no zone; or
        how long ago, such as 12h or 7d.
    flag
        What it was written after.
    now
        In seconds since the epoch; by default this instant.

    Raises
    ------
    ConfigError
        It is none of these.

    Examples
    --------
    >>> instant_of("1970-01-02T00:00:00Z", "--since"), instant_of("1d", "--since", now=100_000.0)
    (86400.0, 13600.0)
    """
    now = time.time() if now is None else now
    if text in _DAYS:
        day = datetime.fromtimestamp(now).astimezone() - timedelta(days=_DAYS[text])
        return day.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError):
        pass
    try:
        if text[-1:].isalpha():
            return now - float(duration().read(text))  # type: ignore[arg-type]
    except (ValueError, TypeError):
        pass
    form = "a day such as yesterday or 2026-11-20, an instant such as 2026-11-20T12:00Z, or how long ago, such as 12h"
    raise ConfigError(f"{flag} must be {form}, not {text!r}")
