"""A recorded history: when the pages of some sites appeared, changed and vanished, and their links."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.types import Ints, Keys

APPEARED: Final = 0
CHANGED: Final = 1
REMOVED: Final = 2
TECHNICAL: Final = 3
"""The kinds of events. A technical event is a change by the recorder, not by the page."""


@dataclass(frozen=True)
class LinkLog:
    """Births and deaths of links, sorted by time; one row each.

    Attributes
    ----------
    at
        Seconds since the epoch.
    source, target
        Page numbers. A target may be named before its page exists.
    present
        Whether the link from source to target exists from then on, or no longer exists.
    """

    at: Ints
    source: Ints
    target: Ints
    present: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.at)


@dataclass(frozen=True)
class CrawlSeen:
    """Information that only a crawl has about its pages, because it knows its visits.

    Attributes
    ----------
    until
        Time of each page's last visit, in whole seconds since the epoch, shape (pages,); nothing later is known.
    born
        Whether each page is known to have been created when it first appeared, shape (pages,); others may be older.
    types, titles
        Media type and title of each page, "" for none, shape (pages,).
    look, look_at
        Page and time of every visit that found the page, sorted by time, shape (looks,).
    """

    until: Ints
    born: NDArray[np.bool_]
    types: tuple[str, ...]
    titles: tuple[str, ...]
    look: Ints
    look_at: Ints


_NONE: Final[Ints] = np.zeros(0, np.int64)
NO_LINKS: Final = LinkLog(_NONE, _NONE, _NONE, np.zeros(0, np.bool_))


@dataclass(frozen=True)
class History:
    """The events of pages; row i of the first seven columns is event i, sorted by time.

    Attributes
    ----------
    name
        The history's name.
    at
        Time at which the new state was published or recorded, in whole seconds since the epoch, shape (events,).
    page
        Page number, from 0.
    op
        APPEARED, CHANGED, REMOVED or TECHNICAL.
    size_bytes, words
        Size and number of words of the content after the event; -1 if unknown.
    simhash
        Similarity hash of the words: a small Hamming distance to the version before is a small change.
    content
        Hash of the bytes: equal values on one page are equal states.
    paths
        Path of each page, similar to its URL's path, or its URL; shape (pages,).
    site
        Index of each page's site in `sites`.
    sites
        Names of the sites.
    links
        The log of links between pages.
    seen
        The times of visits, if known; None if the record has every change.
    """

    name: str
    at: Ints
    page: Ints
    op: NDArray[np.int8]
    size_bytes: Ints
    words: Ints
    simhash: Keys
    content: Keys
    paths: tuple[str, ...]
    site: Ints
    sites: tuple[str, ...]
    links: LinkLog = NO_LINKS
    seen: CrawlSeen | None = None

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.paths)
