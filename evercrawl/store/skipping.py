"""Journal events on which evercrawl's own code fails; they are skipped, so that the crawl can be opened.

A fault while the crawl runs costs one visit (`quarantine`), because the journal has nothing of it. This module is
about events that are in the journal, and on which the code fails at replay. Of such an event only the URLs that it
made known are folded, because later events count on their slots. The list of skipped events is stored, so that every
reader and every start get the same state; if the list is lost, the next start rebuilds it.
"""

from __future__ import annotations

import contextlib
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import NoRoomError, StoreError
from evercrawl.small_file import LIST_BYTES, small
from evercrawl.store.journal.events import Found, Noted, Obeyed, Visit
from evercrawl.store.quarantine import ERROR_LOG, MOST_LOG_BYTES

if TYPE_CHECKING:
    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.journal.events import Event

__all__ = ["MOST_SKIPPED", "SKIPPED_FILE", "SkippedEvents", "UnfoldedError"]

SKIPPED_FILE: Final = "skipped.json"
MOST_SKIPPED: Final = 100
"""Maximum number of skipped events; if there are more, something else is wrong."""
_TOLD_CHARS: Final = 200


class UnfoldedError(Exception):
    """Our own code failed on the event with the number `number`; memory must be rebuilt without it."""

    def __init__(self, event: Event, number: int) -> None:
        super().__init__(f"event {number} of the journal")
        self.event, self.number = event, number


class SkippedEvents:
    """The skipped events of one journal.

    Parameters
    ----------
    disk
        The crawl's disk.
    writable
        Whether new entries are stored.

    Attributes
    ----------
    why
        Number of an event -> what went wrong.
    """

    def __init__(self, disk: Disk, *, writable: bool) -> None:
        self._disk, self._writable = disk, writable
        self.why: dict[int, str] = {}
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            data = small(disk, SKIPPED_FILE, LIST_BYTES)
            self.why = json_of(data, dict[int, str])

    def reduced(self, event: Event, number: int) -> Event:
        """Return the event to be folded: the event itself, or what remains of a skipped one."""
        if number not in self.why:
            return event
        if isinstance(event, Visit | Found | Obeyed) and event.found is not None and event.found.urls:
            return Found(event.at, event.found)
        return Noted(0.0, {})

    def add(self, failed: UnfoldedError, now: float) -> str:
        """Skip an event from now on; return a sentence about that.

        Raises
        ------
        StoreError
            It was skipped before, or there are too many.
        """
        error = failed.__cause__ or failed
        why = f"{type(error).__name__}: {error}"[:_TOLD_CHARS]
        if failed.number in self.why or len(self.why) >= MOST_SKIPPED:
            raise StoreError(
                f"evercrawl fails on event {failed.number} of the journal ({why}); report this with {ERROR_LOG}, and "
                "open the crawl with the evercrawl that ran it last"
            ) from error
        self.why[failed.number] = why
        if self._writable:
            self._keep(failed, error, now)
        return f"event {failed.number} of the journal is set aside: evercrawl fails on it ({why}); see {ERROR_LOG}"

    def _keep(self, failed: UnfoldedError, error: BaseException, now: float) -> None:
        at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
        trace = "".join(traceback.format_exception(error))
        said: dict[str, object] = {
            "at": at,
            "step": "replaying",
            "urls": [],
            "event": failed.number,
            "traceback": trace,
        }
        line = msgspec.json.encode(said) + b"\n"
        with contextlib.suppress(NoRoomError):  # then the next start finds it again
            self._disk.replace(SKIPPED_FILE, [msgspec.json.encode(self.why)])
            if self._disk.size(ERROR_LOG) + len(line) > MOST_LOG_BYTES:
                self._disk.replace(ERROR_LOG, [])
            self._disk.append(ERROR_LOG, line)
