"""Sites whose pages repeat the same phrases, or are assembled from a stock of phrases."""

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
"""Number of pages read per site."""
MOST: Final = 4_000
"""Maximum number of pages read in all, largest sites first; one page takes about two milliseconds."""
LEAST: Final = 8
"""Minimum number of pages for a verdict, each with at least `WORDS` words."""
WORDS: Final = 200
REPEATED: Final = 0.5
"""Minimum share of repeated phrases on the median page; none of twenty documentation sites exceeded a quarter."""
STITCHED: Final = 0.8
"""The same for phrases found on other pages; section menus are such phrases, and may be half of a page."""
_BYTES: Final = 1_000  # a smaller page has fewer than `WORDS` words
_SHOWN: Final = 3


def stuffing(view: View) -> list[Suspicion]:
    """Return the sites on which the median page repeats or shares too many phrases, judged by a sample of pages.

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
    also = "of the phrases of five words are on some other pages of the sample, too few for a template"
    return [
        *_told(site, urls, within, said, "repeated", REPEATED),
        *_told(site, urls, among, also, "stitched", STITCHED),
    ]


def _told(site: str, urls: list[str], part: Floats, said: str, name: str, least: float) -> list[Suspicion]:
    median = float(np.median(part))
    if median < least:
        return []
    worst: list[int] = np.argsort(-part, kind="stable")[:_SHOWN].tolist()
    reason = f"on the median page of {len(urls)}, {median:.0%} {said}"
    return [Suspicion(KIND, (site,), reason, median, {name: median, "pages": len(urls)}, tuple(urls[i] for i in worst))]


def _text(view: View, row: Any) -> bytes:
    """Return the archived text of a page; empty if it is not archived."""
    event = view.partition.journal.read(int(row["event"]))
    if not isinstance(event, Visit) or event.archive is None:
        return b""
    return content_of(view.partition, event, view.state.urls.get(int(row["slot"]))).text
