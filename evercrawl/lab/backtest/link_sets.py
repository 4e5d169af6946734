"""The link sets of pages at any instant, from a history's link log."""

import numpy as np

from evercrawl.lab.backtest.truth import Truth
from evercrawl.lab.histories import History
from evercrawl.types import Ints, Keys


class LinkSets:
    """The pages that each page links to, except itself; pages that are not replayed are included.

    Parameters
    ----------
    history, pages
        The history, and its part that is replayed, whose pages are asked for by their numbers there.
    """

    def __init__(self, history: History, pages: Truth) -> None:
        number = np.full(len(history), -1)
        number[pages.row] = np.arange(len(pages))
        log = history.links
        kept = np.flatnonzero((number[log.source] >= 0) & (log.source != log.target))
        kept = kept[np.argsort(number[log.source[kept]], kind="stable")]  # by source, then by time
        source, at, present = number[log.source[kept]], log.at[kept], log.present[kept]
        self._target: Ints = log.target[kept]
        self._first = np.searchsorted(source, np.arange(len(pages) + 1))
        self._instants = np.unique(at)
        self._key = self._keys(source, np.searchsorted(self._instants, at))
        comes, goes = _turns(source, self._target, present)
        keys = np.random.default_rng(1).integers(1, 1 << 63, len(history), np.uint64)[self._target]
        self._count: Ints = np.r_[0, np.cumsum(comes.astype(np.int64) - goes)]
        self._set: Keys = np.bitwise_xor.accumulate(np.r_[np.uint64(0), np.where(comes | goes, keys, np.uint64(0))])
        self._present = present

    def _keys(self, source: Ints, instant: Ints | int) -> Ints:
        return source * (len(self._instants) + 1) + instant

    def _upto(self, rows: Ints, now: float) -> Ints:
        """Return the index of each page's first log entry after `now`."""
        return np.searchsorted(self._key, self._keys(rows, int(np.searchsorted(self._instants, now, "right"))))

    def counts(self, rows: Ints, now: float) -> Ints:
        """Return the number of link targets of pages at an instant, shape (n,)."""
        return np.asarray(self._count[self._upto(rows, now)] - self._count[self._first[rows]])

    def keys(self, rows: Ints, now: float) -> Keys:
        """Return a key of each page's set of link targets at an instant: equal for equal sets, 0 if empty; (n,)."""
        return np.asarray(self._set[self._upto(rows, now)] ^ self._set[self._first[rows]])

    def targets(self, row: int, now: float) -> Ints:
        """Return the pages that one page links to at an instant, by their numbers in the history, ascending."""
        log = slice(int(self._first[row]), int(self._upto(np.array([row]), now)[0]))
        latest, place = np.unique(self._target[log][::-1], return_index=True)
        return np.asarray(latest[self._present[log][::-1][place]])


def _turns(source: Ints, target: Ints, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows of a log begin a link that did not exist, and which end one that did.

    >>> page, present = np.zeros(4, np.int64), np.array([False, True, True, False])
    >>> [rows.nonzero()[0].tolist() for rows in _turns(page, page, present)]
    [[1], [3]]
    """
    order = np.lexsort((np.arange(len(source)), target, source))
    again = np.r_[False, (source[order][1:] == source[order][:-1]) & (target[order][1:] == target[order][:-1])]
    before = np.empty(len(source), np.bool_)
    before[order] = again[: len(order)] & np.r_[False, present[order][:-1]][: len(order)]
    return present & ~before, before & ~present
