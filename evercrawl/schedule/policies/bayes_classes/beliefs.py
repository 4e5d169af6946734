"""What kind of page each is, of a few kinds with their rates of change: probabilities, learned visit by visit.

A visit that found no change after tau is as probable as e^(-lam tau) in a class of rate lam, one that found a change
as 1 - e^(-lam tau), one whose change was s seconds ago as lam e^(-lam s). What a page's visits say is kept as a
logarithm a class, so that what was believed of it before may be learned from other pages: from those of its site,
drawn towards those of the crawl, drawn towards all classes alike. For that, a page weighs as much as its own visits
have told.
"""

from typing import Any, Final

import numpy as np

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.pages import Visits
from evercrawl.types import Floats, Ints, Slots

_SITE_PAGES: Final = 3.0  # pages of the crawl that count in a site's beliefs
_CRAWL_PAGES: Final = 3.0  # pages of no kind in particular that count in the crawl's
_LEAST: Final = 1e-3  # what remains of a class that no page is of
_FLOOR: Final = -60.0  # of a logarithm: a class so improbable can still come back


class ClassBeliefs:
    """Probabilities of the classes of all pages; a fold over visits.

    Parameters
    ----------
    rates
        Changes a second of each class, shape (k,).
    forget
        What a page's earlier visits count less by, with each that follows.

    Examples
    --------
    Weekly or monthly? A change was found after five days:

    >>> from evercrawl.schedule.pages import Visits
    >>> beliefs, yes, no = ClassBeliefs(np.array([1 / 7, 1 / 30])), np.array([True]), np.array([False])
    >>> page, nothing = np.array([0], np.uint32), np.array([0])
    >>> beliefs.learn(Visits(page, page, np.array([9.0]), np.array([5.0]), yes, no, yes, np.array([np.nan]),
    ...                      np.zeros(1), np.zeros(1), nothing, no, nothing))
    >>> beliefs.alone(page).round(3)
    array([[0.769, 0.231]])
    """

    def __init__(self, rates: Floats, forget: float = 0.0) -> None:
        self.rates, self._kept_share = rates, 1.0 - forget
        k = len(rates)
        self._kept = Rows([("said", "f4", (k,)), ("site", "u4"), ("visits", "u4")])
        self._sites = Rows([("told", "f8", (k,))])
        self._crawl = np.zeros((1, k))

    def learn(self, visits: Visits) -> None:
        """Take in what came of visits."""
        told = visits.take(visits.read & ~np.isnan(visits.interval_s))
        if not len(told):
            return
        rows = self._kept.upto(int(told.slot.max()) + 1)
        before = _telling(rows["said"][told.slot])
        said = self._kept_share * rows["said"][told.slot] + self._logs(told)
        said = np.maximum(said - said.max(1, keepdims=True), _FLOOR)
        rows["said"][told.slot], rows["site"][told.slot] = said, told.site
        rows["visits"][told.slot] += 1
        more = _telling(rows["said"][told.slot]) - before
        np.add.at(self._sites.upto(int(told.site.max()) + 1)["told"], told.site, more)
        np.add.at(self._crawl, np.zeros(len(told), np.int64), more)

    def _logs(self, visits: Visits) -> Floats:
        """Return the logarithm of how probable each finding is in each class, shape (n, k)."""
        interval_s = np.maximum(visits.interval_s, 0.0)[:, None]
        x, dated = interval_s * self.rates, visits.changed & ~np.isnan(visits.age_s)
        age_s = np.where(dated, visits.age_s, 0.0)[:, None]
        changes = np.log(np.maximum(-np.expm1(-x), 1e-300))
        changes = np.where(dated[:, None], np.log(self.rates) - np.clip(age_s, 0.0, interval_s) * self.rates, changes)
        return np.where(visits.changed[:, None], changes, -x)

    def alone(self, slots: Slots) -> Floats:
        """Return the probabilities that each page's own visits give, all classes being alike before; shape (n, k)."""
        return _probabilities(self._kept.take(slots)["said"].astype(np.float64))

    def probabilities(self, slots: Slots, sites: Slots | None = None) -> Floats:
        """Return the probabilities of the classes of each page, shape (n, k).

        Parameters
        ----------
        slots, sites
            Which pages, and the site of each: where it is not given, that of the page's last visit.
        """
        rows: Any = self._kept.take(slots)
        before = np.log(self.expected(rows["site"] if sites is None else sites))
        before[(rows["visits"] == 0) & (sites is None)] = np.log(self._expected_of_crawl())
        return _probabilities(rows["said"] + before)

    def expected(self, sites: Slots | Ints) -> Floats:
        """Return what is believed of the pages of sites before they were visited, shape (n, k)."""
        told = self._sites.take(np.asarray(sites, np.uint32))["told"] + _SITE_PAGES * self._expected_of_crawl()
        return _bounded(told)

    def _expected_of_crawl(self) -> Floats:
        return _bounded(self._crawl + _CRAWL_PAGES / len(self.rates))

    def all(self) -> tuple[Slots, Ints]:
        """Return the slots of all pages that told anything, and their visits that did."""
        visits = self._kept.upto(0)["visits"]
        slots = np.flatnonzero(visits)
        return slots.astype(np.uint32), visits[slots].astype(np.int64)


def _probabilities(logs: Floats) -> Floats:
    weights = np.exp(logs - logs.max(1, keepdims=True))
    return np.asarray(weights / weights.sum(1, keepdims=True))


def _telling(said: Any) -> Floats:
    """Return a page's probabilities times how much it has told: 0 where nothing, 1 where its class is sure."""
    found = _probabilities(said.astype(np.float64))
    unsure = -(found * np.log(np.maximum(found, 1e-300))).sum(1, keepdims=True) / np.log(max(said.shape[1], 2))
    return np.asarray(found * (1.0 - unsure))


def _bounded(told: Floats) -> Floats:
    shares = np.maximum(told / told.sum(1, keepdims=True), _LEAST)
    return np.asarray(shares / shares.sum(1, keepdims=True))
