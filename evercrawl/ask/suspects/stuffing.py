"""Sites whose pages say the same phrases again and again, or are put together from a stock of them."""

from typing import Any, Final

import numpy as np

from evercrawl.model.stored.indexed import content_of
from evercrawl.model.view import View
from evercrawl.model.web.site_graph import OWN
from evercrawl.model.web.suspicion import Suspicion
from evercrawl.parse.phrases import phrases, repeated, stitched
from evercrawl.store.journal.events import Visit
from evercrawl.store.records.records import NEAR
from evercrawl.types import Floats

KIND: Final = "stuffing"
SAMPLE: Final = 24
"""Pages of a site that are read for it."""
MOST: Final = 4_000
"""Pages in all, those of the sites with most pages first: reading one takes some two milliseconds."""
LEAST: Final = 8
"""Pages that a verdict takes, each of `WORDS` words or more."""
WORDS: Final = 200
REPEATED: Final = 0.5
"""Part of a page's phrases, on the median of the pages. Of twenty sites of documentation none had above a quarter."""
STITCHED: Final = 0.8
"""The same for phrases that other pages have: the menus of sections are such, and may be half of what pages say."""
_BYTES: Final = 1_000  # a smaller page has no so many words
_SHOWN: Final = 3


def stuffing(view: View) -> list[Suspicion]:
    """Return the sites of whose pages half, at least, is repeated, by some pages of each.

    Raises
    ------
    StoreError
        The journal or the archive is damaged.
    """
    rows: Any = view.state.records.rows[: view.state.records.count]
    rows = rows[np.isin(rows["outcome"], OWN) & (rows["size_bytes"] >= _BYTES) & (rows["flags"] & NEAR == 0)]
    site, left, found = view.state.site_of[rows["host"]], MOST, list[Suspicion]()
    numbers, pages = np.unique(site, return_counts=True)
    largest = np.argsort(-pages, kind="stable")
    order: list[int] = numbers[largest[pages[largest] >= LEAST]].tolist()
    for number in order:
        mine = np.flatnonzero(site == number)
        chosen = mine[:: max(len(mine) // SAMPLE, 1)][: min(SAMPLE, left)]
        left -= len(chosen)
        found += _examined(view, view.state.sites[number], rows[chosen])
    return found


def _examined(view: View, site: str, rows: Any) -> list[Suspicion]:
    read = [(int(row["slot"]), text) for row in rows if len((text := _text(view, row)).split()) >= WORDS]
    if len(read) < LEAST:
        return []
    urls = view.state.urls.get_many(slot for slot, _ in read)
    within, among = np.array([repeated(text) for _, text in read]), stitched([phrases(text) for _, text in read])
    said = "of the phrases of five words occurred before on the page"
    also = "of the phrases of five words are on some others of these pages, too few for a template"
    return [
        *_told(site, urls, within, said, "repeated", REPEATED),
        *_told(site, urls, among, also, "stitched", STITCHED),
    ]


def _told(site: str, urls: list[str], part: Floats, said: str, name: str, least: float) -> list[Suspicion]:
    median = float(np.median(part))
    if median < least:
        return []
    worst: list[int] = np.argsort(-part, kind="stable")[:_SHOWN].tolist()
    reason = f"on the median of {len(urls)} pages {median:.0%} {said}"
    return [Suspicion(KIND, (site,), reason, median, {name: median, "pages": len(urls)}, tuple(urls[i] for i in worst))]


def _text(view: View, row: Any) -> bytes:
    """Return the text of a page as it is in the archive; none where that has it not."""
    event = view.partition.journal.read(int(row["event"]))
    if not isinstance(event, Visit) or event.archive is None:
        return b""
    return content_of(view.partition, event, view.state.urls.get(int(row["slot"]))).text
