"""What a page is worth: importance as links say it, or as people show it by what they ask for, are shown and open.

Links say something of every page, people only of some, and of few at first. So what people say *replaces* importance as
far as there is enough of it, and only as far: a part u of all worth stays where importance puts it, the rest goes where
they go. u is the chance that the next page opened is one that was never opened before, for which Good's estimate is the
share of all openings that were a page's only one; it begins at 1, where nothing is known, and never falls below
`FLOOR`, so that a page of which nobody has spoken keeps a tenth of its importance and none is abandoned.

A factor on importance would not do instead: a page with hardly any links that everybody opens would stay worthless.

References
----------
Good (1953). The population frequencies of species and the estimation of population parameters. Wolf, Squillante, Yu,
Sethuraman, Ozsen (2002). Optimal crawling strategies for web search engines. That clicks and retrievals belong into the
weight of a page is what remains of RPUC.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final

import numpy as np

from evercrawl.model.stored.remembered import VisitListener
from evercrawl.model.worth.positions import click_chances
from evercrawl.model.worth.usage_counts import Following, QuestionLearner, UsageCounts
from evercrawl.schedule.pages import Pages
from evercrawl.store.partition import Partition
from evercrawl.types import Floats, Ints, Slots

IMPORTANCE: Final = "importance"
ACCESS: Final = "access"
"""The default: importance, until it is known how the crawl is used."""
WEIGHTS: Final = (IMPORTANCE, ACCESS, "embarrassment", "query_match", "learned", "quality", "site")
FLOOR: Final = 0.1
"""Part of its importance that a page keeps at least."""
SILENT: Final = "nothing is known of how the crawl is used, so pages are worth their importance: see evercrawl usage"
BEGIN: Final = "a weight is told how to learn importance before it is asked"
MEASURELESS: Final = 1e100
"""AOPIC's importance before any cash has moved: cash by next to nothing."""
_SAMPLE: Final = 1 << 16  # pages, evenly spread, from which all importance there is is told
_GROWN: Final = 1.05  # times as many visits and known pages after which that is done again


class Weight(ABC):
    """Says what pages are worth, in the units of importance."""

    @property
    def message(self) -> str:
        """A sentence for whoever watches the crawl begin; "" for none."""
        return ""

    @property
    def speaks(self) -> bool:
        """Whether it may say something else than importance does."""
        return True

    @property
    def alone(self) -> Weight | None:
        """The weight itself, without what else it is multiplied by; None for importance."""
        return self

    @property
    def listener(self) -> VisitListener | None:
        """Who has to hear of each visit; None for nobody."""
        return None

    def begin(self, plain: Callable[[Slots], Pages]) -> None:
        """Be told how to learn the columns of any pages, with importance as it is."""
        return

    @abstractmethod
    def worth(self, slots: Slots, importance: Floats) -> Floats:
        """Return what pages are worth whose importance is as given, shape (n,)."""

    @abstractmethod
    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return what it goes by for a page of that importance, by name."""


def unseen(once: float, all_: float) -> float:
    """Return u, the part of the worth that stays with importance.

    Parameters
    ----------
    once, all_
        Pages that were opened just once, and openings in all.

    Examples
    --------
    >>> unseen(0, 0), unseen(10, 10), unseen(4, 9), unseen(0, 10_000)
    (1.0, 1.0, 0.5, 0.1)
    """
    return max((once + 1.0) / (all_ + 1.0), FLOOR)


class Total:
    """All importance there is, as a sample says; the same for the same state of the crawl.

    Parameters
    ----------
    partition
        The crawl.
    plain
        Slots -> columns.
    """

    def __init__(self, partition: Partition, plain: Callable[[Slots], Pages]) -> None:
        self._state = partition.state
        self._plain = plain
        self._due = self._last = 0.0

    def __call__(self) -> float:
        """Return it, in units of importance."""
        known = self._state.known.count
        seen = known + self._state.visits
        if known and seen >= self._due:
            slots = np.unique(np.linspace(0, known - 1, min(known, _SAMPLE)).astype(np.uint32))
            importance = self._plain(slots).importance
            some = float(importance[importance < MEASURELESS].sum())
            self._due, self._last = _GROWN * seen, some * known / len(slots)
        return self._last


class DemandWeight(Weight):
    """A weight that follows what people do: each names a demand for pages, and u."""

    def __init__(self, partition: Partition, *learners: QuestionLearner) -> None:
        self.partition = partition
        self.counts = UsageCounts(partition.state)
        self._following = Following(partition, self.counts, *learners)
        self._total: Total | None = None
        self._demand: tuple[Floats, float] | None = None

    @property
    def message(self) -> str:
        """Whether nothing is known."""
        return "" if self.counts.questions else SILENT

    def begin(self, plain: Callable[[Slots], Pages]) -> None:
        """Learn from `plain` how much importance there is."""
        self._total = Total(self.partition, plain)

    def renew(self) -> bool:
        """Take in what people did since; return whether there was anything."""
        if not self._following.renew():
            return False
        self._demand = None
        return True

    @property
    def total(self) -> float:
        """All importance there is."""
        assert self._total is not None, BEGIN
        return self._total()

    def worth(self, slots: Slots, importance: Floats) -> Floats:
        """Return u of the importance, and of all importance the share that people's demand gives each page."""
        self.renew()
        if self._demand is None:
            self._demand = self.demand()
        share, stays = self._demand
        if stays >= 1.0:
            return importance
        return stays * importance + (1.0 - stays) * self.total * self.counts.of(share, slots)

    def count(self, column: Ints | Floats, slot: int) -> float:
        """Return what a column of rows of `counts` says of one page."""
        return float(self.counts.of(column, np.array([slot], np.uint32))[0])

    @abstractmethod
    def demand(self) -> tuple[Floats, float]:
        """Return which share of the demand goes to the page of each row of `counts`, shape (rows,), and u."""


class AccessWeight(DemandWeight):
    """How often pages were opened of late; how often they were shown, where nobody told of anything opened.

    An opening far down a list counts more than one at its top, and an old one less than one of now; see `UsageCounts`.
    As long as nobody told of anything, a crawl is what it would be without a weight.
    """

    @property
    def message(self) -> str:
        """Nothing: this is the default."""
        return ""

    @property
    def speaks(self) -> bool:
        """Whether anything is known."""
        self.renew()
        return self.counts.questions > 0 or bool(self.counts.clicked.any())

    def demand(self) -> tuple[Floats, float]:
        """Return shares of the openings."""
        counts = self.counts
        if not counts.clicked.any():
            return _shares(counts.shown)
        lately, opened = counts.opened_lately, counts.clicked_lately
        stays = unseen(float(lately[counts.clicked == 1].sum()), float(lately.sum()))
        return opened / max(float(opened.sum()), 1e-300), stays

    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return how often it was `opened`, or `shown`, whichever counts."""
        clicked = self.counts.clicked
        if clicked.any():
            return {"opened": self.count(clicked, slot)}
        return {"shown": self.count(self.counts.shown, slot)}


class Embarrassment(DemandWeight):
    """How often somebody opens the page from an answer, so that a stale copy would embarrass: w = d sum_j c_j b_j.

    b_j counts how often the page stood at place j of an answer, c_j is the chance that what stands there is opened,
    learned over all pages: so a page counts by where it was shown, not by whether it happened to be opened. All answers
    are one list here, where the paper tells result pages k apart, of which j is a place. d, the chance that the stale
    copy is a wrong answer, is 1: what counts as a change here is another digest of the words.

    References
    ----------
    Wolf, Squillante, Yu, Sethuraman, Ozsen (2002). Optimal crawling strategies for web search engines, section 2.
    """

    def demand(self) -> tuple[Floats, float]:
        """Return shares of the openings that are to be expected."""
        expected = self._expected()
        return expected / max(float(expected.sum()), 1e-300), _shares(self.counts.shown)[1]

    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return how often it was `shown`, and the openings `expected` where it stood."""
        return {
            "shown": self.count(self.counts.shown, slot),
            "expected": self.count(self._expected(), slot),
        }

    def _expected(self) -> Floats:
        shown_at = self.counts.shown_at
        return shown_at @ click_chances(self.counts.clicks_at, shown_at.sum(0, dtype=np.int64))


def _shares(times: Ints) -> tuple[Floats, float]:
    """Return shares of a whole, and which part of the worth stays with importance by it."""
    whole = float(times.sum())
    return times / max(whole, 1.0), unseen(float(np.count_nonzero(times == 1)), whole)
