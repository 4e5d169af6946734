"""Regression features of a page from its address, depth and media type, and its exposure to readers.

Exposure is a page's opportunity to be opened: the usual number of openings at the positions where it was shown.

References
----------
Good (1953). The population frequencies of species and the estimation of population parameters.
"""

import math
import re
from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from evercrawl.model.worth.positions import click_chances
from evercrawl.model.worth.usage_counts import UsageCounts
from evercrawl.parse.dynamic import dynamic
from evercrawl.store.records.media_kind import DATA, DOCUMENT, MEDIA, UNKNOWN
from evercrawl.store.state import State
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import Floats


class ReaderExposure(NamedTuple):
    """The exposure of pages, in usual openings at the positions where they were shown.

    Attributes
    ----------
    column
        For each page named by queries, by its row in the counts.
    mean
        Mean over read pages, which are those that could be shown.
    hidden
        Of a page read but never shown: all of these together have the share of exposure that Good's estimate leaves
        to the unseen, but none has more than the mean.
    """

    column: Floats
    mean: float
    hidden: float


def exposure_of(counts: UsageCounts, state: State) -> ReaderExposure:
    """Return the exposure reported so far, given the pages the crawl has read."""
    shown_at = counts.shown_at
    column = shown_at @ click_chances(counts.clicks_at, shown_at.sum(0, dtype=np.int64))
    known = counts.slots()
    times = counts.of(counts.shown, known)
    known, times = known[times > 0], times[times > 0]
    read = int(np.count_nonzero(state.table.record.take(known) < NO_RECORD))
    total, could = float(counts.of(column, known).sum()), state.records.count + len(known) - read
    mean, unseen = total / max(could, 1), (float(np.count_nonzero(times == 1)) + 1.0) / (float(times.sum()) + 1.0)
    return ReaderExposure(column, mean, min(unseen * total / max(state.records.count - read, 1), mean))


NAMES: Final = (
    "depth", "length", "folders", "front", "folder", "query", "dynamic", "dated", "numbered", "document", "data",
    "media",
)  # fmt: skip
_ENDING: Final = re.compile(r"\.([a-z0-9]{2,5})$", re.IGNORECASE)
_DATED: Final = re.compile(r"/(?:19|20)\d\d(?:[/-]|$)")
_KINDS: Final = (
    (DOCUMENT, frozenset(("pdf", "ps", "doc", "docx", "odt", "ppt", "pptx", "xls", "xlsx", "epub", "djvu"))),
    (DATA, frozenset(("xml", "rss", "atom", "json", "csv", "txt", "zip", "gz", "tar", "rdf", "ics", "js", "css"))),
    (MEDIA, frozenset(("png", "jpg", "jpeg", "gif", "svg", "webp", "mp3", "mp4", "avi", "webm", "ogg"))),
)


def features(urls: Sequence[str], depths: Sequence[int], kinds: Sequence[int] | None = None) -> Floats:
    """Return the features of pages, shape (n, len(NAMES)).

    Parameters
    ----------
    urls, depths
        Normalised addresses, and links from a seed.
    kinds
        The kind by media type (`store.records.media_kind`); if unknown, it is guessed from the address's suffix.

    Examples
    --------
    >>> row = features(["http://a.example/2024/tea.pdf"], [4])[0]
    >>> {name: float(value) for name, value in zip(NAMES, row.round(2)) if value}
    {'depth': 2.0, 'length': -0.79, 'folders': 0.69, 'dated': 1.0, 'numbered': 0.31, 'document': 1.0}
    """
    kinds = [UNKNOWN] * len(urls) if kinds is None else kinds
    rows = [_row(url, depth, kind) for url, depth, kind in zip(urls, depths, kinds, strict=True)]
    return np.array(rows, np.float64).reshape(len(rows), len(NAMES))


def _row(url: str, depth: int, known: int) -> tuple[float, ...]:
    parts = urlsplit(url)
    path, folders = parts.path, parts.path.count("/") - 1
    ending = _ENDING.search(path)
    said = ending[1].lower() if ending else ""
    kinds = [said in endings if known == UNKNOWN else known == kind for kind, endings in _KINDS]
    return (
        math.sqrt(depth),
        math.log(len(url) / 64.0),
        math.log1p(folders),
        path == "/" and not parts.query,
        path.endswith("/") and path != "/",
        bool(parts.query),
        dynamic(url),
        _DATED.search(path) is not None,
        sum(map(str.isdigit, path)) / len(path) if path else 0.0,
        *kinds,
    )
