"""Beliefs about change rates in a polling simulation, learned as in a crawl, for many pages at once."""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.change import SitePriors, announcements, dates, evidence
from evercrawl.change.evidence import Intervals, Refits
from evercrawl.change.prior import DEFAULT_SCALE_S, SHAPE
from evercrawl.types import Floats, Ints

_SURE: Final = 1e12  # the shape of a posterior that stands for a known rate


class PollingBeliefs:
    """Gamma posteriors of the rates of pages, with priors learned per host.

    Parameters
    ----------
    host
        Number of each page's host, shape (n,).
    known_per_s
        The rates, if they are known; None if they are learned.
    forget, cycle_s
        The weight of evidence is multiplied by e^-forget per cycle.
    by_host
        Whether each host has its own prior.

    Attributes
    ----------
    shape, scale_s
        The posterior, shape (n,); written in place.
    cycle_s
        As given.
    """

    def __init__(
        self, host: Ints, known_per_s: Floats | None, *, forget: float, cycle_s: float, by_host: bool = True
    ) -> None:
        n = len(host)
        self._host = host if by_host else np.zeros(n, np.int64)
        self._known = known_per_s
        self._forget, self.cycle_s, self._hosts = forget, cycle_s, int(self._host.max()) + 1
        self._priors = SitePriors(self._hosts)
        self._shape, self._scale_s = np.zeros(n), np.zeros(n)  # the evidence
        self._told = np.full(n, math.nan), np.full(n, math.nan)  # that the priors know of
        self._untold = list["Ints"]()
        self._refits = Refits()
        self.shape, self.scale_s = np.full(n, SHAPE), np.full(n, DEFAULT_SCALE_S)
        self.refresh()

    def refresh(self) -> None:
        """Update the priors from the visits, and the posteriors from the priors, or from known rates that drift."""
        if self._known is None:
            self._tell()
            np.add(self._shape, SHAPE, out=self.shape)
            np.add(self._scale_s, self._priors.scales_s[self._host], out=self.scale_s)
        else:
            self.shape[:] = _SURE
            np.divide(_SURE, self._known, out=self.scale_s)

    def learn(self, rows: Ints, interval_s: Floats, changed: NDArray[np.bool_], seen: Intervals) -> None:
        """Learn from visits to distinct pages that existed at their last visit, `interval_s` ago; `seen`: evidence."""
        if self._known is not None or not len(rows):
            return
        prior = self._prior(rows)
        weight = evidence.kept_many(interval_s, self.cycle_s, self._forget)
        shape, scale_s = evidence.learn_many((self._shape[rows], self._scale_s[rows]), prior, seen, changed, weight)
        self._shape[rows], self._scale_s[rows] = shape, scale_s
        self.shape[rows], self.scale_s[rows] = shape + prior[0], scale_s + prior[1]
        self._untold.append(rows)
        self._refits.intervals += len(rows)

    def _prior(self, rows: Ints) -> tuple[float, Floats]:
        return SHAPE, self._priors.scales_at(self._host[rows])

    def _tell(self) -> None:
        """Pass new evidence to the priors, or refit them to all evidence once there is much more of it."""
        if not self._untold:
            return
        rows = np.unique(np.concatenate(self._untold))
        self._untold.clear()
        before = self._told[0][rows], self._told[1][rows]
        self._told[0][rows], self._told[1][rows] = self._shape[rows], self._scale_s[rows]
        if self._refits.due():
            self._priors.fit(self._host, self._shape, self._scale_s, ~np.isnan(self._told[0]), self._hosts)
        else:
            self._priors.learn_many(self._host[rows], before, (self._shape[rows], self._scale_s[rows]))


class AnnouncementTrust:
    """Trust in announcements of changes per host, and its effect on each page.

    Attributes
    ----------
    neg_log_unchanged
        -ln of the probability that all announcements of a page since its last visit are false, shape (n,).
    """

    def __init__(self, host: Ints) -> None:
        hosts = int(host.max()) + 1
        self._host = host
        self._good, self._bad = np.zeros(hosts), np.zeros(hosts)
        self._recall = announcements.Recall(hosts)
        self._count = np.zeros(len(host))
        self._first_at = np.full(len(host), math.nan)
        self.neg_log_unchanged = np.zeros(len(host))

    def announce(self, count: Ints, now: float) -> None:
        """Record the number of announcements of each page, shape (n,)."""
        self._first_at[(count > 0) & (self._count == 0)] = now
        self._count += count
        self.neg_log_unchanged[:] = (
            self._count * -np.log1p(-np.minimum(self._share(), dates.MOST_PRECISION))[self._host]
        )

    def announced_s(self, rows: Ints, now: float) -> Floats:
        """Return the time since the first announcement of each page after its last visit; nan for none."""
        return now - self._first_at[rows]

    def announced_share(self, rows: Any) -> Floats | None:
        """Return the share of changes that the pages' hosts announce; None if no host ever announced one."""
        return self._recall.of(self._host[rows]) if self._recall.any else None

    def intervals(
        self, rows: Ints, interval_s: Floats, changed: NDArray[np.bool_], age_s: Floats, now: float
    ) -> Intervals:
        """Return the evidence of visits about the time since pages were last there; `age_s` is nan without a date."""
        host, announced_s = self._host[rows], self.announced_s(rows, now)
        likely = self._share()[host] >= dates.LIKELY
        return evidence.intervals(interval_s, changed, age_s, announced_s, self._recall.of(host), likely)

    def learn(
        self, rows: Ints, interval_s: Floats, changed: NDArray[np.bool_], beliefs: PollingBeliefs, now: float
    ) -> None:
        """Learn the precision and the recall of announcements from visits to pages that existed before."""
        host, announced_s = self._host[rows], self.announced_s(rows, now)
        told = ~np.isnan(announced_s)
        tells = told | (self._recall.heard[host] > 0)
        if tells.any():
            until_s = evidence.unannounced_many_s(interval_s, announced_s)[tells]
            past = beliefs.shape[rows[tells]], beliefs.scale_s[rows[tells]], until_s, self._recall.of(host[tells])
            listened, looked = announcements.listening(*past), announcements.looking(*past)
            self._recall.learn(host[tells], told[tells], changed[tells], listened, looked)
        self._good += np.bincount(host[told & changed], minlength=len(self._good))
        self._bad += np.bincount(host[told & ~changed], minlength=len(self._bad))

    def visited(self, rows: Ints) -> None:
        """Discard the announcements of visited pages."""
        self._count[rows] = self.neg_log_unchanged[rows] = 0.0
        self._first_at[rows] = math.nan

    def _share(self) -> Floats:
        """Return the share of correct announcements of each host, shape (hosts,)."""
        return (self._good + 1) / (self._good + self._bad + 2)
