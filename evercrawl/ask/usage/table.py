"""What people saw and opened, page by page, as a table: counts, and the four numbers of a page that RPUC goes by."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from evercrawl.ask.export.tables import ROWS, Columns
from evercrawl.model.view import View
from evercrawl.model.worth.query_words import HALF_LIFE_S
from evercrawl.model.worth.usage import USAGE_FILE, Tail
from evercrawl.store.table.table import NO_RECORD

USAGE_COLUMNS: Final = {
    "url": "string", "retrieved": "int", "clicked": "int", "visits": "int", "changes": "int",
    "retrieved_lately": "float", "clicked_lately": "float", "R": "float", "P": "float", "U": "float", "C": "float",
}  # fmt: skip
"""Columns and their types."""
_HALF: Final = 0.5  # as `update_ratio` of the policy has it: of a page checked n times, x of them changed


def usage_table(view: View, watch: Callable[[int, int], None] = lambda done, total: None) -> Iterator[Columns]:
    """Yield a row for each page that questions name, in the order in which they first do.

    Parameters
    ----------
    view
        The crawl; it may run meanwhile. What is said of late is as of its instant.
    watch
        Told now and then how much is done, of how much.
    """
    counts = _counts(view)
    urls = list(counts)
    for start in range(0, len(urls), ROWS):
        watch(start, len(urls))
        piece: Columns = {column: [] for column in USAGE_COLUMNS}
        for url in urls[start : start + ROWS]:
            for column, value in zip(piece.values(), _row(view, url, counts[url]), strict=True):
                column.append(value)
        yield piece
    watch(len(urls), len(urls))


def _counts(view: View) -> dict[str, list[float]]:
    """Return for each URL how often it was shown and opened, and both with a half-life of thirty days."""
    found: dict[str, list[float]] = {}
    for question in Tail(view.partition.directory / USAGE_FILE).all():
        lately = 2.0 ** (-max(view.now - question.at, 0.0) / HALF_LIFE_S)
        for at, urls in enumerate((question.shown, question.clicked)):
            for url in dict.fromkeys(urls):
                count = found.setdefault(url, [0.0] * 4)
                count[at] += 1.0
                count[2 + at] += lately
    return found


def _row(view: View, url: str, counts: list[float]) -> tuple[Any, ...]:
    state = view.state
    slot = int(state.table.find(np.array([state.hasher.key(url)], np.uint64))[0])
    known, visits, changes = slot < state.known.count, 0, 0
    if known and not (cell := int(state.table.record[slot])) & NO_RECORD:
        record = state.records.read(cell)
        visits, changes = record.visits, record.changes
    retrieved, clicked = int(counts[0]), int(counts[1])
    return (
        url, retrieved, clicked, visits, changes, counts[2], counts[3],
        retrieved / max(visits, 1),
        float(view.importance[slot]) if known else None,
        float(np.log((visits + _HALF) / (visits - min(changes, visits) + _HALF))),
        clicked / max(retrieved, 1),
    )  # fmt: skip
