"""A long-term scheduler that selects pages, and a short-term scheduler that orders their hosts.

The long-term scheduler picks a batch: the pages whose visit adds most. Until the batch is finished, its pages come
before all others, and the short-term scheduler orders them by host.
"""

from typing import Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows, grown
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.types import Floats, Ints, Slots

Order: TypeAlias = Literal["largest", "queued", "round_robin"]
ORDERS: Final = get_args(Order)
"""Orders of hosts: most pages left in the batch first, most unread pages first, or in turn."""
_PATIENCE: Final = 2.0  # the rest of a batch is dropped after this many times its planned duration


class ChileBatch:
    """The pages that come before all others for a number of visits.

    Attributes
    ----------
    size
        Planned number of visits.
    left
        Number of visits still to make; 0 before the first batch.
    least
        Gain of a visit to the last page picked; unread pages with at least this gain belong to the batch. nan before
        the first batch.
    """

    def __init__(self) -> None:
        self.size = self.left = 0
        self.least = np.nan
        self._number = self._most_of_site = 0
        self._until = -np.inf
        self._new = 0  # visits of the batch to unread pages
        self._of = Rows([("batch", "u4")])  # by slot
        self._waiting: Ints = np.zeros(1, np.int64)  # by host: pages in the batch not visited yet
        self._made: Ints = np.zeros(1, np.int64)  # by host: visits since the batch was picked
        self._of_site: Ints = np.zeros(1, np.int64)  # by site: visits since the batch was picked

    def going(self, now: float) -> bool:
        """Return whether the batch is neither finished nor overdue."""
        return self.left > 0 and now < self._until

    def pick(self, gains: Floats, pages: Pages, size: int, most_of_site: int, now: float, length_s: float) -> None:
        """Pick the pages with the greatest gains, up to a limit per site.

        Unread pages are not candidates here. They join by `least`, so the batch leaves as many places for them as they
        took in the previous batch.

        Parameters
        ----------
        gains, pages
            Shape (n,) each, n > 0.
        size
            Size of the batch, in visits.
        most_of_site
            Maximum number of pages of a site.
        now, length_s
            The instant, and the planned duration of the batch.
        """
        self._most_of_site = most_of_site
        share = self._new / (self.size - self.left) if self.left < self.size else 0.0
        chosen = _best(gains, pages.site, min(max(round(size * (1 - share)), 1), len(gains)), most_of_site)
        self._number += 1
        self._of.upto(int(pages.slot.max()) + 1)["batch"][pages.slot[chosen]] = self._number
        hosts = pages.host[chosen] if pages.host is not None else np.zeros(0, np.uint32)
        self._waiting = np.bincount(hosts, minlength=1)
        self._made, self._of_site = np.zeros(1, np.int64), np.zeros(1, np.int64)
        self.least = float(gains[chosen].min())
        self.size = self.left = size
        self._new, self._until = 0, now + _PATIENCE * length_s

    def made(self, visits: int, new: int) -> None:
        """Record that visits to pages of the batch begin, and how many of these pages were unread."""
        self.left = max(self.left - visits, 0)
        self._new += min(new, visits)

    def learn(self, visits: Visits) -> None:
        """Record completed visits: their pages no longer wait."""
        if not self._number or not len(visits):
            return
        rows = self._of.upto(int(visits.slot.max()) + 1)["batch"]
        was = rows[visits.slot] == self._number
        rows[visits.slot] = 0
        self._of_site = grown(self._of_site, int(visits.site.max()) + 1)
        np.add.at(self._of_site, visits.site, 1)
        if visits.host is not None:
            most = int(visits.host.max()) + 1
            self._waiting, self._made = grown(self._waiting, most), grown(self._made, most)
            np.subtract.at(self._waiting, visits.host[was], 1)
            np.add.at(self._made, visits.host, 1)

    def drop(self) -> None:
        """Drop the rest of the batch; the next batch is picked without regard to this one."""
        self.size = self.left = self._new = 0
        self.least, self._until = np.nan, -np.inf

    def holds(self, gains: Floats, pages: Pages, new: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which pages belong to the batch, shape (n,); none if it is finished."""
        if not self.left:
            return np.zeros(len(gains), np.bool_)
        worthy = gains >= self.least
        if pages.site is not None:
            worthy &= _at(self._of_site, pages.site) < self._most_of_site
        held: NDArray[np.bool_] = np.where(new, worthy, self._of.take(pages.slot)["batch"] == self._number)
        return held

    def rank(self, pages: Pages, order: str) -> Floats:
        """Return the rank of each page's host, shape (n,), from 0 on: a higher rank is requested sooner."""
        if pages.host is None:
            return np.zeros(len(pages.slot))
        if order == "queued":
            return pages.host_backlog if pages.host_backlog is not None else np.zeros(len(pages.slot))
        if order == "largest":
            return np.maximum(_at(self._waiting, pages.host), 0).astype(np.float64)
        return np.maximum(self.size - _at(self._made, pages.host), 0).astype(np.float64)

    def slots(self) -> Slots:
        """Return the slots of the batch's pages not visited yet; unread pages are not listed."""
        rows = self._of.upto(0)["batch"]
        return np.flatnonzero(rows == self._number).astype(np.uint32) if self.left else np.zeros(0, np.uint32)


def _best(gains: Floats, site: Slots | None, count: int, most_of_site: int) -> Ints:
    """Return up to `count` rows with the greatest gains, at least one; ties go to the first.

    >>> _best(np.array([1.0, 4.0, 3.0, 2.0]), np.array([0, 1, 1, 2], np.uint32), 2, 1)
    array([1, 3])
    """
    order = np.argsort(-gains, kind="stable")
    if site is not None:
        together = np.argsort(site[order], kind="stable")  # by site, and within a site by gain
        first = np.concatenate([[True], np.diff(site[order][together].astype(np.int64)) != 0])
        place = np.arange(len(order)) - np.flatnonzero(first)[np.cumsum(first) - 1]
        within = np.empty(len(order), np.bool_)
        within[together] = place < most_of_site
        order = order[within]
    return order[:count]


def _at(column: Ints, number: Slots) -> Ints:
    return np.where(number < len(column), column.take(number, mode="clip"), 0)
