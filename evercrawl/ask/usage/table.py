"""What people saw and opened, page by page, as a table: counts, and the four numbers of a page that RPUC goes by."""

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
"""Columns and their types."""
_AT_ONCE: Final = 1000


def usage_table(view: View, watch: Callable[[int, int], None] = lambda done, total: None) -> Iterator[Columns]:
    """Yield a row for each page that questions name, in the order in which they first do.

    Parameters
    ----------
    view
        The crawl; it may run meanwhile. What is said of late is as of the newest question.
    watch
        Told now and then how much is done, of how much.
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
    """Return what questions tell, and all URLs that they name."""
    counts, urls = UsageCounts(view.state), dict[str, None]()
    asked = Tail(view.partition.directory / USAGE_FILE).all()
    while questions := list(islice(asked, _AT_ONCE)):
        counts.learn(questions)
        for question in questions:
            urls |= dict.fromkeys(question.shown) | dict.fromkeys(question.clicked)
    return counts, list(urls)
