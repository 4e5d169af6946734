"""Graph of sites: most links stay within a site and prefer its first pages; the others prefer popular sites."""

import numpy as np

from evercrawl.simulate.graphs.base import Web, zipf
from evercrawl.types import Ints

_EXPONENT = 1.8  # exponent of site sizes, the largest of which is a hundredth of all pages
_MOST = 100
_LEAST = 5  # minimum pages of a site, or its internal links would repeat a few pairs
_SKEW = 2  # targets are the square of a uniform number in [0, 1), so that few pages get most links


def sites(pages: int, seed: int = 0, internal: float = 0.83, out: int = 10) -> Web:
    """Return a graph of sites, numbered by site, root first; each page has `out` links before duplicates are dropped.

    Parameters
    ----------
    pages, seed
        Number of pages; the random seed.
    internal
        Share of links within the site; with 0.83, four in five are, once duplicates are dropped.
    out
        Links per page.

    Examples
    --------
    >>> web = sites(1000, seed=1)
    >>> web.pages, int(web.site[web.root[1]]), len(web.root) > 20
    (1000, 1, True)

    References
    ----------
    Kamvar, Haveliwala, Manning, Golub (2003). Exploiting the block structure of the web for computing PageRank,
    table 1: four in five links stay within the host.
    """
    random = np.random.default_rng(seed)
    root = _roots(random, pages)
    size = np.diff(np.append(root, pages))
    site = np.repeat(np.arange(len(root), dtype=np.int32), size)
    source = np.repeat(np.arange(pages, dtype=np.int32), out)
    near = random.random(len(source)) < internal
    first = np.where(near, root[site[source]], root[_popular(random, len(root), len(source))])
    depth = random.random(len(source)) ** _SKEW * size[site[first]]
    return Web.of(pages, source, first + depth.astype(np.int64), site, root.astype(np.int32))


def _roots(random: np.random.Generator, pages: int) -> Ints:
    """Return the first page of each site."""
    size = _LEAST * zipf(random, pages, _EXPONENT, max(pages // _MOST // _LEAST, 1))
    start = np.cumsum(size) - size
    return start[start < pages]


def _popular(random: np.random.Generator, count: int, size: int) -> Ints:
    """Return sites to link to from outside; a site's popularity is independent of its size."""
    order = random.permutation(count)
    return order[(random.random(size) ** _SKEW * count).astype(np.int64)]
