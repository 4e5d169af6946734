"""Bow-tie graph: a core, pages that only lead to it, pages only reached from it, tendrils, and disconnected pages."""

from typing import Final

import numpy as np

from evercrawl.simulate.graphs.base import Web, zipf
from evercrawl.types import Ints

PARTS: Final = {"core": 0.277, "in": 0.213, "out": 0.212, "tendrils": 0.215, "apart": 0.083}
"""Shares of all pages, as they were counted in 1999."""
_FROM: Final = {"core": ("in", "core"), "in": ("in",), "out": ("core", "out"), "tendrils": ("in",), "apart": ("apart",)}
_EXPONENT: Final = 2.1
_MOST: Final = 10


def bow_tie(pages: int, seed: int = 0) -> Web:
    """Return a graph of five parts with power-law in-degrees, in which links follow the bow-tie's directions.

    The core is strongly connected (it contains a ring), and every page of the "in" part links to the core at least
    once. Pages are numbered at random.

    Examples
    --------
    >>> web = bow_tie(1000, seed=1)
    >>> web.pages, web.links > 2000
    (1000, True)

    References
    ----------
    Broder, Kumar, Maghoul, Raghavan, Rajagopalan, Stata, Tomkins, Wiener (2000). Graph structure in the web, section
    3.1 and figure 9.
    """
    random = np.random.default_rng(seed)
    members = parts(pages, seed)
    core, inward = members["core"], members["in"]
    source, target = [core, inward], [np.roll(core, 1), random.choice(core, len(inward))]
    for name, own in members.items():
        linking = np.concatenate([members[part] for part in _FROM[name]])
        into = zipf(random, len(own), _EXPONENT, max(pages // _MOST, 1))
        source.append(random.choice(linking, int(into.sum())))
        target.append(np.repeat(own, into))
    return Web.of(pages, np.concatenate(source), np.concatenate(target))


def parts(pages: int, seed: int = 0) -> dict[str, Ints]:
    """Return the pages of each part of `bow_tie(pages, seed)`, in random order.

    >>> {name: len(members) for name, members in parts(1000).items()}
    {'core': 277, 'in': 213, 'out': 212, 'tendrils': 215, 'apart': 83}
    """
    assert pages >= 20, "every part needs a page"
    ends = np.rint(np.cumsum([*PARTS.values()]) * pages).astype(np.int64)[:-1]
    shuffled = np.random.default_rng((seed, 1)).permutation(pages)
    return dict(zip(PARTS, np.split(shuffled, ends), strict=True))
