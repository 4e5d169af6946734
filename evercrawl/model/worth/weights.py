"""Weights: the worth of a page as importance by links, or by people's queries, results and openings.

Links say something about every page, usage only about some, and at first about few. So usage *replaces* importance
only to the extent that there is enough of it: a part u of all worth is distributed by importance, the rest by usage.
u is the chance that the next page opened was never opened before; Good's estimate of it is the share of all openings
that were a page's only one. It begins at 1, without any usage, and never falls below `FLOOR`, so that an unused page
keeps a tenth of its importance and none is abandoned.

A factor on importance would not do: a page with hardly any links that everybody opens would stay worthless.

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
_SAMPLE: Final = 1 << 16  # pages, evenly spread, from which total importance is estimated
_GROWN: Final = 1.05  # growth of visits and known pages after which that is repeated


class Weight(ABC):
    """The worth of pages, in units of importance."""

    @property
    def message(self) -> str:
        """A sentence to show when the crawl begins; "" for none."""
        return ""

    @property
    def speaks(self) -> bool:
        """Whether it may differ from importance."""
        return True

    @property
    def alone(self) -> Weight | None:
        """The weight itself, without further factors; None for importance."""
        return self

    @property
    def listener(self) -> VisitListener | None:
        """The listener to visits; None without one."""
        return None

    def begin(self, plain: Callable[[Slots], Pages]) -> None:
        """Receive the function that returns the columns of any pages, with importance as it is."""
        return

    @abstractmethod
    def worth(self, slots: Slots, importance: Floats) -> Floats:
        """Return the worth of pages of the given importance, shape (n,)."""

    @abstractmethod
    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return the evidence used for a page of that importance, by name."""


def unseen(once: float, all_: float) -> float:
    """Return u, the part of the worth that stays with importance.

    Parameters
    ----------
    once, all_
        Pages opened exactly once, and openings in all.

    Examples
    --------
    >>> unseen(0, 0), unseen(10, 10), unseen(4, 9), unseen(0, 10_000)
    (1.0, 1.0, 0.5, 0.1)
    """
    return max((once + 1.0) / (all_ + 1.0), FLOOR)


class Total:
    """Total importance, estimated from a sample; the same for the same state of the crawl.

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
        """Return the total, in units of importance."""
        known = self._state.known.count
        seen = known + self._state.visits
        if known and seen >= self._due:
            slots = np.unique(np.linspace(0, known - 1, min(known, _SAMPLE)).astype(np.uint32))
            importance = self._plain(slots).importance
            some = float(importance[importance < MEASURELESS].sum())
            self._due, self._last = _GROWN * seen, some * known / len(slots)
        return self._last


class DemandWeight(Weight):
    """A weight by usage: subclasses define a demand for pages, and u."""

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
        """Learn total importance from `plain`."""
        self._total = Total(self.partition, plain)

    def renew(self) -> bool:
        """Take in new usage; return whether there was any."""
        if not self._following.renew():
            return False
        self._demand = None
        return True

    @property
    def total(self) -> float:
        """Total importance."""
        assert self._total is not None, BEGIN
        return self._total()

    def worth(self, slots: Slots, importance: Floats) -> Floats:
        """Return u times importance, plus the page's share of demand times total importance."""
        self.renew()
        if self._demand is None:
            self._demand = self.demand()
        share, stays = self._demand
        if stays >= 1.0:
            return importance
        return stays * importance + (1.0 - stays) * self.total * self.counts.of(share, slots)

    def count(self, column: Ints | Floats, slot: int) -> float:
        """Return the value of a column of `counts` for one page."""
        return float(self.counts.of(column, np.array([slot], np.uint32))[0])

    @abstractmethod
    def demand(self) -> tuple[Floats, float]:
        """Return the share of demand of each row of `counts`, shape (rows,), and u."""


STRANGERS_TIMES: Final = 8.0
"""The highest worth that strangers' openings give a page, as a multiple of its importance."""
STRANGERS_LEAVE: Final = 0.5
"""The part of the worth that rests on strangers' openings and stays with importance."""


class AccessWeight(DemandWeight):
    """Recent openings of pages; recent showings if no openings were reported.

    An opening far down a list counts more than one at its top, and an old one less than a new one; see `UsageCounts`.
    Without any reported usage, a crawl behaves as without a weight.

    Strangers, who use a public search without the server's token, are weighed apart: of a page's openings by them the
    square root counts, at least half of all worth that rests on them stays with importance, and they raise the worth
    of a page by at most `STRANGERS_TIMES` its importance.
    """

    def worth(self, slots: Slots, importance: Floats) -> Floats:
        """Return u times importance, plus the page's share of demand times total importance, bounded for strangers."""
        worth = super().worth(slots, importance)
        if not self.counts.strangers or self._demand is None or self._demand[1] >= 1.0:
            return worth
        theirs = (1.0 - self._demand[1]) * self.total * self.counts.of(self._theirs, slots)
        return worth + np.minimum(theirs, STRANGERS_TIMES * importance)

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
        if counts.strangers:
            return self._apart()
        if not counts.clicked.any():
            return _shares(counts.shown)
        lately, opened = counts.opened_lately, counts.clicked_lately
        stays = unseen(float(lately[counts.clicked == 1].sum()), float(lately.sum()))
        return opened / max(float(opened.sum()), 1e-300), stays

    def _apart(self) -> tuple[Floats, float]:
        """Return shares of the openings but those of strangers, whose shares are kept in `_theirs`, and u."""
        counts = self.counts
        if not counts.clicked.any():  # what strangers were shown is not counted apart
            shares, stays = _shares(counts.shown)
            self._theirs = shares
            return np.zeros(len(shares)), max(stays, STRANGERS_LEAVE)
        strange = counts.strange_lately
        own, theirs = np.maximum(counts.clicked_lately - strange, 0.0), np.sqrt(strange)
        theirs = np.minimum(theirs, strange)
        opened = own + theirs
        whole = max(float(opened.sum()), 1e-300)
        stays = unseen(float(opened[counts.clicked == 1].sum()), float(opened.sum()))
        self._theirs = theirs / whole
        return own / whole, max(stays, STRANGERS_LEAVE * float(theirs.sum()) / whole)

    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return how often it was `opened`, or `shown`, whichever counts."""
        clicked = self.counts.clicked
        if clicked.any():
            return {"opened": self.count(clicked, slot)}
        return {"shown": self.count(self.counts.shown, slot)}


class Embarrassment(DemandWeight):
    """Expected openings from results, where a stale copy would embarrass: w = d sum_j c_j b_j.

    b_j counts how often the page was shown at place j of a result list, and c_j is the chance that a page there is
    opened, learned over all pages: so a page counts by where it was shown, not by whether it happened to be opened.
    All results are one list here, while the paper distinguishes result pages k with places j on each. d, the chance
    that the stale copy is a wrong answer, is 1: a change here means another digest of the words.

    References
    ----------
    Wolf, Squillante, Yu, Sethuraman, Ozsen (2002). Optimal crawling strategies for web search engines, section 2.
    """

    def demand(self) -> tuple[Floats, float]:
        """Return shares of the expected openings."""
        expected = self._expected()
        return expected / max(float(expected.sum()), 1e-300), _shares(self.counts.shown)[1]

    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return how often it was `shown`, and the openings `expected` at those places."""
        return {
            "shown": self.count(self.counts.shown, slot),
            "expected": self.count(self._expected(), slot),
        }

    def _expected(self) -> Floats:
        shown_at = self.counts.shown_at
        return shown_at @ click_chances(self.counts.clicks_at, shown_at.sum(0, dtype=np.int64))


def _shares(times: Ints) -> tuple[Floats, float]:
    """Return shares of a total, and the part of worth that stays with importance."""
    whole = float(times.sum())
    return times / max(whole, 1.0), unseen(float(np.count_nonzero(times == 1)), whole)
