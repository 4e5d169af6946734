"""Cooper-Frieze graph: grows by new pages and by new links of old pages, with a given correlation of degrees."""

import math
from typing import Final

import numpy as np

from evercrawl.simulate.graphs.base import Web, zipf
from evercrawl.types import Floats, Ints

_MOST: Final = 100  # maximum links added in one step


def cooper_frieze(
    pages: int, seed: int = 0, old: float = 0.5, alike: float = 0.1, steep: float = 2.7, correlation: float = 0.0
) -> Web:
    """Return a graph built in steps, each of which adds a page with links, or links of an existing page.

    Targets are chosen in proportion to their in-links, except for a share chosen uniformly; sources of old pages'
    links are chosen likewise, by their out-links. The degrees follow power laws. Finally, rows of links are
    reassigned to other pages so that in- and out-degree have the requested rank correlation, which leaves both
    distributions unchanged.

    Parameters
    ----------
    pages
        n.
    seed
        The random seed.
    old
        Share of steps that add links of old pages.
    alike
        Share of choices made uniformly.
    steep
        Exponent of the number of links added per step, which is at most 100.
    correlation
        Spearman's correlation of in- and out-degree, from -1 to 1, if no two pages had equal degrees; ties reduce it.

    Examples
    --------
    >>> web = cooper_frieze(2000, seed=1, correlation=0.8)
    >>> web.pages, int(web.into.max()) > 20 * web.links // web.pages
    (2000, True)
    >>> from scipy.stats import spearmanr
    >>> round(float(spearmanr(web.out, web.into).statistic), 2)
    0.62

    References
    ----------
    Cooper, Frieze (2003). A general model of web graphs.
    """
    random = np.random.default_rng((seed, 31))
    steps = max(math.ceil((pages - 1) / (1 - old)), pages - 1)
    new = np.zeros(steps, bool)
    new[1 + random.permutation(steps - 1)[: pages - 2]] = True
    new[0] = True
    known = 1 + np.cumsum(new)  # number of pages after each step
    many = zipf(random, steps, steep, _MOST)
    step = np.repeat(np.arange(steps), many)
    target = _preferred(random, known[step], alike)
    source = np.where(new[step], known[step] - 1, np.repeat(_sources(random, known, new, alike), many))
    return Web.of(pages, _dealt(random, pages, source, target, correlation), target)


def _preferred(random: np.random.Generator, among: Ints, alike: float) -> Ints:
    """Return for each link a page, either uniform among existing ones or that of an earlier link; shape (links,)."""
    count = len(among)
    own = (random.random(count) * among).astype(np.int64)
    earlier = (random.random(count) * np.maximum(np.arange(count), 1)).astype(np.int64)
    origin = np.where(random.random(count) < alike, np.arange(count), earlier)
    origin[0] = 0
    while True:  # follow each link to its original choice by pointer jumping, which halves the distance each time
        further = origin[origin]
        if np.array_equal(further, origin):
            break
        origin = further
    return own[origin]


def _sources(random: np.random.Generator, known: Ints, new: np.ndarray, alike: float) -> Ints:
    """Return the source of each step's links: the new page, a uniform old one, or that of an earlier step."""
    steps = len(known)
    own = np.where(new, known - 1, (random.random(steps) * known).astype(np.int64))
    earlier = (random.random(steps) * np.maximum(np.arange(steps), 1)).astype(np.int64)
    origin = np.where(new | (random.random(steps) < alike), np.arange(steps), earlier)
    while True:
        further = origin[origin]
        if np.array_equal(further, origin):
            break
        origin = further
    return own[origin]


def _dealt(random: np.random.Generator, pages: int, source: Ints, target: Ints, correlation: float) -> Ints:
    """Return the sources with rows of links reassigned for the requested degree correlation."""
    into, out = (np.bincount(each, minlength=pages) for each in (target, source))
    score = 2 * math.sin(math.pi / 6 * correlation)  # inverse of Spearman's correlation for two normal variables
    normal = np.sort(random.standard_normal(pages))
    wanted: Floats = np.empty(pages)
    wanted[np.lexsort((random.random(pages), into))] = normal
    mixed = score * wanted + math.sqrt(max(1 - score**2, 0.0)) * random.standard_normal(pages)
    to = np.empty(pages, np.int64)
    to[np.lexsort((random.random(pages), out))] = np.argsort(mixed)
    return to[source]
