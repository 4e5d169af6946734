"""Reports of visits in partitions, for the log that the process that runs the crawl writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from evercrawl.cluster.wire import Frame, PartReport, VisitLogged
from evercrawl.model.stored.visit_line import is_logged, visit_fields

if TYPE_CHECKING:
    from evercrawl.model.stored.remembered import Remembered

NONE: Final = "none"
FAILED: Final = "failed"
ALL: Final = "all"


class VisitLog(Protocol):
    """The log of a run; see `evercrawl.cli.watching.run_log.RunLog`.

    Attributes
    ----------
    every
        Whether successful visits are written too.
    """

    every: bool

    def learned_afar(self, number: int, machine: str, at: float, fields: Mapping[str, Any]) -> None:
        """Write a visit of a partition."""
        ...


class VisitReports:
    """Reports the visits of one partition to the process that writes the log; see `VisitListener`.

    Parameters
    ----------
    every
        Whether successful visits are reported too.
    write
        Sends a frame.
    crowded
        Whether the connection has a long backlog: then visits are counted, but not reported.
    """

    def __init__(self, every: bool, write: Callable[[Frame], None], crowded: Callable[[], bool]) -> None:
        self._every, self._write, self._crowded = every, write, crowded
        self._dropped = 0

    def learned(self, visit: Remembered) -> None:
        """Report a visit."""
        if not is_logged(visit.event, every=self._every):
            return
        if self._crowded():
            self._dropped += 1
            return
        if self._dropped:
            lost, self._dropped = self._dropped, 0
            self._write(PartReport(message=f"{lost:,} visits are missing in the log: it is written too slowly"))
        self._write(VisitLogged(visit.event.at, msgspec.msgpack.encode(visit_fields(visit))))


def logged(log: VisitLog | None) -> str:
    """Return which visits a partition reports for a log."""
    if log is None:
        return NONE
    return ALL if log.every else FAILED
