"""How often each page was shown and opened, as far as people told: a fold over the file of questions."""

from collections.abc import Iterable
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import grown
from evercrawl.model.worth.usage import USAGE_FILE, Question, Tail
from evercrawl.store.partition import Partition
from evercrawl.store.state import State
from evercrawl.types import Floats, Ints, Slots

PLACES: Final = 20
"""Places of a list that are told apart; what stands further down counts as the last of them."""
_GROWN: Final = 1.01  # times as many known pages after which those are looked for that were not known


class UsageCounts:
    """Counts by page, for all pages that questions name, known to the crawl or not; about 200 bytes for each of these.

    Parameters
    ----------
    state
        Says which page has which slot.

    Attributes
    ----------
    questions
        How many there were.
    clicks_at
        How often what stood at each place was opened, over all pages, shape (PLACES,).
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.questions = 0
        self._row_of: dict[int, int] = {}
        self._sorted: tuple[Slots, Ints] = np.zeros(0, np.uint32), np.zeros(0, np.int64)
        self._looked = self._look_at = 0  # rows when slots were looked up last, and known pages at which to do it again
        self._clicked: Ints = np.zeros(0, np.int64)
        self._shown_at: NDArray[np.uint32] = np.zeros((0, PLACES), np.uint32)
        self.clicks_at: Ints = np.zeros(PLACES, np.int64)

    def learn(self, questions: Iterable[Question]) -> None:
        """Count what questions tell; their order does not matter."""
        shown, places, opened, clicked_at = list[int](), list[int](), list[int](), list[int]()
        for question in questions:
            self.questions += not question.follows
            row_at: dict[int, int] = {}
            for place, url in enumerate(question.shown, max(question.first, 0)):
                row_at.setdefault(self._row(url), min(place, PLACES - 1))  # shown twice: the better place counts
            shown += row_at.keys()
            places += row_at.values()
            rows = dict.fromkeys(map(self._row, question.clicked))
            opened += rows
            for url, place in zip(question.clicked, question.places, strict=False):
                row_at.setdefault(self._row(url), min(max(place, 0), PLACES - 1))
            clicked_at += [row_at[row] for row in rows if row in row_at]
        count = len(self._row_of)
        self._clicked, self._shown_at = grown(self._clicked, count), grown(self._shown_at, count)
        np.add.at(self._shown_at, (shown, places), 1)
        np.add.at(self._clicked, opened, 1)
        np.add.at(self.clicks_at, clicked_at, 1)

    @property
    def clicked(self) -> Ints:
        """How often each row's page was opened, shape (rows,)."""
        return self._clicked[: len(self._row_of)]

    @property
    def shown(self) -> Ints:
        """How often each row's page was shown, shape (rows,)."""
        times: Ints = self.shown_at.sum(1, dtype=np.int64)
        return times

    @property
    def shown_at(self) -> NDArray[np.uint32]:
        """How often each row's page stood at each place, shape (rows, PLACES)."""
        return self._shown_at[: len(self._row_of)]

    def rows(self, slots: Slots) -> Ints:
        """Return the rows of pages, shape (n,); -1 for those that no question names.

        Of a page that became known just now this may be so for a while: until the crawl knows a hundredth more.
        """
        known, order = self._by_slot()
        if not len(known):
            return np.full(len(slots), -1)
        at = np.minimum(np.searchsorted(known, slots), len(known) - 1)
        return np.where(known[at] == slots, order[at], -1)

    def of(self, column: Ints | Floats, slots: Slots) -> Floats:
        """Return what a column of rows says of pages, shape (n,); 0 of those that no question names."""
        rows = self.rows(slots)
        if not len(column):
            return np.zeros(len(slots))
        return np.where(rows >= 0, column[np.maximum(rows, 0)], 0).astype(np.float64)

    def slots(self) -> Slots:
        """Return the slots of those pages that questions name and the crawl knows, ascending."""
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

    def _row(self, url: str) -> int:
        name = self._state.hasher.key(url)
        row = self._row_of.get(name)
        if row is None:
            row = self._row_of[name] = len(self._row_of)
        return row


class QuestionLearner(Protocol):
    """Learns from questions."""

    def learn(self, questions: Iterable[Question]) -> None:
        """Take note of some; their order does not matter."""
        ...

    def forget(self) -> None:
        """Begin anew."""
        ...


class Following:
    """Keeps counts, and whatever else learns from questions, up with the file of a crawl.

    Parameters
    ----------
    partition
        The crawl.
    learners
        Who is told of questions.
    """

    def __init__(self, partition: Partition, *learners: QuestionLearner) -> None:
        self._tail = Tail(partition.directory / USAGE_FILE)
        self._learners = learners
        while self.renew():
            pass

    def renew(self) -> bool:
        """Take in what is new, some thousand questions at most; return whether there was anything.

        It costs next to nothing where there is not. What is left comes with the next call.
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
        """Take note of nothing: visits are not what people do."""

    def found(self, found: object) -> None:
        """Take note of nothing: pages are known by their keys."""

    def of(self, slots: Slots) -> Floats:
        """Return in how many answers each page was shown, or how often it was opened, shape (n,)."""
        self._following.renew()
        counts = self._counts
        return counts.of(counts.clicked if self._clicks else counts.shown, slots)
