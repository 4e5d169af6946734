"""Pages that go to and fro between few versions: what they come back to is no news, and what counts is what lasts.

Of each page the last four versions are remembered, by 16 bits of their digests. A change that brings back one of them
is a return, not a change; the part of a page's changes that are none says how much slower it changes for good than it
does at all.
"""

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.saved import SavedRows
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.types import Floats, Slots

VERSIONS: Final = 4
_KIND: Final = np.dtype([("digest", "u2", (VERSIONS,)), ("changes", "u2"), ("returns", "u2")])
_MOST: Final = 0xFFFF
_USUAL: Final = 2.0
"""Changes that last, which each page is thought to have shown before any was seen."""


class EarlierVersions:
    """Tells of each change whether it brought a page back to what it was; takes 12 bytes a page.

    Attributes
    ----------
    rows
        What is remembered, saved block by block.

    Examples
    --------
    A page is seen in versions 7, 8, 7 and 9, and then there is one return among its three changes:

    >>> from evercrawl.schedule import Pages
    >>> versions, row = EarlierVersions(), np.zeros(1, np.uint32)
    >>> [bool(versions.learn(row, np.array([digest], np.uint32), np.array([digest != 7 or i > 0]))[0])
    ...  for i, digest in enumerate((7, 8, 7, 9))]
    [False, False, True, False]
    >>> versions.lasting(row).tolist()
    [0.8]
    """

    def __init__(self) -> None:
        self.rows = SavedRows(_KIND)

    def learn(self, rows: Slots, digests: Slots, changed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Take note of what pages were, no page twice, and return which came back to what they had been, shape (n,).

        Parameters
        ----------
        rows, digests, changed
            Which pages; digests of what was read; and whether that is another than at the visit before.
        """
        if not len(rows):
            return np.zeros(0, np.bool_)
        table: Any = self.rows.upto(int(rows.max()) + 1)
        held: Any = table["digest"][rows]
        now = ((digests ^ digests >> np.uint32(16)) & np.uint32(_MOST)).astype(np.uint16)
        now[now == 0] = 1
        again: Any = held == now[:, None]
        returned: NDArray[np.bool_] = changed & again.any(axis=1)
        order: Any = np.argsort(again, axis=1, kind="stable")[:, : VERSIONS - 1]  # the others, the latest first
        table["digest"][rows] = np.concatenate((now[:, None], np.take_along_axis(held, order, axis=1)), axis=1)
        room = table["changes"][rows] < _MOST
        table["changes"][rows] += changed & room
        table["returns"][rows] += returned & room
        self.rows.note(rows)
        return returned

    def heed(self, visits: Visits) -> Visits:
        """Take note of visits, and return them as they are where a return is no change."""
        if visits.digest is None:
            return visits
        lasting = self.lasting(visits.rows)  # as it was before these visits
        read = visits.read & ~visits.gone
        returned = np.zeros(len(visits), np.bool_)
        rows = visits.rows[read]
        returned[read] = self.learn(rows, visits.digest[read], visits.changed[read])
        by_time = visits.fresh_by_time
        if by_time is not None:
            by_time = by_time**lasting  # the belief of all changes, as one of those that last
        age_s = np.where(returned, np.nan, visits.age_s)
        return replace(visits, changed=visits.changed & ~returned, age_s=age_s, fresh_by_time=by_time)

    def lasting(self, rows: Slots) -> Floats:
        """Return which part of the changes of pages are no returns, shape (n,)."""
        found: Any = self.rows.take(rows)
        changes, returns = found["changes"].astype(np.float64), found["returns"]
        parts: Floats = (changes - returns + _USUAL) / (changes + _USUAL)
        return parts

    def slowed(self, pages: Pages) -> Pages:
        """Return pages with rates of the changes that last."""
        return replace(pages, scale_s=pages.scale_s / self.lasting(pages.rows))
