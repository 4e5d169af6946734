"""Sampling by site: the number of pages to probe per site, and the sites that receive the rest of the budget.

The pages of a site change together. Therefore a few pages of each site, its *probes*, are visited first; their results
show where the other visits find the most changes. With few probes the wrong sites are chosen; with many, no visits are
left for the right ones. Here a site has N pages, the budget is the fraction r of all pages, and the share of changed
pages is distributed over sites as in `Shares`: its density f, the threshold rho_r exceeded by the fraction r of the
sites, the mean share of those, and that of all sites.

References
----------
Cho, Ntoulas (2002). Effective Change Detection Using Sampling. Meng, Wang, Yan (2006), equation (17), whose denominator
must hold the mean above the threshold, not the threshold; even then the result is a half to a sixth below the optimum
of its own model. The first-order optimum is ours.
"""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.schedule.formulas.site_shares import Shares
from evercrawl.types import Floats, Ints

_LEAST: Final = 1e-12  # minimum difference of two means: below it, all sites are alike and probes cannot separate them
_FEW: Final = 64.0  # site size in pages below which `exact_sizes` treats each size separately
_APART: Final = 4 / 3  # ratio of the sizes that are tried first,
_BETWEEN: Final = 12  # and number of sizes tried between the two neighbours of the best one
_TINY: Final = 1e-9


def printed_size(pages: ArrayLike, part: float, shares: Shares) -> Floats:
    """Return the probes per site, s = sqrt(N r f(rho_r) / (6 (mean above rho_r - mean))), unrounded, by (17).

    Examples
    --------
    >>> from evercrawl.schedule.formulas.site_shares import Shares
    >>> printed_size(1000, 0.1, Shares(1.0, 1.0)).round(4)
    np.float64(6.0858)
    """
    above = max(shares.mean_above(part) - shares.mean, _LEAST)
    return _bounded(pages, part, part * shares.density(shares.threshold(part)) / (6 * above))


def best_size(pages: ArrayLike, part: float, shares: Shares) -> Floats:
    """Return the probes per site, s = sqrt(N f(rho_r) rho_r (1 - rho_r) / (2 (mean above - mean))), unrounded.

    s probes put a site on the wrong side of the threshold at a loss of N f(rho_r) rho_r (1 - rho_r) / (2 s) changes,
    and cost s (mean above - mean): this s minimises the sum.

    Parameters
    ----------
    pages
        N, number of pages of each site, of any shape.
    part
        r, the budget as a fraction of all pages, 0 < r < 1.
    shares
        Distribution of the share of changed pages over sites.

    Returns
    -------
    Floats
        Shape as `pages`; at least 1, or the budget per site if that is less, and at most the budget per site.

    Examples
    --------
    >>> from evercrawl.schedule.formulas.site_shares import Shares
    >>> best_size([1000, 250], 0.1, Shares(1.0, 1.0)).round(9)
    array([10.,  5.])
    """
    at = shares.threshold(part)
    above = max(shares.mean_above(part) - shares.mean, _LEAST)
    return _bounded(pages, part, shares.density(at) * at * (1 - at) / (2 * above))


def _bounded(pages: ArrayLike, part: float, per_page: float) -> Floats:
    """Return the root of N times a number, limited to the budget of a site."""
    pages = np.asarray(pages, np.float64)
    most: Floats = part * pages
    return np.clip(np.sqrt(pages * per_page), np.minimum(1.0, most), most)


def changes_found(size: int, pages: int, part: float, shares: Shares) -> float:
    """Return the expected number of changed pages found per site, with `size` probes each and then the greedy split.

    The number of changed probes is Beta-binomial. The remaining visits, r N - s per site, go to the sites with the most
    changed probes, N - s pages on each.

    Examples
    --------
    Ten probes find 5. The 90 remaining visits per site all go to the eleventh of the sites whose ten probes had all
    changed (11/12 of whose other pages have), and 82.5 find a change:

    >>> from evercrawl.schedule.formulas.site_shares import Shares
    >>> round(changes_found(10, 1000, 0.1, Shares(1.0, 1.0)), 9)
    87.5
    """
    counts = np.arange(size, -1, -1.0)  # changed probes, the best sites first
    capacity = _beta_binomial(size, shares)[::-1] * (pages - size)
    before = np.cumsum(capacity) - capacity
    taken = np.clip(part * pages - size - before, 0.0, capacity)
    return size * shares.mean + float(taken @ shares.believed(counts, np.full(size + 1, float(size))))


def exact_sizes(pages: ArrayLike, part: float, shares: Shares) -> Floats:
    """Return approximately the best number of probes of each site, quickly; the loss by approximation is negligible.

    Sites of 64 pages or more are rounded to eight sizes per octave, and a and b of `shares` to 16 values per octave.
    Above four probes, sizes at a ratio of 4/3 are tried, and then sizes between the best one and its neighbours.

    Parameters
    ----------
    pages, part, shares
        As for `best_size`.

    Examples
    --------
    With two visits to a site of 20 pages, one shows where the other is worth most:

    >>> from evercrawl.schedule.formulas.site_shares import Shares
    >>> exact_sizes([20, 1000], 0.1, Shares(0.5, 2.0)), best_size(20, 0.1, Shares(0.5, 2.0)).round(1)
    (array([ 1., 11.]), np.float64(1.6))
    """
    pages = np.asarray(pages, np.float64)
    like, of = np.unique(np.where(pages < _FEW, np.maximum(pages, 1.0), _nearest(pages, 8)), return_inverse=True)
    a, b = _nearest(np.array([shares.a, shares.b]), 16).tolist()
    found = [_tried(round(each), round(part, 6), a, b) for each in like.tolist()]
    return np.clip(np.array(found, np.float64)[of].reshape(pages.shape), np.minimum(1.0, part * pages), part * pages)


def _nearest(numbers: Floats, steps: int) -> Floats:
    """Return the numbers rounded to the given number of steps per octave."""
    return np.asarray(2.0 ** (np.round(np.log2(np.maximum(numbers, _TINY)) * steps) / steps))


@lru_cache(maxsize=1 << 14)
def _tried(pages: int, part: float, a: float, b: float) -> int:
    """Return the best of the tried sizes."""
    last, shares = max(int(part * pages + 1e-9), 1), Shares(a, b)
    sizes: list[int] = [1]
    while sizes[-1] < last:
        sizes.append(min(max(sizes[-1] + 1, int(sizes[-1] * _APART)), last))
    found = [changes_found(size, pages, part, shares) for size in sizes]
    best = found.index(max(found))
    low, high = sizes[max(best - 1, 0)] + 1, sizes[min(best + 1, len(sizes) - 1)]
    between: list[int] = [sizes[best], *range(low, high, max((high - low) // _BETWEEN, 1))]
    return max(between, key=lambda size: changes_found(size, pages, part, shares))


def _beta_binomial(size: int, shares: Shares) -> Floats:
    """Return the probability of each count of changed probes, 0 to `size`."""
    count = np.arange(size, dtype=np.float64)
    a, b = shares.a, shares.b
    steps = np.log((size - count) * (a + count)) - np.log((count + 1) * (b + size - 1 - count))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    found = np.exp(logs - logs.max())
    return np.asarray(found / found.sum())


def greedy(pages: Floats, share: Floats, budget: float) -> Floats:
    """Return the visits of each site, shape (n,): all pages of the site with the largest share, then of the next.

    This maximises the expected number of changes found.

    Examples
    --------
    >>> greedy(np.array([10.0, 20.0, 30.0]), np.array([0.2, 0.9, 0.5]), 35.0)
    array([ 0., 20., 15.])
    """
    order = np.argsort(-share, kind="stable")
    before = np.cumsum(pages[order]) - pages[order]
    taken = np.empty(len(pages))
    taken[order] = np.clip(budget - before, 0.0, pages[order])
    return taken


def proportional(pages: Floats, share: Floats, budget: float) -> Floats:
    """Return the visits of each site, shape (n,), in proportion to its changed pages; at most its number of pages.

    Visits that exceed a site's pages go to the other sites, in the same proportion.

    Examples
    --------
    >>> proportional(np.array([10.0, 20.0, 30.0]), np.array([1.0, 0.5, 0.0]), 10.0)
    array([5., 5., 0.])
    >>> proportional(np.array([10.0, 20.0, 30.0]), np.array([1.0, 0.5, 0.0]), 25.0)
    array([10., 15.,  0.])
    """
    taken, changed = np.zeros(len(pages)), pages * share
    open_ = changed > 0
    while open_.any() and budget - taken.sum() > 1e-9 * budget:
        rest = budget - taken[~open_].sum()
        taken[open_] = changed[open_] * (rest / changed[open_].sum())
        full = open_ & (taken >= pages)
        taken[full] = pages[full]
        if not full.any():
            break
        open_ &= ~full
    return taken


def clusters(pages: Floats, likeness: Floats, count: int) -> Ints:
    """Return the cluster of each site, shape (n,), 0 to `count` - 1, if there are fewer probes than sites.

    Large sites stay alone. The others are joined with the most similar ones into clusters of about equal size, and a
    cluster is then probed like one site.

    Parameters
    ----------
    pages
        Number of pages of each site, shape (n,).
    likeness
        Measure of similarity of small sites: the prior share of changed pages, or any other number; shape (n,).
    count
        Maximum number of clusters, at least 1.

    Examples
    --------
    >>> clusters(np.array([100.0, 2.0, 2.0, 1.0, 1.0]), np.array([0.1, 0.9, 0.2, 0.8, 0.3]), 3)
    array([0, 2, 1, 2, 1])
    """
    if count >= len(pages):
        return np.arange(len(pages))
    order = np.argsort(-pages, kind="stable")
    alone = _alone(pages[order], count)
    label = np.empty(len(pages), np.int64)
    label[order[:alone]] = np.arange(alone)
    small = order[alone:][np.argsort(likeness[order[alone:]], kind="stable")]
    middle = np.cumsum(pages[small]) - pages[small] / 2
    groups = count - alone
    label[small] = alone + np.minimum(
        (middle * (groups / max(pages[small].sum(), 1e-300))).astype(np.int64), groups - 1
    )
    return label


def _alone(pages: Floats, count: int) -> int:
    """Return how many of the largest sites have at least as many pages as a cluster of the smaller sites."""
    rest, groups = pages.sum() - np.cumsum(pages), count - 1.0 - np.arange(len(pages))
    large = (groups > 0) & (pages * groups >= rest)
    return int(np.flatnonzero(~large)[0])
