"""Uniform random graph: every link from any page to any page."""

import numpy as np

from evercrawl.simulate.graphs.base import Web


def poisson(pages: int, seed: int = 0, mean: float = 5.0) -> Web:
    """Return a graph with Poisson-distributed in- and out-degrees.

    Examples
    --------
    >>> web = poisson(1000, seed=1)
    >>> round(web.links / web.pages), int(web.into.max()) < 20
    (5, True)

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section on synthetic data: the
    first, simplest graphs.
    """
    random = np.random.default_rng(seed)
    target = np.repeat(np.arange(pages, dtype=np.int32), random.poisson(mean, pages))
    return Web.of(pages, random.integers(pages, size=len(target), dtype=np.int32), target)
