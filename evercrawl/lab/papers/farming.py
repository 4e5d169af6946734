"""Link farms: how much a page gains from many pages of one owner that link to it."""

import math
from typing import Final, NamedTuple

import numpy as np

from evercrawl.importance.offline import solve
from evercrawl.lab.papers.accuracy import NOT_KNOWN, Accuracy, among, graph_of
from evercrawl.simulate.graphs import Web
from evercrawl.types import Floats, Ints, Spans

TAX: Final = 0.15
INTERNAL: Final = 0.1
"""Weight of a link within a site, where there is more than one site: that of our default."""
_EXACT: Final = 1e-10


class Rule(NamedTuple):
    """How the virtual page distributes its cash, and the weight of links within a site.

    Attributes
    ----------
    spends
        `known`: the same on every URL known. `trusted`: on some pages somebody trusts. `site`: the same on each site,
        and within it on each page.
    internal
        Weight of a link within a site.
    """

    spends: str
    internal: float = 1.0


class FarmedWeb(NamedTuple):
    """A web with sites, and a farm within it: the last pages, all of which link to the target and it to them."""

    web: Web
    target: int
    pages: int


def farmed(web: Web, target: int, pages: int) -> FarmedWeb:
    """Return a web in which the owner of `target` puts up as many pages more on the same site.

    >>> farm = farmed(Web.of(2, np.array([0]), np.array([1]), np.zeros(2, np.int32), np.zeros(1, np.int32)), 1, 2)
    >>> farm.web.source.tolist(), farm.web.target.tolist()
    ([0, 1, 1, 2, 3], [1, 2, 3, 1, 1])
    """
    assert web.site is not None, "farms stand on sites"
    new = np.arange(web.pages, web.pages + pages)
    source = np.concatenate([web.source, np.full(pages, target), new]).astype(np.int64)
    to = np.concatenate([web.target, new, np.full(pages, target)]).astype(np.int64)
    site = np.append(web.site, np.full(pages, web.site[target])).astype(np.int32)
    return FarmedWeb(Web.of(web.pages + pages, source, to, site, web.root), target, pages)


class Gained(NamedTuple):
    """The effect of a farm on a web.

    Attributes
    ----------
    gain
        How many times as important the target is with the farm as it is without; nan if it was not.
    others
        How far what is thought of all other pages is from what they are worth without the farm, or nan where not all
        of them are worth something.
    """

    gain: float
    others: Accuracy


def gained(web: Web, target: int, pages: int, rule: Rule, trusted: Ints, honest: Floats) -> Gained:
    """Return what a farm does: to its target, and to what is thought of the others.

    Parameters
    ----------
    web, target, pages
        The honest web, the page that gains, and the size of the farm.
    rule
        How importance is worked out.
    trusted
        Pages that somebody trusts.
    honest
        `importance_of` the pages of the web without a farm, shape (n,).
    """
    after, others = importance_of(farmed(web, target, pages).web, rule, trusted), np.arange(web.pages) != target
    before = float(honest[target])
    error = among(honest[others], after[: web.pages][others]) if honest[others].all() else NOT_KNOWN
    return Gained(float(after[target]) / before if before else math.nan, error)  # nobody trusted leads there


def targets(web: Web, count: int, seed: int) -> Ints:
    """Return pages that may want to gain: any to which somebody links, of sites neither small nor large."""
    assert web.site is not None, "farms stand on sites"
    size = np.bincount(web.site)[web.site]
    ordinary = np.flatnonzero((web.into > 0) & (size >= np.quantile(size, 0.25)) & (size <= np.quantile(size, 0.75)))
    chosen: Ints = np.random.default_rng((seed, 31)).choice(ordinary, min(count, len(ordinary)), replace=False)
    return chosen


def importance_of(web: Web, rule: Rule, trusted: Ints) -> Floats:
    """Return the importance of all pages as a rule has it, shape (n,), summing to 1; arguments as of `gained`."""
    assert web.site is not None, "farms stand on sites"
    graph = graph_of(web)
    if rule.internal < 1:
        graph = graph.with_sites(web.site, rule.internal)
    found = solve(graph, TAX, _source(web.site, rule, trusted), _EXACT)
    found /= found.sum()
    return found


def _source(site: Spans, rule: Rule, trusted: Ints) -> Floats:
    """Return what the virtual page has for each page, shape (n,)."""
    if rule.spends == "trusted":
        source = np.zeros(len(site))
        source[trusted] = 1 / len(trusted)
        return source
    own: Floats = 1 / np.bincount(site)[site] if rule.spends == "site" else np.full(len(site), 1 / len(site))
    return own
