"""In-links of a page, from the contents of linking pages as last read."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.model.stored.derived.runs import Runs
from evercrawl.store.state import State
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import Flags, Ints


class PageInLinks(NamedTuple):
    """Links to a page, shape (n,) each.

    Attributes
    ----------
    source, record
        Slot of the page that links, and the index of its record.
    external, through
        Whether the link counts as one between sites; whether the source is an alias of the page.
    out
        Number of distinct links of the source.
    outcome
        Outcome of the visit that saw the link.
    """

    source: Ints
    record: Ints
    external: Flags
    through: Flags
    out: NDArray[Any]
    outcome: NDArray[Any]


def inlinks(state: State, runs: Runs, slot: int) -> PageInLinks:
    """Return the links to a page, from the last content read of each linking page.

    Examples
    --------
    An empty journal has none:

    >>> len(inlinks(None, Runs([]), 0).source)
    0
    """
    seen = runs.to_page(slot)
    if not len(seen.visit):
        nothing, no = np.zeros(0, np.int64), np.zeros(0, np.bool_)
        return PageInLinks(nothing, nothing, no, no, nothing, nothing)
    source = runs.take("slot", seen.visit).astype(np.int64)
    known = source < state.known.count
    cells = state.table.record[np.where(known, source, 0)]
    record = np.where((cells & np.uint32(NO_RECORD)) == 0, cells, 0).astype(np.int64)
    rows = state.records.rows[record]
    now = known & (rows["slot"] == source) & (rows["event"] == runs.take("pointer", seen.visit))
    visit = seen.visit[now]
    return PageInLinks(
        source[now], record[now], seen.external[now], seen.through[now], runs.take("out", visit),
        runs.take("outcome", visit),
    )  # fmt: skip
