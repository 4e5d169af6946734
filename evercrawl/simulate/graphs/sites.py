"""A web of sites: most links stay within one, and lead to its first pages; the others lead to what is popular."""

import numpy as np

from evercrawl.simulate.graphs.base import Web, zipf
from evercrawl.types import Ints

_EXPONENT = 1.8  # of the sizes of sites, the largest of which has a hundredth of all pages
_MOST = 100
_LEAST = 5  # pages of a site, or what stays within it would be the same few links over and over
_SKEW = 2  # pages are linked to by the square of a number between 0 and 1, so that few have most


def sites(pages: int, seed: int = 0, internal: float = 0.83, out: int = 10) -> Web:
    """Return a web of sites, numbered site by site, root first; each page has `out` links before doubles are dropped.

    Parameters
    ----------
    pages, seed
        How many pages; what decides the rest.
    internal
        The part of the links that stay within the site; of 0.83, four in five do once doubles are dropped.
    out
        Links of a page.

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
    """Return sites that are linked to from outside; how popular one is has nothing to do with its size."""
    order = random.permutation(count)
    return order[(random.random(size) ** _SKEW * count).astype(np.int64)]
