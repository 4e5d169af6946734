"""Pages that go to and fro: whether a changed page is as it was before, and how much of it was never there of late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.change.extent import extents

if TYPE_CHECKING:
    from evercrawl.change.base import Flags
    from evercrawl.types import Floats, Ints, Keys

STATES: Final = 4
"""Earlier states that are remembered of each page."""
_CHANGES: Final = 2.0  # that count in a page's share before it has shown any
_NEW: Final = 0.9  # of these, how many bring what is new


class Returns:
    """The last few states of many pages, and how many of their changes led back to one.

    Parameters
    ----------
    pages
        How many there are.
    states
        Earlier states that are remembered, two at least, at 16 bytes each.

    Attributes
    ----------
    changes, returns
        Of each page: changes seen, and those that led back to an earlier state; shape (pages,).
    new
        Of each page the sum over its changes of the part that was in none of the earlier states, shape (pages,).

    Examples
    --------
    A page that goes to and fro between two states, and then shows a third:

    >>> pages = Returns(1)
    >>> for state in (7, 9, 7, 9, 8):
    ...     found = pages.learn(np.array([0]), np.array([state], np.uint64), np.array([1 << state], np.uint64))
    >>> pages.changes, pages.returns
    (array([4.]), array([2.]))
    """

    def __init__(self, pages: int, states: int = STATES) -> None:
        self.changes, self.returns, self.new = np.zeros(pages), np.zeros(pages), np.zeros(pages)
        self._digests: Keys = np.zeros((pages, states), np.uint64)
        self._simhashes: Keys = np.zeros((pages, states), np.uint64)
        self._seen, self._last = np.zeros(pages, np.int64), np.zeros(pages, np.int64)

    def learn(self, rows: Ints, digest: Keys, simhash: Keys) -> tuple[Flags, Floats]:
        """Take in what one visit to each of several pages found, none of them twice.

        Parameters
        ----------
        rows
            Which pages, shape (n,).
        digest
            Of the words of each, shape (n,): equal where they are the same.
        simhash
            Of the words of each, shape (n,): near where they are alike.

        Returns
        -------
        tuple
            Whether each page went back to an earlier state; which part of it was in none of them, 0 where it did not
            change, 1 at the first visit; both of shape (n,).
        """
        seen: Ints = self._seen[rows][:, None]
        first: Flags = seen[:, 0] == 0
        places: Ints = np.arange(self._digests.shape[1], dtype=np.int64)
        states: Flags = np.less(places, seen)
        same: Flags = np.logical_and(states, np.equal(self._digests[rows], digest[:, None]))
        changed = ~first & ~same[np.arange(len(rows)), self._last[rows]]
        returned: Flags = changed & same.any(1)
        apart = np.where(states, extents(simhash[:, None], self._simhashes[rows]), 1.0).min(1)
        new = np.where(first, 1.0, np.where(changed & ~returned, apart, 0.0))
        self.changes[rows] += changed
        self.returns[rows] += returned
        self.new[rows] += np.where(changed, new, 0.0)
        self._last[rows[returned]] = same[returned].argmax(1)
        unknown = first | (changed & ~returned)
        self._keep(rows[unknown], digest[unknown], simhash[unknown])
        return returned, new

    def _keep(self, rows: Ints, digest: Keys, simhash: Keys) -> None:
        """Remember a state, in place of the oldest but for the one the page was in last."""
        states = self._digests.shape[1]
        skipped = (self._seen[rows] > 0) & (self._seen[rows] % states == self._last[rows])
        place = (self._seen[rows] + skipped) % states
        self._digests[rows, place], self._simhashes[rows, place] = digest, simhash
        self._last[rows] = place
        self._seen[rows] += 1 + skipped

    def lasting(self) -> Floats:
        """Return how much a change of each page brings that is new, 0 to 1, shape (pages,): what weights a visit.

        Few changes say little: as if there had been two before, of which each brought nine tenths.
        """
        return (self.new + _CHANGES * _NEW) / (self.changes + _CHANGES)
