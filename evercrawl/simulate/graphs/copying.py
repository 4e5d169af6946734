"""Copying model: new pages copy the links of old ones."""

import numpy as np

from evercrawl.simulate.graphs.base import Web


def copying(pages: int, seed: int = 0, out: int = 5, own: float = 0.1) -> Web:
    """Return a graph in which each page copies an older page's links, except for a share chosen uniformly.

    In-degrees follow a power law with exponent (2 - own) / (1 - own), 2.1 for a tenth. Unlike in the published model,
    a page's own links may also lead to younger pages; otherwise all links would lead back in time, and there would be
    no cycle.

    Examples
    --------
    >>> web = copying(1000, seed=1)
    >>> int(web.out.max()), int(web.into.max()) > 100
    (5, True)

    References
    ----------
    Kumar, Raghavan, Rajagopalan, Sivakumar, Tomkins, Upfal (2000). Stochastic models for the web graph, section 3.
    """
    random = np.random.default_rng(seed)
    choice = random.integers(pages, size=(pages, out), dtype=np.int64)
    older = (random.random(pages) * np.maximum(np.arange(pages), 1)).astype(np.int64)
    links = np.arange(pages * out).reshape(pages, out)
    copied = random.random((pages, out)) >= own
    copied[0] = False
    origin = np.where(copied, older[:, None] * out + np.arange(out), links).ravel()
    while True:  # follow each link to the page that chose it by pointer jumping, which halves the distance each time
        further = origin[origin]
        if np.array_equal(further, origin):
            break
        origin = further
    return Web.of(pages, np.repeat(np.arange(pages), out), choice.ravel()[origin])
