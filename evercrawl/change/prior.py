"""What is believed of a page before its second visit: what its site's other pages have shown.

Pages of a site change alike, so the scale of the prior is learned site by site, and the site's from the crawl's where
it has few pages. The shape stays: 0.4 is heavy enough for rates that differ a thousandfold within a site.

A site's level is the mean over its pages of E[ln lambda] = psi(a) - ln b, drawn towards the crawl's level, which is
the mean over sites, drawn towards the default. The prior itself is in the a and b of its pages; fed with its own
estimate, a site whose pages never change (or always do) would drift off without end. So the pages are read against
a *reference* that stands still between two fits, and a page weighs only as much as its belief is not prior.

References
----------
Robbins (1956). An Empirical Bayes Approach to Statistics. Morris (1983). Parametric Empirical Bayes Inference.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.change.special import digamma, digammas
from evercrawl.types import Floats, Ints

SHAPE: Final = 0.4
"""a0. From 0.2 to 0.5 freshness is within 1.5 points of the best; 1 loses up to 6, because it gives pages up."""
DEFAULT_SCALE_S: Final = 4 * 86_400.0
"""b0 before anything was seen: a mean rate of one change in ten days, half of all pages slower than one in 28."""
SITE_PAGES: Final = 2.0
"""Pages that the crawl's level counts for in a site's: rates differ within sites not much less than between them."""
CRAWL_SITES: Final = 0.5
"""Sites that the default counts for in the crawl's level: a guess, which may be wrong by a factor of 100,000 (nobody
knows beforehand whether pages change by the week or by the second) and is outweighed by one site that has spoken."""
LEAST_SCALE_S: Final = SHAPE * 1.0
"""Mean rate of one change a second: nothing that is polled for freshness needs more."""
MOST_SCALE_S: Final = SHAPE * 100 * 365.25 * 86_400.0
"""Mean rate of one change in a hundred years: a site of still pages is not given up for ever."""
ROUNDS: Final = 12
"""Times a fit moves its reference to the level just found, at most. Seen from a reference that is far off, evidence
is worth a factor of about 12 only, so this many are enough from wherever it begins."""
SETTLED: Final = 0.01
"""Of ln lambda: a fit that moves no site by more is done."""


class SitePriors:
    """The priors of all sites, by site number.

    Parameters
    ----------
    count
        Sites there are.

    Attributes
    ----------
    elsewhere
        The `sums` of sites that others have read, which count for the crawl's level as these do.

    Examples
    --------
    A page of site 0 was not found changed in 40 days; site 1 has shown nothing, but the crawl has:

    >>> priors = SitePriors(2)
    >>> priors.learn(0, None, (0.0, 40 * 86_400.0))
    >>> (priors.scales_s / 86_400.0).round(1).tolist()
    [16.0, 10.1]
    """

    def __init__(self, count: int = 0) -> None:
        self._level = digamma(SHAPE)  # of ln lambda, where b is 1 s
        self.elsewhere = 0.0, 0.0
        self._clear(count)

    def _clear(self, count: int) -> None:
        self._weights, self._references_s = Rows("f8"), Rows("f8")
        self._sums = Rows("f8")  # of the pages' levels, E[ln lambda] over the default's, each times its weight
        self._heard = 0.0  # over all sites, of weight / (weight + SITE_PAGES)
        self._told = 0.0  # over all sites, of that times the level
        self.grow(count)

    def grow(self, count: int) -> None:
        """Make room for `count` sites; those that are new start at the crawl's level."""
        known = len(self._weights)
        if count > known:
            for column in (self._weights, self._sums):
                column.upto(count)
            self._references_s.upto(count)[known:] = self.crawl_scale_s

    @classmethod
    def unread(cls, count: int) -> "SitePriors":
        """Return priors of which nobody has read anything; what a site is read against is seen when something is."""
        priors = cls()
        for column in (priors._weights, priors._sums, priors._references_s):
            column.upto(count)
        return priors

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._weights.nbytes + self._sums.nbytes + self._references_s.nbytes

    def learn(self, site: int, before: tuple[float, float] | None, after: tuple[float, float] | None) -> None:
        """Take in what a visit did to a page's evidence.

        Parameters
        ----------
        site
            Number of its site.
        before, after
            Evidence (shape, scale_s) as it was taken in last, None where it was not; and as it is now, None for a page
            that is to count no more.
        """
        weights, sums = self._weights.whole(), self._sums.whole()
        weight, total, reference_s = float(weights[site]), float(sums[site]), float(self._references_s.whole()[site])
        if not reference_s:
            reference_s = self._references_s.whole()[site] = self.scale_s(site)
        self._heard -= weight / (weight + SITE_PAGES)
        self._told -= total / (weight + SITE_PAGES)
        for sign, evidence in ((-1.0, before), (1.0, after)):
            if evidence is not None:
                share, level = self._page(evidence[0], evidence[1], reference_s)
                weight += sign * share
                total += sign * share * level
        weights[site], sums[site] = weight, total
        self._heard += weight / (weight + SITE_PAGES)
        self._told += total / (weight + SITE_PAGES)

    def learn_many(
        self, sites: Ints, before: tuple[Floats, Floats] | None, after: tuple[Floats, Floats] | None
    ) -> None:
        """Take in what visits did to the evidence of many pages: as `learn`, one after the other, in any order.

        Parameters
        ----------
        sites
            Number of each page's site, shape (n,).
        before, after
            Evidence (shape, scale_s), each of shape (n,), with nan where `learn` has None; None for nan everywhere.
        """
        weights, sums = self._weights.all(), self._sums.all()
        references_s, touched = self._references_s.all(), np.unique(sites)
        first = touched[references_s[touched] == 0.0]
        references_s[first] = self.scales_at(first)
        heard, told = _pooled(weights[touched], sums[touched])
        for sign, evidence in ((-1.0, before), (1.0, after)):
            if evidence is not None:
                counts = ~np.isnan(evidence[0])
                of = sites[counts]
                shares, levels = _pages(evidence[0][counts], evidence[1][counts], references_s[of])
                np.add.at(weights, of, sign * shares)
                np.add.at(sums, of, sign * shares * levels)
        now_heard, now_told = _pooled(weights[touched], sums[touched])
        self._heard, self._told = self._heard + now_heard - heard, self._told + now_told - told

    def fit(self, sites: Ints, shape: Floats, scale_s: Floats, seen: NDArray[np.bool_], count: int) -> None:
        """Learn from all pages at once, and forget what was learned before.

        Parameters
        ----------
        sites, shape, scale_s
            Of each page, shape (n,): number of its site, and its evidence.
        seen
            Which pages count, shape (n,): those visited twice or more.
        count
            Sites there are.
        """
        self._clear(count)
        sites = sites[seen]
        shape, scale_s = (np.asarray(column[seen], np.float64) for column in (shape, scale_s))
        raised = digammas(SHAPE + shape) - self._level
        references_s = self.scales_s
        for _ in range(ROUNDS if len(sites) else 0):
            reference_s = references_s[sites]
            shares = 1.0 - reference_s / (reference_s + scale_s) * (SHAPE / (SHAPE + shape))
            levels = raised - np.log((reference_s + scale_s) / DEFAULT_SCALE_S)
            weights, sums = (np.bincount(sites, of, count).astype(np.float64) for of in (shares, shares * levels))
            self._set(weights, sums, references_s)
            before_s, references_s = references_s, self.scales_s
            if np.abs(np.log(references_s / before_s)).max() < SETTLED:
                break

    def refer(self, sites: Ints, basis: "SitePriors") -> float:
        """Have the pages of some sites read against what `basis` says of these, unless something was read of them.

        Returns by how much that differs, in the logarithm, at most from what `basis` was read against itself.
        """
        some = np.unique(sites)
        some = some[(self._weights.all()[some] == 0.0) & (self._sums.all()[some] == 0.0)]
        scales_s = basis.scales_at(some)
        self._references_s.all()[some] = scales_s
        before_s = basis._references_s.all()[some]
        return float(np.abs(np.log(scales_s / np.where(before_s > 0.0, before_s, scales_s))).max(initial=0.0))

    def become(self, other: "SitePriors") -> None:
        """Take all that another one learned."""
        self._weights, self._sums, self._references_s = other._weights, other._sums, other._references_s
        self._heard, self._told = other._heard, other._told

    def scale_s(self, site: int) -> float:
        """Return the scale of one site's prior."""
        crawl = self._crawl_level
        sums, weights = float(self._sums.whole()[site]), float(self._weights.whole()[site])
        level = (sums + SITE_PAGES * crawl) / (weights + SITE_PAGES)
        return min(max(DEFAULT_SCALE_S * math.exp(-level), LEAST_SCALE_S), MOST_SCALE_S)

    @property
    def sums(self) -> tuple[float, float]:
        """What these sites add to the crawl's level: how much was heard of them, and that times what it told.

        Two crawls that tell each other theirs believe the same of a site that has shown nothing:

        >>> one, other = SitePriors(1), SitePriors(1)
        >>> one.learn(0, None, (0.0, 40 * 86_400.0))
        >>> other.elsewhere = one.sums
        >>> one.crawl_scale_s == other.crawl_scale_s
        True
        """
        return self._heard, self._told

    @property
    def _crawl_level(self) -> float:
        heard, told = self.elsewhere
        return (self._told + told) / (self._heard + heard + CRAWL_SITES)

    @property
    def crawl_scale_s(self) -> float:
        """The scale of the prior of a page whose site has shown nothing."""
        return min(max(DEFAULT_SCALE_S * math.exp(-self._crawl_level), LEAST_SCALE_S), MOST_SCALE_S)

    def prior(self, site: int) -> tuple[float, float]:
        """Return one site's prior, (shape, scale_s)."""
        return SHAPE, self.scale_s(site)

    @property
    def scales_s(self) -> Floats:
        """The scales of the priors of all sites, shape (count,)."""
        return self._scales_s(self._weights.upto(0), self._sums.upto(0))

    def scales_at(self, sites: Ints) -> Floats:
        """Return the scales of the priors of some sites, shape (n,)."""
        return self._scales_s(self._weights.all()[sites], self._sums.all()[sites])

    def _scales_s(self, weights: Floats, sums: Floats) -> Floats:
        crawl = self._crawl_level
        levels = (sums + SITE_PAGES * crawl) / (weights + SITE_PAGES)
        return np.clip(DEFAULT_SCALE_S * np.exp(-levels), LEAST_SCALE_S, MOST_SCALE_S)

    def _page(self, shape: float, scale_s: float, reference_s: float) -> tuple[float, float]:
        """Return how much a page weighs, and its E[ln lambda] over the default's."""
        b = reference_s + scale_s
        share = 1.0 - reference_s / b * (SHAPE / (SHAPE + shape))
        return share, digamma(SHAPE + shape) - self._level - math.log(b / DEFAULT_SCALE_S)

    def _set(self, weights: Floats, sums: Floats, references_s: Floats) -> None:
        for column, values in ((self._weights, weights), (self._sums, sums), (self._references_s, references_s)):
            column.restore(values)
        self._heard, self._told = _pooled(weights, sums)


def _pooled(weights: Floats, sums: Floats) -> tuple[float, float]:
    """Return what sites add to the crawl's level: how much was heard of them, and that times what it told."""
    return float((weights / (weights + SITE_PAGES)).sum()), float((sums / (weights + SITE_PAGES)).sum())


def _pages(shape: Floats, scale_s: Floats, references_s: Floats) -> tuple[Floats, Floats]:
    """Return how much pages weigh, and their E[ln lambda] over the default's; all of shape (n,)."""
    b = references_s + scale_s
    shares = 1.0 - references_s / b * (SHAPE / (SHAPE + shape))
    return shares, digammas(SHAPE + shape) - digamma(SHAPE) - np.log(b / DEFAULT_SCALE_S)
