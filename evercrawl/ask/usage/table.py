"""Usage by page as a table: counts of displays and clicks, and the four factors of RPUC."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Final

from evercrawl.ask.export.tables import ROWS, Columns
from evercrawl.ask.usage.vector import page_use
from evercrawl.model.view import View
from evercrawl.model.worth.usage import USAGE_FILE, Tail
from evercrawl.model.worth.usage_counts import UsageCounts

USAGE_COLUMNS: Final = {
    "url": "string", "retrieved": "int", "clicked": "int", "visits": "int", "changes": "int",
    "retrieved_lately": "float", "clicked_lately": "float", "R": "float", "P": "float", "U": "float", "C": "float",
}  # fmt: skip
"""Columns, with their types."""
_AT_ONCE: Final = 1000


def usage_table(view: View, watch: Callable[[int, int], None] = lambda done, total: None) -> Iterator[Columns]:
    """Yield a row for each page in questions, in order of first appearance.

    Parameters
    ----------
    view
        The crawl, which may be running. Recent counts are as of the newest question.
    watch
        Progress callback: rows done, and their total.
    """
    counts, urls = _told(view)
    for start in range(0, len(urls), ROWS):
        watch(start, len(urls))
        piece: Columns = {column: [] for column in USAGE_COLUMNS}
        for url in urls[start : start + ROWS]:
            found = {"url": url} | asdict(page_use(view, counts, url))
            for name, column in piece.items():
                column.append(found[name])
        yield piece
    watch(len(urls), len(urls))


def _told(view: View) -> tuple[UsageCounts, list[str]]:
    """Return the counts of all questions, and all URLs in them."""
    counts, urls = UsageCounts(view.state), dict[str, None]()
    asked = Tail(view.partition.directory / USAGE_FILE).all()
    while questions := list(islice(asked, _AT_ONCE)):
        counts.learn(questions)
        for question in questions:
            urls |= dict.fromkeys(question.shown) | dict.fromkeys(question.clicked)
    return counts, list(urls)
