"""Graph with power-law in-degrees and uniform sources."""

import numpy as np

from evercrawl.simulate.graphs.base import Web, zipf

_MOST = 2  # no page has links from more than half of all pages


def power_law(pages: int, seed: int = 0, exponent: float = 2.1) -> Web:
    """Return a graph whose pages have k in-links with probability proportional to k ** -exponent.

    Sources are uniform, so out-degrees are nearly Poisson. With 100,000 pages there are about 4.3 links per page;
    slightly more with more pages, because the maximum in-degree grows.

    Examples
    --------
    >>> web = power_law(1000, seed=1)
    >>> web.pages, int(web.into.max()) > 20 * web.links // web.pages
    (1000, True)

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section on synthetic data. The
    exponent is that of Broder, Kumar, Maghoul, Raghavan, Rajagopalan, Stata, Tomkins, Wiener (2000). Graph structure
    in the web, section 2.
    """
    random = np.random.default_rng(seed)
    into = zipf(random, pages, exponent, max(pages // _MOST, 1))
    target = np.repeat(np.arange(pages, dtype=np.int32), into)
    return Web.of(pages, random.integers(pages, size=len(target), dtype=np.int32), target)
