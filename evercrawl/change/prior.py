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
from array import array
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
_SETTLED: Final = 0.01  # of ln lambda: a fit that moves no site by more is done


class SitePriors:
    """The priors of all sites, by site number.

    Parameters
    ----------
    count
        Sites there are.

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
        self._clear(count)

    def _clear(self, count: int) -> None:
        self._weights = array("d")
        self._sums = array("d")  # of the pages' levels, E[ln lambda] over the default's, each times its weight
        self._references_s = array("d")
        self._heard = 0.0  # over all sites, of weight / (weight + SITE_PAGES)
        self._told = 0.0  # over all sites, of that times the level
        self.grow(count)

    def grow(self, count: int) -> None:
        """Make room for `count` sites; those that are new start at the crawl's level."""
        more = count - len(self._weights)
        if more > 0:
            reference_s = self.crawl_scale_s
            for column, value in ((self._weights, 0.0), (self._sums, 0.0), (self._references_s, reference_s)):
                column.extend(array("d", (value,)) * more)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        columns = self._weights, self._sums, self._references_s
        return sum(len(column) * column.itemsize for column in columns)

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
        weight, total = self._weights[site], self._sums[site]
        self._heard -= weight / (weight + SITE_PAGES)
        self._told -= total / (weight + SITE_PAGES)
        for sign, evidence in ((-1.0, before), (1.0, after)):
            if evidence is not None:
                share, level = self._page(evidence[0], evidence[1], self._references_s[site])
                weight += sign * share
                total += sign * share * level
        self._weights[site], self._sums[site] = weight, total
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
        weights, sums = np.frombuffer(self._weights), np.frombuffer(self._sums)
        references_s, touched = np.frombuffer(self._references_s), np.unique(sites)
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
            if np.abs(np.log(references_s / before_s)).max() < _SETTLED:
                break

    def scale_s(self, site: int) -> float:
        """Return the scale of one site's prior."""
        crawl = self._told / (self._heard + CRAWL_SITES)
        level = (self._sums[site] + SITE_PAGES * crawl) / (self._weights[site] + SITE_PAGES)
        return min(max(DEFAULT_SCALE_S * math.exp(-level), LEAST_SCALE_S), MOST_SCALE_S)

    @property
    def crawl_scale_s(self) -> float:
        """The scale of the prior of a page whose site has shown nothing."""
        level = self._told / (self._heard + CRAWL_SITES)
        return min(max(DEFAULT_SCALE_S * math.exp(-level), LEAST_SCALE_S), MOST_SCALE_S)

    def prior(self, site: int) -> tuple[float, float]:
        """Return one site's prior, (shape, scale_s)."""
        return SHAPE, self.scale_s(site)

    @property
    def scales_s(self) -> Floats:
        """The scales of the priors of all sites, shape (count,)."""
        return self._scales_s(np.array(self._weights), np.array(self._sums))

    def scales_at(self, sites: Ints) -> Floats:
        """Return the scales of the priors of some sites, shape (n,)."""
        return self._scales_s(np.frombuffer(self._weights)[sites], np.frombuffer(self._sums)[sites])

    def _scales_s(self, weights: Floats, sums: Floats) -> Floats:
        crawl = self._told / (self._heard + CRAWL_SITES)
        levels = (sums + SITE_PAGES * crawl) / (weights + SITE_PAGES)
        return np.clip(DEFAULT_SCALE_S * np.exp(-levels), LEAST_SCALE_S, MOST_SCALE_S)

    def _page(self, shape: float, scale_s: float, reference_s: float) -> tuple[float, float]:
        """Return how much a page weighs, and its E[ln lambda] over the default's."""
        b = reference_s + scale_s
        share = 1.0 - reference_s / b * (SHAPE / (SHAPE + shape))
        return share, digamma(SHAPE + shape) - self._level - math.log(b / DEFAULT_SCALE_S)

    def _set(self, weights: Floats, sums: Floats, references_s: Floats) -> None:
        self._weights, self._sums = array("d", weights.tobytes()), array("d", sums.tobytes())
        self._references_s = array("d", references_s.tobytes())
        self._heard, self._told = _pooled(weights, sums)


def _pooled(weights: Floats, sums: Floats) -> tuple[float, float]:
    """Return what sites add to the crawl's level: how much was heard of them, and that times what it told."""
    return float((weights / (weights + SITE_PAGES)).sum()), float((sums / (weights + SITE_PAGES)).sum())


def _pages(shape: Floats, scale_s: Floats, references_s: Floats) -> tuple[Floats, Floats]:
    """Return how much pages weigh, and their E[ln lambda] over the default's; all of shape (n,)."""
    b = references_s + scale_s
    shares = 1.0 - references_s / b * (SHAPE / (SHAPE + shape))
    return shares, digammas(SHAPE + shape) - digamma(SHAPE) - np.log(b / DEFAULT_SCALE_S)
