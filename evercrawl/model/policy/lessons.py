"""Lessons: the journal's visits as columns, fed to policies that learn."""

import contextlib
import math
from collections.abc import Awaitable, Callable
from struct import Struct
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.saved import SavedRows
from evercrawl.change import dates
from evercrawl.change.extent import changed
from evercrawl.model.policy.foresight import Foresight
from evercrawl.model.policy.lessons_file import Kept, kept_of
from evercrawl.model.policy.lessons_log import LessonsLog
from evercrawl.model.policy.place_keys import place_keys
from evercrawl.model.stored.reader import events
from evercrawl.model.stored.remembered import Remembered
from evercrawl.schedule.abilities import Learns, SavesRows
from evercrawl.schedule.pages import KIN_LEVELS, Visits
from evercrawl.store.journal.events import DATE_FALSE, DATE_TRUE, HAS_LINKS, LISTED_TRUE, UNCHANGED, Event, Lost, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.records.evidence import PredictedFresh, unpack_survival
from evercrawl.types import Ints, Outcome

_PAGES, _LINKS, _DATES = "lessons.pages", "lessons.links", "lessons.dates"  # among the policy's arrays
BATCH: Final = 4096  # maximum visits per call
MANY: Final = 256  # visits fed to a policy per call: a call costs about as much as five visits
PATIENCE_S: Final = 1.0  # or as soon as the oldest of them is this old
_HELD: Final = np.dtype([("at", "f8"), ("digest", "u4"), ("words", "u4")])
_HELD_CELLS: Final = Struct("=dII")  # the same for one row: ten times as fast as by name
_LINKED: Final = np.dtype([("size", "u4"), ("links", "u4"), ("targets", "u4")])
_LINKED_CELLS: Final = Struct("=III")
_WORD: Final = 0xFFFFFFFF
_NO_KIN: Final = (0,) * KIN_LEVELS
_DATED: Final = np.dtype([("true", "u4"), ("false", "u4")])
_VISIT: Final = np.dtype(
    [("slot", "u4"), ("site", "u4"), ("at", "f8"), ("interval_s", "f8"), ("read", "?"), ("gone", "?"), ("changed", "?"),
     ("age_s", "f8"), ("received", "f8"), ("size", "f8"), ("links", "i8"), ("relinked", "?"), ("found", "i8"),
     ("folder", "u8"), ("name", "u8"), ("predicted_fresh", "f8"), ("host", "u4"), ("row", "u4"),
     ("fresh_by_time", "f8"), ("digest", "u4"), ("kin", "u8", KIN_LEVELS)]
)  # fmt: skip


class Lessons:
    """Feeds every visit to a policy, in order: first those in the journal, then each as it is remembered.

    A visit's columns are computed from its event, from 16 bytes per visited page about the page's last event (28 if
    the policy `counts_links`), and from how often the site's dates were true or false by then, so they are the same
    live and on replay. Of the content's digest 32 bits are kept.

    Parameters
    ----------
    policy
        The policy that learns.
    partition
        The crawl.
    upto
        Number of events to learn from first; all by default.
    anew
        Whether to replay the journal from its beginning if no saved lessons exist. Otherwise the policy learns
        nothing then.
    patience_s
        Longest delay between a visit and the `flush` that covers it, in seconds.
    rest_s
        Pause of a host after a visit, in seconds.

    Attributes
    ----------
    recalled
        Whether saved lessons were restored; later events are replayed from the journal.
    foresight
        The prospects of unread pages.
    troubles
        Damage found, one sentence each.
    rows
        The arrays saved in blocks.
    """

    def __init__(
        self,
        policy: Learns,
        partition: Partition,
        upto: int | None = None,
        *,
        anew: bool = True,
        patience_s: float = PATIENCE_S,
        rest_s: float = 1.0,
    ) -> None:
        self._policy, self._partition, self._state = policy, partition, partition.state
        self._patience_s, self._told_by = patience_s, math.inf
        self._held, self._linked, self._dates = SavedRows(_HELD), SavedRows(_LINKED), SavedRows(_DATED)
        self._rest_s = rest_s
        self.foresight = Foresight(self._state, rest_s)
        self._rows: dict[int, tuple[Any, ...]] = {}  # by slot, in order: no page occurs twice in one call
        upto = partition.journal.sequence if upto is None else upto
        rows = {_PAGES: self._held, _LINKS: self._linked, _DATES: self._dates} | self.foresight.saved_rows()
        rows |= policy.saved_rows() if isinstance(policy, SavesRows) else {}
        self.rows = tuple(rows.values())
        kept, self.troubles = kept_of(partition, policy, upto, rows, self._rest())
        begun = kept.position if kept is not None and self._recall(kept) else None
        self._log = LessonsLog(partition, policy, rows, kept.placed if kept is not None and begun is not None else ())
        self.recalled = begun is not None
        if anew or begun is not None:
            self._read(upto, begun or 0)

    @property
    def policy(self) -> Learns:
        """The policy that learns."""
        return self._policy

    @property
    def nbytes(self) -> int:
        """Memory use in bytes of the pages' last events and the sites' dates."""
        return self._held.nbytes + self._linked.nbytes + self._dates.nbytes

    async def save(self, settle: Callable[[], Awaitable[None]], offload: Callable[..., Awaitable[Any]]) -> None:
        """Write what the policy has learned so far, unless it has nothing to save.

        Parameters
        ----------
        settle, offload
            As for `LessonsLog.write`.
        """
        if isinstance(self._policy, SavesRows) or self._policy.state():
            await self._log.write(self._told, settle, offload)

    def _told(self) -> dict[str, NDArray[Any]]:
        """Feed all pending visits to the policy, and return the part that is not saved in blocks."""
        self.flush()
        policy, rest = self._policy, self._rest()
        return (
            rest if isinstance(policy, SavesRows) else rest | {name: np.array(a) for name, a in policy.state().items()}
        )

    def _rest(self) -> dict[str, NDArray[Any]]:
        """Return all state outside the rows of the policy and of the prospects."""
        policy = self._policy
        return self.foresight.rest() | (policy.rest() if isinstance(policy, SavesRows) else {})

    def _recall(self, kept: Kept) -> bool:
        """Restore saved lessons; return whether they had the right form."""
        memory, policy = kept.memory, self._policy
        if kept.placed:  # the rows are restored
            self.foresight.resume(memory)
            if isinstance(policy, SavesRows):
                policy.resume_rows(memory)
            else:
                policy.restore(memory)
            return True
        with contextlib.suppress(ValueError, KeyError):
            held, linked, of_sites = (memory.pop(name) for name in (_PAGES, _LINKS, _DATES))
            of_policy = dict(memory)
            Foresight(self._state, self._rest_s).restore(of_policy)  # whether it can be restored
            if (held.dtype, linked.dtype, of_sites.dtype) == (_HELD, _LINKED, _DATED):
                policy.restore(of_policy)
                self.foresight.restore(memory)
                for rows, found in ((self._held, held), (self._linked, linked), (self._dates, of_sites)):
                    rows.restore(found)
                return True
        return False

    def _read(self, upto: int, begun: int) -> None:
        """Learn from the journal's events from an offset on."""
        for _, _, event in events(self._partition, upto, begun):
            self.follow(event)
        self.settle()

    def follow(self, event: Event) -> None:
        """Take in an event of the journal that the state has folded; `settle` feeds it to the policy."""
        if isinstance(event, Visit):
            self.foresight.take(event)
            self._take(event)
        elif isinstance(event, Lost):
            self._forget(event.slot)

    def settle(self) -> None:
        """Feed all pending events to the policy."""
        self.foresight.flush()
        self.flush()

    def learned(self, visit: Remembered) -> None:
        """Take in a visit, which is fed to the policy at the next `flush` or earlier."""
        self.foresight.take(visit.event, visit.reading.exchange.request.url)
        self._take(visit.event)

    def _take(self, event: Visit) -> None:
        if event.slot in self._rows or len(self._rows) == BATCH:
            self.flush()
        self._rows[event.slot] = self._row(event)
        self._told_by = min(self._told_by, event.at + self._patience_s)

    def due(self, now: float) -> bool:
        """Whether it is time to `flush`: many visits are pending, or one of them is old."""
        return now >= self._told_by or len(self._rows) >= MANY

    def flush(self) -> None:
        """Feed the pending visits to the policy."""
        if self._rows:
            rows = np.array(list(self._rows.values()), _VISIT)
            self._rows.clear()
            self._told_by = math.inf
            self._place(rows)
            self._policy.learn(Visits(*(np.ascontiguousarray(rows[name]) for name in _VISIT.names or ())))

    def _row(self, event: Visit) -> tuple[Any, ...]:
        number, flags = self._number(event.slot), event.flags
        cells, place = self._held.upto(number + 1).data, number * _HELD_CELLS.size
        seen, digest, words = _HELD_CELLS.unpack_from(cells, place)
        read = event.outcome in (Outcome.OK, Outcome.DUPLICATE) and event.digest != 0
        same = bool(seen and flags & UNCHANGED)
        said = (event.digest ^ event.digest >> 32) & _WORD
        news = bool(read and seen and not same) and changed(said, event.words, digest, words)
        sent_for = flags & LISTED_TRUE  # by an announcement: then the age of the change says nothing about the rate
        known = news and 0 < event.changed_at < event.at and not sent_for
        site = int(self._state.site_of[event.host])
        known = known or (read and not seen and self._likely(site, event))
        if flags & (DATE_TRUE | DATE_FALSE):
            self._dates.upto(site + 1)["true" if flags & DATE_TRUE else "false"][site] += 1
            self._dates.changed.note(site)
        if read and not same:
            digest, words = said, event.words
        _HELD_CELLS.pack_into(cells, place, event.at if read else seen, digest, words)
        self._held.changed.note(number)
        size, links, relinked = (
            self._links(event, number, seen=bool(seen)) if self._policy.counts_links else (0, 0, False)
        )
        return (
            event.slot, site, event.at, event.at - seen if read and seen else np.nan,
            read, event.outcome == Outcome.GONE, news, event.at - event.changed_at if known else np.nan,
            event.wire_bytes, size, links, relinked,
            len(event.found.urls) if event.found is not None else 0, 0, int(read and not seen),
            _predicted(event), event.host, number,
            unpack_survival(event.fresh_by_time) if event.fresh_by_time else math.nan,
            digest if read else 0, _NO_KIN,
        )  # fmt: skip

    def _number(self, slot: int) -> int:
        """Return the index of a page's record; a page whose content was lost keeps it."""
        number = self._state.record_of(slot)
        return self._state.lost[slot] if number is None else number

    def _links(self, event: Visit, number: int, *, seen: bool) -> tuple[int, int, bool]:
        """Return a page's size, its number of links, and whether the links differ from before."""
        cells, place = self._linked.upto(number + 1).data, number * _LINKED_CELLS.size
        size, links, before = _LINKED_CELLS.unpack_from(cells, place)
        targets, relinked = before, False
        if event.flags & HAS_LINKS:
            links, targets = event.out, crc32(event.targets)
            relinked = seen and targets != before
            size = min(event.text.visible if event.text is not None else event.size_bytes or size, _WORD)
        _LINKED_CELLS.pack_into(cells, place, size, links, targets)
        self._linked.changed.note(number)
        return size, links, relinked

    def _likely(self, site: int, event: Visit) -> bool:
        """Return whether to believe the date of a page's first reading: unless most of its site's are false.

        The date shows which pages change together; where that does not help, the site learns so.
        """
        if not 0 < event.changed_at < event.at - dates.MOMENT_S:
            return False
        good, bad = self._dates.upto(site + 1)[site].item()
        return dates.likely(good, bad)

    def _place(self, rows: NDArray[Any]) -> None:
        """Tell the policy the places of the pages read for the first time."""
        first: Ints = np.flatnonzero(rows["name"] * self._policy.learns_places)
        if len(first):
            state, slots = self._state, rows["slot"][first]
            numbers: list[int] = rows["site"][first].tolist()
            sites = [state.sites[number] for number in numbers]
            folders, names, kin = place_keys(state.urls.get_many(slots.tolist()), sites, state.hasher)
            rows["folder"][first], rows["name"][first], rows["kin"][first] = folders, names, kin

    def _forget(self, slot: int) -> None:
        """Treat a page whose content was lost as unread."""
        self.flush()
        number = self._number(slot)
        for rows, kind in ((self._held, _HELD), (self._linked, _LINKED)):
            if number < len(rows):
                rows.all()[number] = np.zeros((), kind)
                rows.changed.note(number)


def _predicted(event: Visit) -> float:
    """Return the predicted probability that the copy was fresh; nan without a prediction."""
    return PredictedFresh.unpack(event.predicted_fresh).probability if event.predicted_fresh else math.nan
