"""Imported visits without content: they teach how often a page changes, but bring no copy of it.

The event of such a visit has the outcome `refused`, because this crawl made no request. The page still has to be
fetched; its rate of change is learned from the history. The event has no digest, so the first copy that the crawl
fetches does not count as a change. Two imported visits are compared by the digests of their source.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np

from evercrawl.arrays.hasher import Hasher
from evercrawl.crawl.importing.captures import PastCapture
from evercrawl.crawl.learn.changes import Changes
from evercrawl.model.stored.reading import Before, Reading
from evercrawl.model.stored.remembered import Leads, Remembered
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.store.journal.events import CHANGED, MEMBER, UNCHANGED, Visit
from evercrawl.types import NO_SLOT, Exchange, Outcome, Request

WHY: Final = "imported: another program visited the page, and the import did not contain its content"
GONE: Final = frozenset({404, 410})
_NOT_MODIFIED: Final = 304
_NO_SLOTS: Final = np.zeros(0, np.uint32)


class Seen(msgspec.Struct, frozen=True):
    """The 64-bit digest of a page's content at its last capture, and the instant of that capture."""

    digest: int
    at: float


class Histories:
    """Turns captures without bodies into visits.

    Parameters
    ----------
    changes
        Learns rates of change.
    hasher
        Hashes under the secret of the crawl.
    """

    def __init__(self, changes: Changes, hasher: Hasher) -> None:
        self._changes, self._hasher = changes, hasher
        self._seen: dict[int, Seen] = {}

    def note(self, slot: int, capture: PastCapture) -> None:
        """Note the digest of a capture that is an event already, to compare the next capture with it."""
        if digest := self._digest(slot, capture):
            self._seen[slot] = Seen(digest, capture.at)

    def of(self, slot: int, host: Host, before: Before, capture: PastCapture) -> Remembered:
        """Return a capture as a visit that is ready to be remembered."""
        gone = capture.status in GONE
        digest, last = self._digest(slot, capture), self._seen.get(slot)
        flags = 0
        if digest and last is not None:
            flags = UNCHANGED if digest == last.digest else CHANGED
            before = msgspec.structs.replace(before, digest=last.digest, outcome=Outcome.OK, seen_at=last.at)
        exchange = Exchange(Request(capture.url), capture.at, status=0)
        reading = Reading(
            exchange, host, slot, before, refusal=WHY, digest=digest, unchanged=bool(flags & UNCHANGED),
            kept=bool(flags & UNCHANGED),
        )  # fmt: skip
        lesson = self._changes.learn(reading, Outcome.GONE if gone else Outcome.OK, flags)
        flags |= lesson.flags | (MEMBER if before.member else 0)
        if digest:
            self._seen[slot] = Seen(digest, capture.at)
        event = Visit(
            slot=slot,
            host=host.number,
            at=capture.at,
            outcome=Outcome.GONE if gone else Outcome.REFUSED,
            status=capture.status,
            flags=flags,
            visits=before.visits + 1,
            changes=before.changes + (1 if flags & CHANGED else 0),
            interval_s=max(capture.at - before.visited_at, 0.0) if before.visited_at is not None else 0.0,
            changed_at=lesson.changed_at if digest else 0.0,
            evidence=lesson.evidence,
            fresh_by_time=lesson.fresh_by_time,
            misses=before.misses + 1 if gone else 0,
            alias=NO_SLOT,
            error="" if gone else WHY,
        )
        return Remembered(reading, event, Leads(_NO_SLOTS), beside=False)

    def _digest(self, slot: int, capture: PastCapture) -> int:
        """Return a 64-bit hash of the source's digest; for a 304 that of the capture before, 0 if there is none."""
        if capture.status == _NOT_MODIFIED and not capture.digest:
            last = self._seen.get(slot)
            return last.digest if last is not None else 0
        if not capture.digest or not (200 <= (capture.status or 200) < 300):
            return 0
        return self._hasher.digest(capture.digest.encode())[0] or 1
