"""Probabilities of each page's rate class, updated by each visit.

In a class of rate lam, the likelihood of a visit that found no change after tau is e^(-lam tau), of one that found a
change 1 - e^(-lam tau), and of one that found a change dated s seconds ago lam e^(-lam s). The log-likelihoods of a
page's own visits are stored per class, so the page's prior can be learned from other pages: those of its site, shrunk
towards those of the crawl, which are shrunk towards equal classes. In these averages, a page weighs as much as its own
visits determine its class.
"""

from typing import Any, Final

import numpy as np

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.pages import Visits
from evercrawl.types import Floats, Ints, Slots

_SITE_PAGES: Final = 3.0  # weight of the crawl's mean in a site's prior, in pages
_CRAWL_PAGES: Final = 3.0  # weight of equal classes in the crawl's prior, in pages
_LEAST: Final = 1e-3  # minimum prior of a class that has no pages
_FLOOR: Final = -60.0  # minimum log-likelihood, so that a very improbable class can recover


class ClassBeliefs:
    """Class probabilities of all pages; a fold over visits.

    Parameters
    ----------
    rates
        Changes per second of each class, shape (k,).
    forget
        Fraction by which a page's earlier visits count less with each later visit.

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
        """Update the log-likelihoods with the results of visits."""
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
        """Return the log-likelihood of each result in each class, shape (n, k)."""
        interval_s = np.maximum(visits.interval_s, 0.0)[:, None]
        x, dated = interval_s * self.rates, visits.changed & ~np.isnan(visits.age_s)
        age_s = np.where(dated, visits.age_s, 0.0)[:, None]
        changes = np.log(np.maximum(-np.expm1(-x), 1e-300))
        changes = np.where(dated[:, None], np.log(self.rates) - np.clip(age_s, 0.0, interval_s) * self.rates, changes)
        return np.where(visits.changed[:, None], changes, -x)

    def alone(self, slots: Slots) -> Floats:
        """Return the probabilities by each page's own visits, from equal priors; shape (n, k)."""
        return _probabilities(self._kept.take(slots)["said"].astype(np.float64))

    def probabilities(self, slots: Slots, sites: Slots | None = None) -> Floats:
        """Return the class probabilities of each page, shape (n, k).

        Parameters
        ----------
        slots, sites
            The pages, and the site of each; by default, the site known from the page's last visit.
        """
        rows: Any = self._kept.take(slots)
        before = np.log(self.expected(rows["site"] if sites is None else sites))
        before[(rows["visits"] == 0) & (sites is None)] = np.log(self._expected_of_crawl())
        return _probabilities(rows["said"] + before)

    def expected(self, sites: Slots | Ints) -> Floats:
        """Return the prior of unvisited pages of sites, shape (n, k)."""
        told = self._sites.take(np.asarray(sites, np.uint32))["told"] + _SITE_PAGES * self._expected_of_crawl()
        return _bounded(told)

    def _expected_of_crawl(self) -> Floats:
        return _bounded(self._crawl + _CRAWL_PAGES / len(self.rates))

    def all(self) -> tuple[Slots, Ints]:
        """Return the slots of all pages with informative visits, and the number of these visits."""
        visits = self._kept.upto(0)["visits"]
        slots = np.flatnonzero(visits)
        return slots.astype(np.uint32), visits[slots].astype(np.int64)


def _probabilities(logs: Floats) -> Floats:
    weights = np.exp(logs - logs.max(1, keepdims=True))
    return np.asarray(weights / weights.sum(1, keepdims=True))


def _telling(said: Any) -> Floats:
    """Return a page's probabilities times their certainty: 0 if nothing is known, 1 if the class is certain."""
    found = _probabilities(said.astype(np.float64))
    unsure = -(found * np.log(np.maximum(found, 1e-300))).sum(1, keepdims=True) / np.log(max(said.shape[1], 2))
    return np.asarray(found * (1.0 - unsure))


def _bounded(told: Floats) -> Floats:
    shares = np.maximum(told / told.sum(1, keepdims=True), _LEAST)
    return np.asarray(shares / shares.sum(1, keepdims=True))
