"""Where a crawl's time goes on from when it is opened again, whatever became of the machine's clock meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from evercrawl.errors import ConfigError
from evercrawl.store.table.known import TICKS_PER_S

if TYPE_CHECKING:
    from evercrawl.clock import SteadyClock
    from evercrawl.store.state import State

TOLD_S: Final = 60.0  # a clock that was set right by less is nothing to speak of
REACH_S: Final = 0xFFFFFFFF / TICKS_PER_S
"""How far from its beginning a crawl's records can tell instants apart: eight and a half years."""
_DAY_S: Final = 86_400.0


def go_on(clock: SteadyClock, state: State) -> str:
    """Let a crawl's time go on from its last event; return what people should know of it, "" where nothing is wrong.

    Raises
    ------
    ConfigError
        The clock is so far ahead that no record could hold its instants.
    """
    if clock.now() - state.epoch > REACH_S:
        raise ConfigError(
            f"this machine's clock says {_date(clock.now())} and the crawl began on {_date(state.epoch)}: no crawl "
            f"reaches further than {REACH_S / 365.25 / _DAY_S:.1f} years; set the clock right, or begin another crawl"
        )
    behind_s = clock.go_on_from(state.last_at() + 1.0 / TICKS_PER_S)
    if behind_s < TOLD_S:
        return ""
    return (
        f"this machine's clock is {_length(behind_s)} behind this crawl's last visit; the crawl's time goes on from "
        "that visit, so its dates stay ahead until the clock has caught up"
    )


def _date(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return f"{at:.0f} s since 1970"


def _length(duration_s: float) -> str:
    for unit, size_s in (("days", _DAY_S), ("hours", 3600.0), ("minutes", 60.0)):
        if duration_s >= 2 * size_s:
            return f"{duration_s / size_s:.0f} {unit}"
    return f"{duration_s:.0f} seconds"
