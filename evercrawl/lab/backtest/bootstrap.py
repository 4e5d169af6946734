"""Bootstrap confidence intervals of replay results, by resampling pages in clusters.

Pages of a folder change together, in batches. Resampling single pages would treat each as independent evidence and
make intervals two to five times too narrow if there are many folders that each change as one; so whole folders are
resampled if there are enough of them (`bench/backtest.py --only intervals`). Compared policies are resampled
together: their difference is taken on the same pages, and is often significant even if their own intervals overlap.

References
----------
Efron, Tibshirani (1993). An introduction to the bootstrap, sections 13.3 (percentiles) and 19.3 (how many draws).
Davison, Hinkley (1997). Bootstrap methods and their application, section 3.8 (clusters, drawn whole).
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.types import Floats, Ints

DRAWS: Final = 1_000
LEVEL: Final = 0.95
_FEWEST: Final = 20  # minimum folders for resampling by folder
_LARGEST: Final = 0.5  # maximum share of the pages in one folder, likewise


def clusters(site: ArrayLike, folder: ArrayLike) -> Ints:
    """Return the cluster of each page: its folder, or the page alone if its site has too few folders.

    There are enough folders if there are at least 20, and none has more than half of the site's pages.

    Parameters
    ----------
    site, folder
        Number of each page's site, and of its folder, which belongs to one site, shape (pages,).

    Examples
    --------
    >>> clusters([0] * 3, [7, 7, 9]).tolist()
    [0, 1, 2]
    >>> clusters([0] * 21 + [1] * 2, [5, *range(20), 20, 20]).tolist()[-4:]
    [18, 19, 20, 21]
    """
    sites, number = np.asarray(site), np.unique(np.asarray(folder), return_inverse=True)[1].astype(np.int64)
    alone = np.arange(len(number)) + len(number)
    for each in np.unique(sites):
        of_site = sites == each
        sizes = np.unique(number[of_site], return_counts=True)[1]
        if len(sizes) < _FEWEST or sizes.max() > _LARGEST * of_site.sum():
            number[of_site] = alone[of_site]
    return np.unique(number, return_inverse=True)[1].astype(np.int64)


def resampled(sums: Floats, cluster: Ints, seed: int, draws: int = DRAWS) -> Floats:
    """Return the sums over bootstrap resamples of the pages, shape (draws, columns).

    Parameters
    ----------
    sums
        Values of each page, shape (pages, columns).
    cluster
        Number of each page's cluster, which is drawn as a whole, shape (pages,).
    seed
        The random seed.
    draws
        Number of resamples.

    Examples
    --------
    Columns with the same ratio on every page have that ratio in every draw:

    >>> drawn = resampled(np.array([[1.0, 2.0], [3.0, 6.0]]), np.array([0, 1]), seed=1)
    >>> drawn.shape, float((drawn[:, 1] / drawn[:, 0]).std()), np.unique(drawn[:, 0]).tolist()
    ((1000, 2), 0.0, [2.0, 4.0, 6.0])
    """
    of_each = np.stack([np.bincount(cluster, column) for column in sums.T], 1)
    drawn = [each @ of_each for each in _times(len(of_each), seed, draws)]
    return np.array(drawn, np.float64).reshape(draws, sums.shape[1])


def medians(values: Floats, cluster: Ints, clusters_drawn: int, seed: int, draws: int = DRAWS) -> Floats:
    """Return the median over the given pages in each resample of `resampled`, shape (draws,); nan if none was drawn.

    Parameters
    ----------
    values, cluster
        The value of each of these pages, which may be infinite, and the number of its cluster.
    clusters_drawn
        Number of clusters of all pages.
    seed, draws
        As in `resampled`.

    Examples
    --------
    >>> np.unique(medians(np.array([3.0, 1.0, np.inf]), np.array([0, 1, 2]), 3, seed=1)).tolist()
    [1.0, 3.0, inf]
    """
    order = np.argsort(values, kind="stable")
    values, cluster, found = values[order], cluster[order], np.full(draws, np.nan)
    for at, each in enumerate(_times(clusters_drawn, seed, draws) if len(values) else ()):
        upto = np.cumsum(each[cluster])
        if upto[-1]:
            found[at] = values[np.searchsorted(upto, upto[-1] // 2, "right")]
    return found


def _times(n: int, seed: int, draws: int) -> Iterator[Ints]:
    """Yield the multiplicity of each of `n` clusters, draw by draw."""
    draw = np.random.default_rng(seed)
    return (np.bincount(draw.integers(0, n, n), minlength=n) for _ in range(draws))


def over_sites(of_sites: Floats, seed: int) -> Floats:
    """Return means over resamples of the sites, shape (draws, columns); sites with nan are ignored.

    Parameters
    ----------
    of_sites
        Results of each site's draws, shape (sites, draws, columns).
    seed
        The random seed.

    Examples
    --------
    Two sites without variation within: the mean is that of one site drawn twice, or of both.

    >>> of_sites = np.array([[[0.2]] * 100, [[0.4]] * 100])
    >>> np.unique(over_sites(of_sites, seed=1).round(9)).tolist()
    [0.2, 0.3, 0.4]
    """
    sites, draws, _ = of_sites.shape
    draw = np.random.default_rng(seed)
    which, times = draw.integers(0, sites, (draws, sites)), draw.integers(0, draws, (draws, sites))
    values = of_sites[which, times]
    there = ~np.isnan(values)
    count, total = there.sum(1), np.asarray(values.sum(1, where=there), np.float64)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def interval(values: Floats, level: float = LEVEL) -> tuple[float, float]:
    """Return the bounds of the central share `level` of draws; nan without draws.

    If some draws are infinite, the bounds are draws themselves.

    >>> interval(np.arange(101.0), 0.9), interval(np.array([1.0, 2.0, np.inf]))
    ((5.0, 95.0), (1.0, inf))
    """
    there = np.sort(values[~np.isnan(values)])
    if not len(there):
        return float("nan"), float("nan")
    if np.isinf(there[-1]):
        out = round(0.5 * (1.0 - level) * (len(there) - 1))
        return float(there[out]), float(there[-1 - out])
    low, high = np.quantile(there, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
    return float(low), float(high)
