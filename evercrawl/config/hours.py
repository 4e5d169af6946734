"""Hours of the day, in UTC, such as 22:00-06:00."""

import math
import re
from dataclasses import dataclass
from typing import Final

DAY_S: Final = 86400.0
_SPAN: Final = re.compile(r"(\d{1,2})(?::(\d{2}))?\s*-\s*(\d{1,2})(?::(\d{2}))?")


@dataclass(frozen=True, slots=True)
class Hours:
    """A span of each day, in UTC; it may go past midnight.

    Attributes
    ----------
    opens_s, closes_s
        Seconds since midnight; if both are equal, the span is the whole day.

    Examples
    --------
    >>> night = Hours.read("22-6:30")
    >>> str(night), night.opens_at(21 * 3600.0) / 3600, night.opens_at(23 * 3600.0) / 3600
    ('22:00-06:30', 22.0, 23.0)
    """

    opens_s: float
    closes_s: float

    @classmethod
    def read(cls, text: str) -> "Hours":
        """Return the span of a text such as 22:00-06:00 or 9-17.

        Raises
        ------
        ValueError
            The text has another form.
        """
        found = _SPAN.fullmatch(text.strip())
        if found is None:
            raise ValueError
        opens, closes = _second(found[1], found[2]), _second(found[3], found[4])
        return cls(opens % DAY_S, closes % DAY_S)

    def __str__(self) -> str:
        """Return the span in the form HH:MM-HH:MM."""
        ends = (divmod(round(second / 60), 60) for second in (self.opens_s, self.closes_s))
        return "-".join(f"{hour:02d}:{minute:02d}" for hour, minute in ends)

    def opens_at(self, now: float) -> float:
        """Return the first instant at or after `now` (s since the epoch) that is within the span."""
        since_s = (now - self.opens_s) % DAY_S  # since the last opening
        if self.opens_s == self.closes_s or since_s < (self.closes_s - self.opens_s) % DAY_S:
            return now
        opens_at = now + (DAY_S - since_s)
        return opens_at if self._holds(opens_at) else math.nextafter(opens_at, math.inf) + 1e-3

    def _holds(self, at: float) -> bool:
        return (at - self.opens_s) % DAY_S < (self.closes_s - self.opens_s) % DAY_S


def _second(hour: str, minute: str | None) -> float:
    second = int(hour) * 3600.0 + int(minute or 0) * 60.0
    if second > DAY_S or int(minute or 0) > 59:
        raise ValueError
    return second
