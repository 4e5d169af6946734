"""What policies that learn are told of visits: the journal's events, as columns."""

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
from evercrawl.model.policy.places import places
from evercrawl.model.stored.reader import events
from evercrawl.model.stored.remembered import Remembered
from evercrawl.schedule.abilities import Learns, SavesRows
from evercrawl.schedule.pages import Visits
from evercrawl.store.journal.events import DATE_FALSE, DATE_TRUE, HAS_LINKS, LISTED_TRUE, UNCHANGED, Event, Lost, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.records.evidence import PredictedFresh, unpack_survival
from evercrawl.types import Ints, Outcome

_PAGES, _LINKS, _DATES = "lessons.pages", "lessons.links", "lessons.dates"  # among the policy's arrays
BATCH: Final = 4096  # visits a call, at most
MANY: Final = 256  # of which a policy is told at once: a call costs as much as five visits or so do
PATIENCE_S: Final = 1.0  # or as soon as one of them was so long ago
_HELD: Final = np.dtype([("at", "f8"), ("digest", "u4"), ("words", "u4")])
_HELD_CELLS: Final = Struct("=dII")  # the same, for one row: ten times as quick as by name
_LINKED: Final = np.dtype([("size", "u4"), ("links", "u4"), ("targets", "u4")])
_LINKED_CELLS: Final = Struct("=III")
_WORD: Final = 0xFFFFFFFF
_DATED: Final = np.dtype([("true", "u4"), ("false", "u4")])
_VISIT: Final = np.dtype(
    [("slot", "u4"), ("site", "u4"), ("at", "f8"), ("interval_s", "f8"), ("read", "?"), ("gone", "?"), ("changed", "?"),
     ("age_s", "f8"), ("received", "f8"), ("size", "f8"), ("links", "i8"), ("relinked", "?"), ("found", "i8"),
     ("folder", "u8"), ("name", "u8"), ("predicted_fresh", "f8"), ("host", "u4"), ("row", "u4"),
     ("fresh_by_time", "f8"), ("digest", "u4")]
)  # fmt: skip


class Lessons:
    """Tells a policy of every visit, in order: those in the journal first, then each as it is remembered.

    What a visit says is worked out from its event, 16 bytes a visited page of what the page's last event said (28 where
    the policy `counts_links`), and how often the dates of its site were seen to be true or false by then, so it is the
    same when the visit is made and when it is read again. Of the digest of the content 32 bits are kept.

    Parameters
    ----------
    policy
        Is told.
    partition
        The crawl.
    upto
        How many events the policy is told of first; all there are, where nothing is said.
    anew
        Whether the journal is read from its beginning where nothing was kept of what the policy had learned. Otherwise
        it is told of nothing then.
    patience_s
        How long after a visit at the latest it is time to `flush`.
    rest_s
        How long hosts rest after a visit.

    Attributes
    ----------
    recalled
        Whether something had been kept; what came since is read from the journal.
    foresight
        What unread pages turned out to be.
    troubles
        What was damaged, a sentence each.
    rows
        All that is saved block by block.
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
        self._rows: dict[int, tuple[Any, ...]] = {}  # by slot, in order: no page is there twice in one call
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
        """Bytes of memory that take what pages said last, and the dates of sites."""
        return self._held.nbytes + self._linked.nbytes + self._dates.nbytes

    async def save(self, settle: Callable[[], Awaitable[None]], offload: Callable[..., Awaitable[Any]]) -> None:
        """Write what the policy has learned so far, unless it has nothing that would be kept.

        Parameters
        ----------
        settle, offload
            As of `LessonsLog.write`.
        """
        if isinstance(self._policy, SavesRows) or self._policy.state():
            await self._log.write(self._told, settle, offload)

    def _told(self) -> dict[str, NDArray[Any]]:
        """Tell the policy of all visits so far, and return what is saved as a whole, as it is now."""
        self.flush()
        policy, rest = self._policy, self._rest()
        return (
            rest if isinstance(policy, SavesRows) else rest | {name: np.array(a) for name, a in policy.state().items()}
        )

    def _rest(self) -> dict[str, NDArray[Any]]:
        """Return what is no row of a policy that saves rows, and of what is expected of unread pages."""
        policy = self._policy
        return self.foresight.rest() | (policy.rest() if isinstance(policy, SavesRows) else {})

    def _recall(self, kept: Kept) -> bool:
        """Take up what was kept; return whether it was of the right kind."""
        memory, policy = kept.memory, self._policy
        if kept.placed:  # the rows are what they were
            self.foresight.resume(memory)
            if isinstance(policy, SavesRows):
                policy.resume_rows(memory)
            else:
                policy.restore(memory)
            return True
        with contextlib.suppress(ValueError, KeyError):
            held, linked, of_sites = (memory.pop(name) for name in (_PAGES, _LINKS, _DATES))
            of_policy = dict(memory)
            Foresight(self._state, self._rest_s).restore(of_policy)  # whether it can be taken up
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
        """Take note of an event of the journal that the state has taken in; `settle` tells of it."""
        if isinstance(event, Visit):
            self.foresight.take(event)
            self._take(event)
        elif isinstance(event, Lost):
            self._forget(event.slot)

    def settle(self) -> None:
        """Tell the policy of all that was taken note of."""
        self.foresight.flush()
        self.flush()

    def learned(self, visit: Remembered) -> None:
        """Take note of a visit, which the policy is told of at the next `flush`, or before."""
        self.foresight.take(visit.event, visit.reading.exchange.request.url)
        self._take(visit.event)

    def _take(self, event: Visit) -> None:
        if event.slot in self._rows or len(self._rows) == BATCH:
            self.flush()
        self._rows[event.slot] = self._row(event)
        self._told_by = min(self._told_by, event.at + self._patience_s)

    def due(self, now: float) -> bool:
        """Whether it is time to `flush`: there are many visits, or one of them was a while ago."""
        return now >= self._told_by or len(self._rows) >= MANY

    def flush(self) -> None:
        """Tell the policy of the visits that it was not told of yet."""
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
        sent_for = flags & LISTED_TRUE  # by an announcement: how old the change is then tells of no rate
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
            digest if read else 0,
        )  # fmt: skip

    def _number(self, slot: int) -> int:
        """Return the number of a page's record; one whose content was lost keeps it."""
        number = self._state.record_of(slot)
        return self._state.lost[slot] if number is None else number

    def _links(self, event: Visit, number: int, *, seen: bool) -> tuple[int, int, bool]:
        """Return how large a page is, to how many others it links, and whether these are others than before."""
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
        """Tell whether the date of a page that was never read before is believed: unless most of its site's are false.

        What it tells is how pages belong together, and a site on which that is of no use learns so.
        """
        if not 0 < event.changed_at < event.at - dates.MOMENT_S:
            return False
        good, bad = self._dates.upto(site + 1)[site].item()
        return dates.likely(good, bad)

    def _place(self, rows: NDArray[Any]) -> None:
        """Say where the pages are that were read for the first time."""
        first: Ints = np.flatnonzero(rows["name"] * self._policy.learns_places)
        if len(first):
            state, slots = self._state, rows["slot"][first]
            numbers: list[int] = rows["site"][first].tolist()
            sites = [state.sites[number] for number in numbers]
            folders, names = places(state.urls.get_many(slots.tolist()), sites, state.hasher)
            rows["folder"][first], rows["name"][first] = folders, names

    def _forget(self, slot: int) -> None:
        """Take a page for one that was never read: its content was lost."""
        self.flush()
        number = self._number(slot)
        for rows, kind in ((self._held, _HELD), (self._linked, _LINKED)):
            if number < len(rows):
                rows.all()[number] = np.zeros((), kind)
                rows.changed.note(number)


def _predicted(event: Visit) -> float:
    """Return how likely the copy was said to be fresh; nan where nothing was said."""
    return PredictedFresh.unpack(event.predicted_fresh).probability if event.predicted_fresh else math.nan
