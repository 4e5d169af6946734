"""How often each page was shown and opened, as reported: a fold over the usage log."""

from collections.abc import Iterable
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import grown
from evercrawl.model.worth.positions import PLACES, corrections
from evercrawl.model.worth.usage import USAGE_FILE, Question, Tail
from evercrawl.schedule.pages import USE_HALF_LIFE_S
from evercrawl.store.partition import Partition
from evercrawl.store.state import State
from evercrawl.types import Floats, Ints, Slots

_UNPLACED, _SHOWN = PLACES, PLACES + 1  # decaying columns, after those of the places
_ANEW: Final = 60.0  # half-lives after which sums are rescaled
_GROWN: Final = 1.01  # growth of known pages after which unknown URLs are looked up again


class UsageCounts:
    """Counts for all pages named by queries, known to the crawl or not; about 300 bytes each.

    The "lately" counts decay with a half-life of `USE_HALF_LIFE_S`, measured by the newest query's time. So nothing
    decays while there are no queries.

    Parameters
    ----------
    state
        The state, which maps pages to slots.

    Attributes
    ----------
    questions
        Number of queries.
    clicks_at
        Openings at each place, over all pages, shape (PLACES,).
    strangers
        Number of queries and openings that clients without the server's token reported.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.questions = self.strangers = 0
        self._row_of: dict[int, int] = {}
        self._sorted: tuple[Slots, Ints] = np.zeros(0, np.uint32), np.zeros(0, np.int64)
        self._looked = self._look_at = 0  # rows at the last look-up of slots, and known pages at which to repeat it
        self._clicked: Ints = np.zeros(0, np.int64)
        self._shown_at: NDArray[np.uint32] = np.zeros((0, PLACES), np.uint32)
        self._lately: NDArray[np.float32] = np.zeros((0, PLACES + 2), np.float32)
        self._strange: NDArray[np.float32] = np.zeros((0, PLACES + 2), np.float32)  # of these, strangers' openings
        self._began_at = self._last_at = -np.inf  # times of what counts 1 in `_lately`, and of the newest query
        self.clicks_at: Ints = np.zeros(PLACES, np.int64)

    def learn(self, questions: Iterable[Question]) -> None:
        """Count queries; their order does not matter."""
        shown, places, opened, clicked_at = list[int](), list[int](), list[int](), list[int]()
        late_rows, late_columns, late_at, late_strange = list[int](), list[int](), list[float](), list[bool]()
        for question in questions:
            self.questions += not question.follows
            self.strangers += question.stranger
            row_at: dict[int, int] = {}
            for place, url in enumerate(question.shown, max(question.first, 0)):
                row_at.setdefault(self._row(url), min(place, PLACES - 1))  # shown twice: the higher place counts
            late_rows += row_at.keys()
            late_columns += [_SHOWN] * len(row_at)
            shown += row_at.keys()
            places += row_at.values()
            rows = dict.fromkeys(map(self._row, question.clicked))
            opened += rows
            for url, place in zip(question.clicked, question.places, strict=False):
                row_at.setdefault(self._row(url), min(max(place, 0), PLACES - 1))
            clicked_at += [row_at[row] for row in rows if row in row_at]
            late_rows += rows
            late_columns += [row_at.get(row, _UNPLACED) for row in rows]
            late_strange += [False] * (len(late_rows) - len(rows) - len(late_at)) + [question.stranger] * len(rows)
            late_at += [question.at] * (len(late_rows) - len(late_at))
        count = len(self._row_of)
        self._clicked, self._shown_at = grown(self._clicked, count), grown(self._shown_at, count)
        self._lately = grown(self._lately, count)
        weights, strange = self._weights(np.array(late_at)), np.array(late_strange, bool)
        if strange.any() or len(self._strange):
            self._strange = grown(self._strange, count)
            at = np.array(late_rows)[strange], np.array(late_columns)[strange]
            np.add.at(self._strange, at, weights[strange])
        np.add.at(self._lately, (late_rows, late_columns), weights)
        np.add.at(self._shown_at, (shown, places), 1)
        np.add.at(self._clicked, opened, 1)
        np.add.at(self.clicks_at, clicked_at, 1)

    @property
    def clicked(self) -> Ints:
        """How often each row's page was opened, shape (rows,)."""
        return self._clicked[: len(self._row_of)]

    @property
    def opened_lately(self) -> Floats:
        """How often each row's page was opened recently, shape (rows,)."""
        return self._of_late(np.arange(PLACES + 2) != _SHOWN)

    @property
    def clicked_lately(self) -> Floats:
        """The same, corrected to openings at the first place, shape (rows,); see `corrections`."""
        return self._of_late(self._times())

    @property
    def strange_lately(self) -> Floats:
        """The part of `clicked_lately` that strangers reported, shape (rows,)."""
        if not len(self._strange):
            return np.zeros(len(self._row_of))
        return self._of_late(self._times(), grown(self._strange, len(self._row_of)))

    @property
    def shown_lately(self) -> Floats:
        """Number of recent result lists that showed each row's page, shape (rows,)."""
        return self._of_late(np.arange(PLACES + 2) == _SHOWN)

    @property
    def shown(self) -> Ints:
        """How often each row's page was shown, shape (rows,)."""
        times: Ints = self.shown_at.sum(1, dtype=np.int64)
        return times

    @property
    def shown_at(self) -> NDArray[np.uint32]:
        """How often each row's page was shown at each place, shape (rows, PLACES)."""
        return self._shown_at[: len(self._row_of)]

    def row(self, url: str) -> int:
        """Return the row of a normalised URL, known to the crawl or not; -1 if no query names it."""
        return self._row_of.get(self._state.hasher.key(url), -1)

    def rows(self, slots: Slots) -> Ints:
        """Return the rows of pages, shape (n,); -1 for those that no query names.

        A newly known page may also be -1 until the crawl knows a hundredth more pages.
        """
        known, order = self._by_slot()
        if not len(known):
            return np.full(len(slots), -1)
        at = np.minimum(np.searchsorted(known, slots), len(known) - 1)
        return np.where(known[at] == slots, order[at], -1)

    def of(self, column: Ints | Floats, slots: Slots) -> Floats:
        """Return a column of rows by page, shape (n,); 0 for pages that no query names."""
        rows = self.rows(slots)
        if not len(column):
            return np.zeros(len(slots))
        return np.where(rows >= 0, column[np.maximum(rows, 0)], 0).astype(np.float64)

    def slots(self) -> Slots:
        """Return the slots of the known pages that queries name, ascending."""
        return self._by_slot()[0]

    def _by_slot(self) -> tuple[Slots, Ints]:
        """Return the slots of rows, ascending, and the rows."""
        if len(self._row_of) != self._looked or self._state.known.count >= self._look_at:
            named = np.fromiter(self._row_of, np.uint64, len(self._row_of))
            slots = self._state.table.find(named)
            rows = np.flatnonzero(slots < self._state.known.count)
            order = rows[np.argsort(slots[rows])]
            self._sorted = slots[order], order
            self._looked, self._look_at = len(named), int(self._state.known.count * _GROWN) + 1
        return self._sorted

    def _times(self) -> Floats:
        """Return the weights of openings by column."""
        times = np.zeros(PLACES + 2)
        times[:PLACES] = corrections(self.clicks_at, self.shown_at.sum(0, dtype=np.int64))
        times[_UNPLACED] = 1.0
        return times

    def _of_late(self, times: Floats | NDArray[np.bool_], columns: NDArray[np.float32] | None = None) -> Floats:
        """Return a weighted sum of columns, of `_lately` by default, as of the newest query, shape (rows,)."""
        columns = self._lately if columns is None else columns
        part = 2.0 ** (-(self._last_at - self._began_at) / USE_HALF_LIFE_S) if len(self._row_of) else 0.0
        found: Floats = columns[: len(self._row_of)] @ times.astype(np.float64) * part
        return found

    def _weights(self, at: Floats) -> Floats:
        """Return the weight in `_lately` of events at these instants, shape (n,)."""
        if not len(at):
            return at
        self._last_at = max(self._last_at, float(at.max()))
        if self._last_at - self._began_at > _ANEW * USE_HALF_LIFE_S:
            part = 2.0 ** max((self._began_at - self._last_at) / USE_HALF_LIFE_S, -1000.0)
            self._lately *= part
            self._strange *= part
            self._began_at = self._last_at
        return np.exp2((at - self._began_at) / USE_HALF_LIFE_S)

    def _row(self, url: str) -> int:
        name = self._state.hasher.key(url)
        row = self._row_of.get(name)
        if row is None:
            row = self._row_of[name] = len(self._row_of)
        return row


class QuestionLearner(Protocol):
    """Learns from queries."""

    def learn(self, questions: Iterable[Question]) -> None:
        """Take in queries; their order does not matter."""
        ...

    def forget(self) -> None:
        """Start over."""
        ...


class Following:
    """Keeps counts, and other learners from queries, up to date with a crawl's usage log.

    Parameters
    ----------
    partition
        The crawl.
    learners
        The learners.
    """

    def __init__(self, partition: Partition, *learners: QuestionLearner) -> None:
        self._tail = Tail(partition.directory / USAGE_FILE)
        self._learners = learners
        while self.renew():
            pass

    def renew(self) -> bool:
        """Read new queries, some thousand at most; return whether there were any.

        It costs almost nothing without new ones. The rest follows with the next call.
        """
        if not self._tail.more():
            return False
        before = self._tail.size
        anew, questions = self._tail.read()
        for learner in self._learners:
            if anew:
                learner.forget()
            learner.learn(questions)
        return anew or self._tail.size != before


class UsageColumns:
    """The columns `retrieved` and `clicked` of `Pages`."""

    def __init__(self, partition: Partition, *, clicks: bool) -> None:
        self._counts = UsageCounts(partition.state)
        self._following = Following(partition, self._counts)
        self._clicks = clicks

    def learned(self, event: object, held: object) -> None:
        """Do nothing: visits are not usage."""

    def found(self, found: object) -> None:
        """Do nothing: pages are known by their keys."""

    def of(self, slots: Slots) -> Floats:
        """Return the number of recent result lists that showed each page, or of its openings, shape (n,).

        Openings are corrected for the place at which the page was shown.
        """
        self._following.renew()
        counts = self._counts
        return counts.of(counts.clicked_lately if self._clicks else counts.shown_lately, slots)
