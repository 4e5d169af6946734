"""Index-like pages: pages with many, changing links and little text, which are visited for the pages they lead to."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.pages import Visits
from evercrawl.schedule.shared.checked import checks_among
from evercrawl.types import Flags, Floats, Slots

_ROW: Final = [
    ("links", "f4"),
    ("size", "f4"),
    ("relinked", "u4"),
    ("checks", "u4"),
    ("found", "f4"),
    ("watched_s", "f4"),
]


class IndexPages:
    """Recognises index-like pages by links and bytes of text, and measures the new pages found per visit.

    The first visit does not count, because all pages that a page links to may be new then.
    """

    def __init__(self) -> None:
        self._kept = Rows(_ROW)

    def learn(self, visits: Visits) -> None:
        """Learn from visits, at most one per page."""
        rows = self._kept.upto(int(visits.slot.max(initial=0)) + 1)
        row, check = rows[visits.slot], checks_among(visits)
        for name, now in (("links", visits.links), ("size", visits.size)):
            row[name] = np.where(visits.read, now, row[name])
        row["relinked"] += visits.relinked & check
        row["checks"] += check
        row["found"] += np.where(check, visits.found, 0)
        row["watched_s"] += np.where(check, np.maximum(visits.interval_s, 0.0), 0.0)
        rows[visits.slot] = row

    def alike(self, slots: Slots, links: float, size_bytes: float) -> Flags:
        """Return which pages are index-like, shape (n,).

        They have at least `links` links and at most `size_bytes` bytes of text per link, and their links changed at an
        earlier visit.
        """
        row = self._kept.take(slots)
        found: Flags = (row["links"] >= links) & (row["size"] <= size_bytes * row["links"]) & (row["relinked"] > 0)
        return found

    def found(self, slots: Slots) -> Floats:
        """Return the mean number of new pages per visit to a page, shape (n,)."""
        row = self._kept.take(slots)
        return np.asarray(row["found"] / np.maximum(row["checks"], 1), np.float64)

    def expected(self, slots: Slots, waited_s: Floats) -> Floats:
        """Return the expected number of new pages of a visit, given the time since the last one, shape (n,)."""
        row = self._kept.take(slots)
        return np.asarray(row["found"] / np.maximum(row["watched_s"], 1.0) * waited_s, np.float64)

    def take(self, slots: Slots) -> NDArray[Any]:
        """Return copies of the rows of pages, shape (n,)."""
        return self._kept.take(slots)
