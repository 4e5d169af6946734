"""Queries for changes, and parsing of the instants in them."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, cast

from evercrawl.config import values
from evercrawl.config.patterns import UrlPattern
from evercrawl.errors import ConfigError

FORM: Final = "a time such as 2h, 7d, today, yesterday, 2026-05-01 or 2026-05-01T12:00:00Z"
PATTERN_CHARS: Final = 1_000


@dataclass(frozen=True, slots=True)
class ChangeQuestion:
    """A query for changes.

    Attributes
    ----------
    since, until
        Seconds since the epoch; only visits that began in [since, until) count.
    after
        Sequence number of the last event known already; only later events count.
    site
        A registrable domain or a host; "" for all.
    pattern
        Regular expression to search for in URLs; "" for all.
    limit
        Maximum number of changes, the most important ones; None for all.
    all
        Whether to include changes in which only times, counters or tokens changed.
    """

    since: float = -math.inf
    until: float = math.inf
    after: int = 0
    site: str = ""
    pattern: str = ""
    limit: int | None = 50
    all: bool = False

    @property
    def expression(self) -> UrlPattern | None:
        """Return the pattern, compiled.

        Raises
        ------
        ConfigError
            It is not a regular expression, or may take unbounded time, which matters because clients of the server
            send patterns.
        """
        if not self.pattern:
            return None
        if len(self.pattern) > PATTERN_CHARS:
            raise ConfigError(f"the pattern has {len(self.pattern)} characters; at most {PATTERN_CHARS} are taken")
        try:
            pattern = UrlPattern(self.pattern)
        except re.error as error:
            raise ConfigError(
                f"{self.pattern!r} is not a regular expression: {error}; try a part of the URL, such as /news/"
            ) from error
        if not pattern.linear:
            raise ConfigError(
                f"{self.pattern!r} uses look-around, back references or the like, which may take unbounded time; "
                "write it without them, or filter the output"
            )
        return pattern


def moment(text: str, now: float, what: str) -> float:
    """Return an instant in seconds since the epoch.

    Parameters
    ----------
    text
        A duration before `now`; `now`, `today`, `yesterday` or a date (midnight UTC); an ISO 8601 instant, in UTC if it
        has no offset.
    what
        Name of the flag, for error messages.

    Raises
    ------
    ConfigError
        The text is none of these.

    Examples
    --------
    >>> moment("2h", 10_000.0, "--since"), moment("yesterday", 200_000.0, "--since")
    (2800.0, 86400.0)
    >>> moment("1970-01-02", 0.0, "--since"), moment("1970-01-01T01:00+01:00", 0.0, "--since")
    (86400.0, 0.0)
    """
    word = text.strip()
    midnight = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = {"today": 0, "yesterday": 1}.get(word.lower())
    if days is not None:
        return (midnight - timedelta(days=days)).timestamp()
    if word.lower() == "now":
        return now
    try:
        return now - cast("float", values.duration().read(word))
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(word)
    except ValueError as error:
        raise ConfigError(f"{what} must be {FORM}, not {text!r}") from error
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
