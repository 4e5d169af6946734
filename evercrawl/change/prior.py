"""The prior of a page's rate of change before its second visit, learned from the other pages of its site.

Pages of a site change alike, so the scale of the prior is learned by site, and shrunk to the crawl's for sites with few
pages. The shape is fixed: 0.4 is heavy-tailed enough for rates that differ a thousandfold within a site.

A site's level is the mean over its pages of E[ln lambda] = psi(a) - ln b, shrunk to the crawl's level. The crawl's
level is a robust mean over sites (`levels`), shrunk to the default. The a and b of the pages include the prior itself.
If they were computed with the site's own estimate, a site whose pages never change (or always do) would drift without
bound. Therefore they are computed with a *reference* that is fixed between two fits, and a page is weighted by the part
of its posterior that is not prior.

References
----------
Robbins (1956). An Empirical Bayes Approach to Statistics. Morris (1983). Parametric Empirical Bayes Inference.
"""

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.change.levels import Levels
from evercrawl.change.special import digamma, digammas
from evercrawl.types import Flags, Floats, Ints

SHAPE: Final = 0.4
"""a0. From 0.2 to 0.5, freshness is within 1.5 points of the best; 1 loses up to 6, because it abandons pages."""
DEFAULT_SCALE_S: Final = 4 * 86_400.0
"""b0 before any observation: a mean rate of one change in ten days, with half of all pages slower than one in 28."""
SITE_PAGES: Final = 2.0
"""Weight of the crawl's level in a site's, in pages: rates differ within sites almost as much as between them."""
CRAWL_SITES: Final = 0.5
"""Weight of the default in the crawl's level, in sites. The default is a guess that may be wrong by a factor of 100,000
(it is unknown whether pages change by the week or by the second), and is outweighed by one site with observations."""
LEAST_SCALE_S: Final = SHAPE * 1.0
"""Mean rate of one change a second: no page that is polled for freshness needs a higher one."""
MOST_SCALE_S: Final = SHAPE * 100 * 365.25 * 86_400.0
"""Mean rate of one change in a hundred years: a site of unchanging pages is not abandoned for ever."""
ROUNDS: Final = 12
"""Maximum number of times that a fit moves its reference to the level just found. Relative to a distant reference,
evidence moves the level by a factor of about 12 only, so this number suffices from any start."""
_ALONE, _SHARED = 1, 2  # kinds of sites; 0 is unknown
SETTLED: Final = 0.01
"""Tolerance in ln lambda: a fit ends when no site moves by more."""


class SitePriors:
    """The priors of all sites, by site number.

    Parameters
    ----------
    count
        Number of sites.
    shared
        Returns whether a site shares one vote on the crawl's level with others; by default, none does. It is called
        when a site has its first observations.

    Attributes
    ----------
    votes
        The votes of the sites on the crawl's level.

    Examples
    --------
    A page of site 0 was not found changed in 40 days; site 1 has no observations, but the crawl has:

    >>> priors = SitePriors(2)
    >>> priors.learn(0, None, (0.0, 40 * 86_400.0))
    >>> (priors.scales_s / 86_400.0).round(1).tolist()
    [16.0, 10.1]
    """

    def __init__(self, count: int = 0, shared: Callable[[int], bool] | None = None) -> None:
        self._level = digamma(SHAPE)  # ln lambda for b = 1 s
        self._elsewhere, self._shares = Levels(), shared
        self._known_level: float | None = None
        self._clear(count)

    def _clear(self, count: int) -> None:
        self._weights, self._references_s = Rows("f8"), Rows("f8")
        self._sums = Rows("f8")  # by site: sum of weighted levels, E[ln lambda] relative to the default's
        self._kinds = Rows("u1")  # by site: whether it shares a vote; 0 until that is known
        self._vote(Levels())
        self.grow(count)

    def grow(self, count: int) -> None:
        """Make room for `count` sites; new sites start at the crawl's level."""
        known = len(self._weights)
        if count > known:
            for column in (self._weights, self._sums, self._kinds):
                column.upto(count)
            self._references_s.upto(count)[known:] = self.crawl_scale_s

    @classmethod
    def unread(cls, count: int, like: "SitePriors | None" = None) -> "SitePriors":
        """Return priors without any observations; the references of sites are set with their first observations.

        Which sites share a vote, and the votes of other partitions, are taken from `like`.
        """
        priors = cls()
        for column in (priors._weights, priors._sums, priors._kinds, priors._references_s):
            column.upto(count)
        if like is not None:
            priors._shares, priors._elsewhere = like._shares, like._elsewhere
            kinds = like._kinds.upto(0)[:count]
            priors._kinds.upto(0)[: len(kinds)] = kinds
        return priors

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        return self._weights.nbytes + self._sums.nbytes + self._kinds.nbytes + self._references_s.nbytes

    def learn(self, site: int, before: tuple[float, float] | None, after: tuple[float, float] | None) -> None:
        """Learn the effect of a visit on a page's evidence.

        Parameters
        ----------
        site
            Number of its site.
        before, after
            Evidence (shape, scale_s) at the last call, None if there was none; and current evidence, None for a page
            that no longer counts.
        """
        weights, sums = self._weights.whole(), self._sums.whole()
        weight, total, reference_s = float(weights[site]), float(sums[site]), float(self._references_s.whole()[site])
        if not reference_s:
            reference_s = self._references_s.whole()[site] = self.scale_s(site)
        shared = self.shares_vote(site)
        self.votes.remove(weight / (weight + SITE_PAGES), total / (weight + SITE_PAGES), shared=shared)
        for sign, evidence in ((-1.0, before), (1.0, after)):
            if evidence is not None:
                share, level = self._page(evidence[0], evidence[1], reference_s)
                weight += sign * share
                total += sign * share * level
        weights[site], sums[site] = weight, total
        self.votes.add(weight / (weight + SITE_PAGES), total / (weight + SITE_PAGES), shared=shared)
        self._known_level = None

    def learn_many(
        self, sites: Ints, before: tuple[Floats, Floats] | None, after: tuple[Floats, Floats] | None
    ) -> None:
        """Learn the effect of visits on the evidence of many pages: as successive calls of `learn`, in any order.

        Parameters
        ----------
        sites
            Number of each page's site, shape (n,).
        before, after
            Evidence (shape, scale_s), each of shape (n,), with nan in place of None; None for nan everywhere.
        """
        weights, sums = self._weights.all(), self._sums.all()
        references_s, touched = self._references_s.all(), np.unique(sites)
        first = touched[references_s[touched] == 0.0]
        references_s[first] = self.scales_at(first)
        shared = self._are_shared(touched)
        before_votes = _pooled(weights[touched], sums[touched], shared)
        for sign, evidence in ((-1.0, before), (1.0, after)):
            if evidence is not None:
                counts = ~np.isnan(evidence[0])
                of = sites[counts]
                shares, levels = _pages(evidence[0][counts], evidence[1][counts], references_s[of])
                np.add.at(weights, of, sign * shares)
                np.add.at(sums, of, sign * shares * levels)
        after_votes = _pooled(weights[touched], sums[touched], shared)
        self._vote(self.votes.plus(after_votes).minus(before_votes))

    def vote_alone(self, site: int) -> None:
        """Give a site a vote of its own from now on, if it shares one."""
        if not self.shares_vote(site):
            return
        weight, total = float(self._weights.whole()[site]), float(self._sums.whole()[site])
        vote = weight / (weight + SITE_PAGES), total / (weight + SITE_PAGES)
        self.votes.remove(*vote, shared=True)
        self.votes.add(*vote, shared=False)
        self._kinds.whole()[site] = _ALONE
        self._known_level = None

    def shares_vote(self, site: int) -> bool:
        """Return whether a site shares a vote."""
        if self._shares is None:
            return False
        kinds = self._kinds.whole()
        if not kinds[site]:
            kinds[site] = _SHARED if self._shares(site) else _ALONE
        return bool(kinds[site] == _SHARED)

    def _are_shared(self, sites: Ints) -> Flags:
        """Return whether each of these sites, which are distinct, shares a vote; shape (n,)."""
        if self._shares is None:
            return np.zeros(len(sites), np.bool_)
        kinds = self._kinds.all()
        for site in sites[kinds[sites] == 0].tolist():
            kinds[site] = _SHARED if self._shares(site) else _ALONE
        shared: Flags = kinds[sites] == _SHARED
        return shared

    def fit(self, sites: Ints, shape: Floats, scale_s: Floats, seen: NDArray[np.bool_], count: int) -> None:
        """Fit the priors to all pages at once, and discard what was learned before.

        Parameters
        ----------
        sites, shape, scale_s
            For each page, the number of its site, and its evidence; shape (n,).
        seen
            Pages that count, shape (n,): those visited at least twice.
        count
            Number of sites.
        """
        kinds = self._kinds
        self._clear(count)
        self._kinds = kinds
        self._kinds.upto(count)
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
        """Set the references of sites without observations to the priors of `basis`.

        Returns the maximum difference, in logarithms, from the references of `basis`.
        """
        some = np.unique(sites)
        some = some[(self._weights.all()[some] == 0.0) & (self._sums.all()[some] == 0.0)]
        scales_s = basis.scales_at(some)
        self._references_s.all()[some] = scales_s
        before_s = basis._references_s.all()[some]
        return float(np.abs(np.log(scales_s / np.where(before_s > 0.0, before_s, scales_s))).max(initial=0.0))

    def become(self, other: "SitePriors") -> None:
        """Copy the state of another object."""
        self._weights, self._sums, self._references_s = other._weights, other._sums, other._references_s
        self._kinds = other._kinds
        self._vote(other.votes)

    def scale_s(self, site: int) -> float:
        """Return the scale of one site's prior."""
        crawl = self._crawl_level
        sums, weights = float(self._sums.whole()[site]), float(self._weights.whole()[site])
        level = (sums + SITE_PAGES * crawl) / (weights + SITE_PAGES)
        return min(max(DEFAULT_SCALE_S * math.exp(-level), LEAST_SCALE_S), MOST_SCALE_S)

    @property
    def elsewhere(self) -> Levels:
        """The `votes` of the sites of other partitions, which count like those of this one.

        Two crawls that exchange their votes have equal priors for sites without observations:

        >>> one, other = SitePriors(1), SitePriors(1)
        >>> one.learn(0, None, (0.0, 40 * 86_400.0))
        >>> other.elsewhere = one.votes
        >>> one.crawl_scale_s == other.crawl_scale_s
        True
        """
        return self._elsewhere

    @elsewhere.setter
    def elsewhere(self, votes: Levels) -> None:
        self._elsewhere, self._known_level = votes, None

    @property
    def _crawl_level(self) -> float:
        if self._known_level is None:
            votes = self.votes if self._elsewhere.empty else self.votes.plus(self._elsewhere)
            self._known_level = votes.mean(CRAWL_SITES)
        return self._known_level

    def _vote(self, votes: Levels) -> None:
        self.votes = votes
        self._known_level = None

    @property
    def crawl_scale_s(self) -> float:
        """The scale of the prior for sites without observations."""
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
        """Return the weight of a page, and its E[ln lambda] relative to the default's."""
        b = reference_s + scale_s
        share = 1.0 - reference_s / b * (SHAPE / (SHAPE + shape))
        return share, digamma(SHAPE + shape) - self._level - math.log(b / DEFAULT_SCALE_S)

    def _set(self, weights: Floats, sums: Floats, references_s: Floats) -> None:
        for column, values in ((self._weights, weights), (self._sums, sums), (self._references_s, references_s)):
            column.restore(values)
        shared, some = np.zeros(len(weights), np.bool_), np.flatnonzero(weights > 0.0)
        shared[some] = self._are_shared(some)
        self._vote(_pooled(weights, sums, shared))


def _pooled(weights: Floats, sums: Floats, shared: Flags) -> Levels:
    """Return the votes of sites on the crawl's level."""
    return Levels.of_many(weights / (weights + SITE_PAGES), sums / (weights + SITE_PAGES), shared)


def _pages(shape: Floats, scale_s: Floats, references_s: Floats) -> tuple[Floats, Floats]:
    """Return the weights of pages, and their E[ln lambda] relative to the default's; all of shape (n,)."""
    b = references_s + scale_s
    shares = 1.0 - references_s / b * (SHAPE / (SHAPE + shape))
    return shares, digammas(SHAPE + shape) - digamma(SHAPE) - np.log(b / DEFAULT_SCALE_S)
