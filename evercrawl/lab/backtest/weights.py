"""Weights of recorded pages: PageRank of the links at the start of a replay."""

import numpy as np

from evercrawl.importance.offline import Graph
from evercrawl.importance.offline.pagerank import damped, importance
from evercrawl.lab.backtest.truth import Truth
from evercrawl.lab.histories import History, LinkLog
from evercrawl.types import Floats, Ints


def weights(history: History, pages: Truth) -> Floats:
    """Return PageRank at the start, with mean 1.0 over the pages then linked, shape (pages,).

    The weight is 1.0 for pages without links at that time, for pages born later, and for all pages of a history without
    a link log.
    """
    source, target = links_at(history.links, pages.start)
    linked = np.unique(np.concatenate([source, target]))
    everywhere = np.ones(len(history))
    if len(linked):
        graph = Graph.between(len(linked), np.searchsorted(linked, source), np.searchsorted(linked, target))
        everywhere[linked] = importance(graph, damped(graph), tolerance=1e-9) * len(linked)
    return everywhere[pages.row]


def links_at(log: LinkLog, instant: float) -> tuple[Ints, Ints]:
    """Return the links at an instant: sources and targets, sorted.

    Examples
    --------
    >>> from evercrawl.lab.histories import LinkLog
    >>> one = np.array([1, 2, 3])
    >>> log = LinkLog(one, np.array([0, 0, 0]), np.array([1, 2, 1]), np.array([True, True, False]))
    >>> links_at(log, 2.5), links_at(log, 3.0)
    ((array([0, 0]), array([1, 2])), (array([0]), array([2])))
    """
    upto = int(np.searchsorted(log.at, instant, "right"))
    source, target, present = log.source[:upto], log.target[:upto], log.present[:upto]
    order = np.lexsort((np.arange(upto), target, source))
    ordered = source[order], target[order]
    differs = (np.diff(ordered[0]) != 0) | (np.diff(ordered[1]) != 0)
    kept = order[np.r_[differs, True] & present[order]] if upto else order
    return source[kept], target[kept]
