"""What can be told of a page by its address, the way to it and its media type: numbers for a regression, near one."""

import math
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import numpy as np

from evercrawl.parse.dynamic import dynamic
from evercrawl.store.records.media_kind import DATA, DOCUMENT, MEDIA, UNKNOWN
from evercrawl.types import Floats

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
        Normalised addresses, and how many links led there from a seed.
    kinds
        What kind of thing each is by its media type (`store.records.media_kind`); where that is unknown the
        address's ending tells.

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
