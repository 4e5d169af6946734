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
"""What an event is. A technical one is a change of what was recorded, by the recorder's own doing: none of the page."""


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
        When each page was last looked at, whole seconds since the epoch, shape (pages,): what it did then is not known.
    born
        Whether each page is known to have come to be when it first appeared, shape (pages,); others may be older.
    types, titles
        Media type and title of each, "" where there is none, shape (pages,).
    look, look_at
        Page and instant of every look that saw the page, sorted by time, shape (looks,).
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
        When the new state was published, or recorded, in whole seconds since the epoch, shape (events,).
    page
        Page number, from 0.
    op
        APPEARED, CHANGED, REMOVED or TECHNICAL.
    size_bytes, words
        After the event: of the content, and how many words it has; -1 where unknown.
    simhash
        Of the words: a small Hamming distance to the version before is a small change.
    content
        Of the bytes: equal values on one page are equal states.
    paths
        Of each page, near its URL's path, or its URL, shape (pages,).
    site
        Index of each page's site in `sites`.
    sites
        Names.
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
