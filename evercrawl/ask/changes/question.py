"""What is asked about changes, and the instants that people write."""

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
    """Which changes are asked for.

    Attributes
    ----------
    since, until
        Seconds since the epoch; visits that began in [since, until) count.
    after
        Sequence of the last event that is known already; later ones count.
    site
        A registrable domain or a host; "" for all.
    pattern
        Regular expression that is looked for in URLs; "" for all.
    limit
        The most important ones that are wanted; None for all.
    all
        Whether changes of times, counters and tokens alone are wanted too.
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
            It is no regular expression, or may take time without bound: who reads the server's answers may send it.
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
                f"{self.pattern!r} uses look-around, back references or the like, which take time without bound; "
                "write it without them, or filter what is printed"
            )
        return pattern


def moment(text: str, now: float, what: str) -> float:
    """Return an instant in seconds since the epoch.

    Parameters
    ----------
    text
        A duration before `now`; `now`, `today`, `yesterday` or a date (in UTC, from midnight on); an ISO 8601 instant,
        in UTC where it names no offset.
    what
        The flag, for messages.

    Raises
    ------
    ConfigError
        It is none of these.

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
