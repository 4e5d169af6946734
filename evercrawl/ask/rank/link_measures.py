"""Other link measures of the pages of a crawl: hubs and authorities, PageRank, in-degree.

The crawl itself uses the importance that it learns on-line. These measures are computed on request from the links of
each page as last read, in one pass over the journal.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from evercrawl.ask.rank.link_steps import final_pages
from evercrawl.importance.offline import Graph, solve
from evercrawl.importance.offline.hits import hits, in_degree
from evercrawl.model.stored.reader import Tell, events
from evercrawl.model.view import View
from evercrawl.model.web.known_ranks import TAX, ReadLinks
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, Visit
from evercrawl.types import Floats

MEASURES: Final = ("authority", "hub", "pagerank", "in-degree")
_TOLERANCE: Final = 1e-9
_EVERY: Final = 4_096  # events between two progress reports


def read_graph(view: View, tell: Tell | None = None) -> Graph:
    """Return the links between known pages as last read, each once.

    A link to an alias counts as a link to the original, and an alias has no links of its own.

    Raises
    ------
    StoreError
        The journal is damaged.
    """
    known, upto = view.state.known.count, view.partition.journal.sequence
    rows, final = ReadLinks(), final_pages(view)
    for number, (_, _, event) in enumerate(events(view.partition, upto)):
        if isinstance(event, Visit) and event.flags & HAS_LINKS and event.slot < known:
            targets = decode_slots(event.targets)
            rows.put(event.slot, final[targets[targets < known]])
        if tell is not None and number % _EVERY == 0:
            tell("links read", number, upto)
    start, target = rows.whole(known)
    own = final == np.arange(known)
    source = np.repeat(np.arange(known), np.diff(start))
    kept = own[source] & (source != target)
    return Graph.between(known, source[kept], target[kept])


def measured_by(view: View, measure: str, tax: float = TAX, tell: Tell | None = None) -> Floats:
    """Return the share of each known page in a measure, shape (known,); all 0 if no link was read.

    Parameters
    ----------
    view, measure
        The crawl, and one of `MEASURES`.
    tax
        Part of each page's value that PageRank distributes evenly (epsilon).

    References
    ----------
    Kleinberg (1999). Authoritative Sources in a Hyperlinked Environment.
    Page, Brin, Motwani, Winograd (1998). The PageRank Citation Ranking.
    """
    graph = read_graph(view, tell)
    if measure in {"authority", "hub"}:
        hubs, authorities = hits(graph)
        return hubs if measure == "hub" else authorities
    counts = solve(graph, tax, tolerance=_TOLERANCE) if measure == "pagerank" else in_degree(graph).astype(np.float64)
    return counts / max(float(counts.sum()), 1e-300) if len(graph.target) else np.zeros(graph.pages)
