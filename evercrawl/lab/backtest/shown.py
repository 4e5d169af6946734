"""Additional observations of polls for policies that need them: links, discovered pages, and bytes."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.lab.backtest.discovery import LinkedFirst
from evercrawl.lab.backtest.link_sets import LinkSets
from evercrawl.lab.backtest.places import looks_of
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.backtest.truth import Truth
from evercrawl.lab.histories import History
from evercrawl.schedule.abilities import Learns
from evercrawl.schedule.base import Policy
from evercrawl.schedule.pages import Facts
from evercrawl.types import Floats, Ints, Keys

SIZE_BYTES: Final = 10_000.0
"""Assumed size of a page whose size is not recorded or not needed."""
ANCHOR_BYTES: Final = 16.0
"""Assumed size of a link's text, which histories do not record."""
WORD_BYTES: Final = 6.0
"""Assumed size of a word in the index with its space; histories record the number of words."""


class Shown(NamedTuple):
    """Links and bytes that visits observe, as columns of `Visits`, shape (n,) each."""

    size: Floats
    links: Ints
    relinked: NDArray[np.bool_]


class PolledLinks:
    """The links that polls observe, and which of them are new.

    Parameters
    ----------
    history, pages
        The history, and its part that is replayed.
    """

    def __init__(self, history: History, pages: Truth) -> None:
        self._sets, self._size_bytes = LinkSets(history, pages), pages.size_bytes
        self._held: Keys = np.zeros(len(pages), np.uint64)

    def polled(self, rows: Ints, version: Ints, read: NDArray[np.bool_], first: NDArray[np.bool_], now: float) -> Shown:
        """Return the observations of polls; none for gone pages.

        Parameters
        ----------
        rows, version
            The pages, and the numbers of the versions that were found.
        read, first
            Which pages exist, and which were never polled before.
        now
            The time of the polls.
        """
        keys = np.where(read, self._sets.keys(rows, now), self._held[rows])
        relinked = read & ~first & (keys != self._held[rows])
        self._held[rows] = keys
        links = np.where(read, self._sets.counts(rows, now), 0)
        return Shown(sizes(self._size_bytes, version, read), links, relinked)


class KnownFacts:
    """Known facts about pages and URLs, as `Facts`: sizes of texts as found, and links of polled pages.

    A history has no words. Therefore each link has an assumed size, a page's abstract has the size of its text, and no
    page matches any query. A history does not record the distance from a seed either; the depth in folders replaces it.

    Parameters
    ----------
    history, pages
        The history, and its part that is replayed.
    """

    def __init__(self, history: History, pages: Truth) -> None:
        self._sets, self._pages = LinkSets(history, pages), pages
        self._number: Ints = np.full(len(history), -1)
        self._number[pages.row] = np.arange(len(pages))
        self._held: Keys = np.zeros(len(pages), np.uint64)
        self._targets = dict[int, Ints]()
        depth, url_bytes, dynamic = looks_of([history.paths[row] for row in pages.row.tolist()])
        self.facts = Facts(depth, url_bytes, dynamic, *(np.zeros(len(pages)) for _ in range(5)))

    def polled(self, rows: Ints, version: Ints, read: NDArray[np.bool_], now: float) -> None:
        """Record the observations of polls; see `PolledLinks.polled`."""
        facts, text_bytes = self.facts, sizes(self._pages.size_bytes, version, read)
        words = np.where(read, self._pages.words[np.where(read, version, 0)], 0)
        facts.text_bytes[rows] = facts.abstract_bytes[rows] = text_bytes
        facts.index_bytes[rows] = np.where(words < 0, text_bytes, WORD_BYTES * words)
        keys = np.where(read, self._sets.keys(rows, now), np.uint64(0))
        for row in rows[keys != self._held[rows]].tolist():
            self._relink(row, now)
        self._held[rows] = keys

    def _relink(self, row: int, now: float) -> None:
        """Replace the counted links of a page by its present ones."""
        targets = self._number[self._sets.targets(row, now)]
        targets = targets[targets >= 0]
        self.facts.anchor_bytes[self._targets.pop(row, targets[:0])] -= ANCHOR_BYTES
        self.facts.anchor_bytes[targets] += ANCHOR_BYTES
        self._targets[row] = targets


def sizes(size_bytes: Ints, version: Ints, read: NDArray[np.bool_]) -> Floats:
    """Return the sizes of versions that were found, shape (n,): 0 for gone pages, an assumed size if unknown.

    >>> sizes(np.array([500, -1]), np.array([0, 1, 0]), np.array([True, True, False])).tolist()
    [500.0, 10000.0, 0.0]
    """
    found = np.where(read, size_bytes[np.where(read, version, 0)], 0).astype(np.float64)
    return np.where(found < 0, SIZE_BYTES, found)


class Shows(NamedTuple):
    """The observers of polls that a policy needs.

    Attributes
    ----------
    linked
        Discovery of pages by links.
    links
        Links, for policies that count them.
    facts
        Facts, for policies that need them.
    """

    linked: LinkedFirst | None = None
    links: PolledLinks | None = None
    facts: KnownFacts | None = None


def shows(history: History, pages: Truth, policy: Policy, setting: ReplaySetting) -> Shows:
    """Return the observers that a policy needs; expensive ones only on demand."""
    counts_links = isinstance(policy, Learns) and policy.counts_links
    linked = LinkedFirst(history, pages) if counts_links or setting.discovery == "links" else None
    links = PolledLinks(history, pages) if counts_links else None
    return Shows(linked, links, KnownFacts(history, pages) if "facts" in policy.needs else None)
