"""Sampling by site: how many pages of a site to probe, and which sites the rest of the budget goes to.

A site's pages change together. So a few pages of each site, its *probes*, are visited first; what they show says where
the other visits find the most changes. Few probes pick the wrong sites, many leave nothing to spend on the right ones.
Here a site has N pages, the budget is the part r of all pages, and the share of a site's pages that has changed is
spread over sites as `Shares` says: its density f, the threshold rho_r above which the part r of the sites lies, the
mean share of those, and that of all.

References
----------
Cho, Ntoulas (2002). Effective Change Detection Using Sampling. Meng, Wang, Yan (2006), equation (17), whose denominator
must hold the mean above the threshold, not the threshold; even so it is a half to a sixth short of the optimum of its
own model. That optimum, to the first order, is ours.
"""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.schedule.formulas.site_shares import Shares
from evercrawl.types import Floats, Ints

_LEAST: Final = 1e-12  # between two means: below it all sites are alike, and no number of probes tells them apart
_FEW: Final = 64.0  # pages of sites of which `exact_sizes` takes each number for itself
_APART: Final = 4 / 3  # sizes that it tries first,
_BETWEEN: Final = 12  # and how many of those between the two around the best
_TINY: Final = 1e-9


def printed_size(pages: ArrayLike, part: float, shares: Shares) -> Floats:
    """Return the probes a site, s = sqrt(N r f(rho_r) / (6 (mean above rho_r - mean))), unrounded, by (17).

    Examples
    --------
    >>> from evercrawl.schedule.formulas.site_shares import Shares
    >>> printed_size(1000, 0.1, Shares(1.0, 1.0)).round(4)
    np.float64(6.0858)
    """
    above = max(shares.mean_above(part) - shares.mean, _LEAST)
    return _bounded(pages, part, part * shares.density(shares.threshold(part)) / (6 * above))


def best_size(pages: ArrayLike, part: float, shares: Shares) -> Floats:
    """Return the probes a site, s = sqrt(N f(rho_r) rho_r (1 - rho_r) / (2 (mean above - mean))), unrounded.

    s probes put a site on the wrong side of the threshold at a loss of N f(rho_r) rho_r (1 - rho_r) / (2 s) changes,
    and cost s (mean above - mean): this s makes the sum least.

    Parameters
    ----------
    pages
        N, pages of each site, of any shape.
    part
        r, the budget as a part of all pages, 0 < r < 1.
    shares
        How the share of changed pages is spread over sites.

    Returns
    -------
    Floats
        Of the shape of `pages`; between 1, or what the budget has for a site if that is less, and what it has.

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
    """Return the root of N times a number, within what can be spent on a site."""
    pages = np.asarray(pages, np.float64)
    most: Floats = part * pages
    return np.clip(np.sqrt(pages * per_page), np.minimum(1.0, most), most)


def changes_found(size: int, pages: int, part: float, shares: Shares) -> float:
    """Return the expected changed pages found a site, probes included, with `size` probes of each and greedy after.

    How many of the probes changed is Beta-binomial. The visits that are left, r N - s a site, go to the sites where
    most had, N - s pages on each.

    Examples
    --------
    Ten probes find 5; of the 90 visits left a site, all to the eleventh of the sites whose ten probes had all changed
    (11/12 of whose other pages have), 82.5 find a change:

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
    """Return the best number of probes of each site, quickly: about, where a little more or less makes no difference.

    Sites of 64 pages or more are taken for the nearest of eight to an octave, and so are a and b of `shares`, of 16; of
    sizes above four, those a third apart are tried, and then what is between the best and its neighbours.

    Parameters
    ----------
    pages, part, shares
        As for `best_size`.

    Examples
    --------
    Of two visits to a site of 20 pages, one shows where the other is worth most:

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
    """Return the nearest of the numbers of which there are so many to an octave."""
    return np.asarray(2.0 ** (np.round(np.log2(np.maximum(numbers, _TINY)) * steps) / steps))


@lru_cache(maxsize=1 << 14)
def _tried(pages: int, part: float, a: float, b: float) -> int:
    """Return the best of some sizes."""
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

    It finds the most changes that can be expected of the budget.

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
    """Return the visits of each site, shape (n,), in proportion to its changed pages; never more than it has pages.

    What a site has no pages for goes to the others, in the same proportion.

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
    """Return the cluster of each site, shape (n,), 0 to `count` - 1: for fewer probes than there are sites.

    Large sites stay alone. The others are joined with those most like them into clusters of about as many pages each,
    and a cluster is then probed as one site.

    Parameters
    ----------
    pages
        Of each site, shape (n,).
    likeness
        By what small sites are alike: the share of changed pages that is believed, or any number; shape (n,).
    count
        Clusters there may be, 1 at least.

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
    """Return how many of the sites, the largest first, have as many pages as a cluster of those after them."""
    rest, groups = pages.sum() - np.cumsum(pages), count - 1.0 - np.arange(len(pages))
    large = (groups > 0) & (pages * groups >= rest)
    return int(np.flatnonzero(~large)[0])
