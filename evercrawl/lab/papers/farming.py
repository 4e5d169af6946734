"""Link farms: the gain of a page from many pages of the same owner that link to it."""

import math
from typing import Final, NamedTuple

import numpy as np

from evercrawl.importance.offline import solve
from evercrawl.lab.papers.accuracy import NOT_KNOWN, Accuracy, among, graph_of
from evercrawl.simulate.graphs import Web
from evercrawl.types import Floats, Ints, Spans

TAX: Final = 0.15
INTERNAL: Final = 0.1
"""Weight of a link within a site, if there is more than one site: that of our default."""
_EXACT: Final = 1e-10


class Rule(NamedTuple):
    """How the virtual page distributes its cash, and the weight of links within a site.

    Attributes
    ----------
    spends
        `known`: equally on all known URLs. `trusted`: on trusted pages. `site`: equally on all sites, and within a site
        equally on its pages.
    internal
        Weight of a link within a site.
    """

    spends: str
    internal: float = 1.0


class FarmedWeb(NamedTuple):
    """A web with sites and a farm: the last `pages` pages, which all link to the target, which links to them."""

    web: Web
    target: int
    pages: int


def farmed(web: Web, target: int, pages: int) -> FarmedWeb:
    """Return a web in which the owner of `target` has added a farm of that many pages to the same site.

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
        Importance of the target with the farm, divided by that without; nan if the latter is 0.
    others
        Accuracy of the importance of all other pages with the farm, compared with that without; nan unless all of them
        have some.
    """

    gain: float
    others: Accuracy


def gained(web: Web, target: int, pages: int, rule: Rule, trusted: Ints, honest: Floats) -> Gained:
    """Return the effect of a farm on its target and on the other pages.

    Parameters
    ----------
    web, target, pages
        The honest web, the page that gains, and the size of the farm.
    rule
        How importance is computed.
    trusted
        The trusted pages.
    honest
        Importance of the pages without the farm (see `importance_of`), shape (n,).
    """
    after, others = importance_of(farmed(web, target, pages).web, rule, trusted), np.arange(web.pages) != target
    before = float(honest[target])
    error = among(honest[others], after[: web.pages][others]) if honest[others].all() else NOT_KNOWN
    return Gained(float(after[target]) / before if before else math.nan, error)  # no trusted page leads there


def targets(web: Web, count: int, seed: int) -> Ints:
    """Return random targets for farms: pages with a link to them, on sites of ordinary size (middle two quarters)."""
    assert web.site is not None, "farms stand on sites"
    size = np.bincount(web.site)[web.site]
    ordinary = np.flatnonzero((web.into > 0) & (size >= np.quantile(size, 0.25)) & (size <= np.quantile(size, 0.75)))
    chosen: Ints = np.random.default_rng((seed, 31)).choice(ordinary, min(count, len(ordinary)), replace=False)
    return chosen


def importance_of(web: Web, rule: Rule, trusted: Ints) -> Floats:
    """Return the importance of all pages by a rule, shape (n,), summing to 1; arguments as in `gained`."""
    assert web.site is not None, "farms stand on sites"
    graph = graph_of(web)
    if rule.internal < 1:
        graph = graph.with_sites(web.site, rule.internal)
    found = solve(graph, TAX, _source(web.site, rule, trusted), _EXACT)
    found /= found.sum()
    return found


def _source(site: Spans, rule: Rule, trusted: Ints) -> Floats:
    """Return the virtual page's weight for each page, shape (n,)."""
    if rule.spends == "trusted":
        source = np.zeros(len(site))
        source[trusted] = 1 / len(trusted)
        return source
    own: Floats = 1 / np.bincount(site)[site] if rule.spends == "site" else np.full(len(site), 1 / len(site))
    return own
