"""Predictions about unread pages, learned from read pages of the same site, folder and depth.

Whether an unread page has content of its own is unknown. Its probability is estimated from the pages read in four
nested groups: its kind at its depth, its kind, its site, and the crawl. (Pages of one kind have URLs that differ only
in numbers and parameters, or lie in one folder; see `store.table.folders`.) Each group has a Beta posterior whose prior
is the estimate of the next wider group, with a weight of `PRIOR` pages. Uncertain estimates are increased by a standard
deviation, because reading such pages is informative.

`_ends` judges whether a kind ends: pages of a kind that has shown no end are *held back*, except a few that show
whether it ends. So are pages in groups where most pages read were copies or without content.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.numbering import Numbering
from evercrawl.arrays.saved import SavedRows
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared._ends import (
    CELLS,
    FIRST_LATER,
    GROUP,
    HARDLY,
    LAST,
    LEAVES,
    MET,
    MET_LEAST,
    MOST_VISITS,
    SHOWN,
    TOLD,
    TURN,
    Group,
    believed,
    ended,
    ends_at,
    links_of,
    tries_of,
    with_links,
)
from evercrawl.schedule.shared.host_times import HostTimes
from evercrawl.types import Flags, Floats, Keys, Slots

PRIOR: Final = 4.0
"""Weight of the estimate of the next wider group, in pages."""
USUAL: Final = 0.8
"""Prior fraction of pages with content of their own, before any was read."""
LEAST_USUAL: Final = USUAL / 3.0
"""Least estimate for the pages of an unread site, whatever the pages of other sites turned out to be."""
POOR: Final = 0.2
"""Fraction of pages with own content below which the rest of a group is held back, once `TOLD` pages were read."""
MOSTLY: Final = 0.5
"""The same for a whole site, once `TOLD_OF_SITE` pages were read: copies rarely lead to other content."""
TOLD_OF_SITE: Final = 4
_ODD: Final = 0x9E3779B97F4A7C15
_MASK: Final = (1 << 64) - 1
_MOST: Final = 0xFFFF


class Prospect(NamedTuple):
    """Predictions about unread pages, shape (n,) each.

    Attributes
    ----------
    read, own
        Number of pages read in its folder at its depth; and the probability that it has content of its own.
    doubt
        Standard deviation of that probability.
    of_site
        Number of pages read of its site.
    ends
        Whether its kind is expected to end, and not to consist mostly of copies; otherwise the page is held back.
    tries
        Priority as a trial page that shows whether its kind ends: 0 not now, 1, or 2 if it would be the deepest.
    endless, left
        Whether enough pages of its kind were read without showing an end; and the fraction of its worth that remains.
    poor
        Whether most pages read in its group were copies or without content.
    """

    read: Floats
    own: Floats
    doubt: Floats
    of_site: Floats
    ends: Flags
    tries: Floats
    endless: Flags
    left: Floats
    poor: Flags


class Expects(Protocol):
    """Adds predictions about unread pages to columns."""

    def __call__(self, pages: Pages, hosts: Slots) -> Pages:
        """Return the columns of pages, which are on `hosts`, with predictions for the unread ones."""
        ...

    def turned(self) -> Collection[int]:
        """Return the hosts whose predictions have changed since the last call."""
        ...


class Prospects:
    """Learns from visits, in order, what unread pages turn out to be, and the utilisation of hosts.

    Attributes
    ----------
    times
        Visit times of the hosts.
    turned
        Hosts where the expected end of a kind of pages has changed; the caller clears it.

    Examples
    --------
    In a folder, three pages were read two links deep; all had content, and two of them led nowhere else:

    >>> prospects, one = Prospects(), np.array([7])
    >>> for found in (3, 0, 0):
    ...     prospects.read(host=7, site=7, folder=5, depth=2, visits=9, own=True, found=found)
    >>> expected = prospects.of(one, one, np.array([5]), np.array([3]))
    >>> bool(expected.ends[0]), round(float(expected.own[0]), 2)
    (True, 0.97)
    """

    def __init__(self) -> None:
        self.times = HostTimes()
        self.turned = set[int]()
        self._numbers, self._groups = Numbering(), SavedRows(GROUP)
        self._groups.upto(1)  # the first group is that of all pages
        self._groups.changed.note(0)
        self._numbers.of(np.array([1], np.uint64))

    def read(
        self, host: int, site: int, folder: int, depth: int, *, visits: int, own: bool, found: int, links: int = 0,
        met: int = 0,
    ) -> None:  # fmt: skip
        """Record a page that was read for the first time, or found gone, or redirected.

        Parameters
        ----------
        host, site, folder, depth
            Location of the page; the folder by its mark.
        visits
            Number of visits of its host.
        own
            Whether it has content of its own.
        found
            Number of URLs of its host discovered through it.
        links, met
            Number of its links to URLs of its kind, which are new or no less deep than the page; and how many of these
            were known before.
        """
        keys = [_site_key(site), _folder_key(host, folder), _depth_key(host, folder, depth)]
        numbers: list[int] = self._numbers.of(np.array(keys, np.uint64)).tolist()
        cells, note = self._groups.upto(len(self._numbers)).data, self._groups.changed.note
        places = [number * CELLS.size for number in (0, *numbers)]
        groups = [Group(*CELLS.unpack_from(cells, place)) for place in places]
        _, of_site, of_folder, of_depth = groups
        level = min(depth, _MOST - 1) + 1
        told = of_folder.read >= SHOWN and not ended(of_site, of_folder, level)
        if told and level + min(of_folder.dead, 1) > of_folder.deepest:
            of_site.tried, of_folder.tried = of_site.tried + 1, of_folder.tried + 1
            most = tries_of(of_site.read)
            over = min(max(of_site.tried - most, of_folder.tried - TURN * most), 31.0)
            if over > 0:
                of_site.next = min(int(min(visits + 1, FIRST_LATER) * 2.0**over), MOST_VISITS)
        of_folder.next = with_links(of_folder.next, links, met)
        before = believed(of_site, of_folder)
        leaf = own and not found
        for group in groups:
            group.read += 1
            group.own += own
            group.leaves += leaf
        of_site.first = min(of_site.first or level, level)
        if level > of_folder.deepest:
            of_folder.deepest, of_folder.dead = level, 0
        of_folder.dead = min(of_folder.dead + (not found), _MOST)
        if of_depth.leaves >= max(2, LEAVES * of_depth.read):
            of_site.ends, of_folder.ends = max(of_site.ends, level), max(of_folder.ends, level)
        if believed(of_site, of_folder) != before:
            self.turned.add(host)
        for number, place, group in zip((0, *numbers), places, groups, strict=True):
            note(number)
            CELLS.pack_into(cells, place, *msgspec.structs.astuple(group))

    def of(self, hosts: Slots, sites: Slots, folders: Slots, depths: Slots) -> Prospect:
        """Return predictions about unread pages by their locations, columns of shape (n,)."""
        hosts_8, folders_8, depths_8 = (column.astype(np.uint64) for column in (hosts, folders, depths))
        of_site = self._taken(_site_key(sites.astype(np.uint64)))
        of_folder = self._taken(_folder_key(hosts_8, folders_8))
        of_depth = self._taken(_depth_key(hosts_8, folders_8, depths_8))
        whole = self._groups.upto(1)[0]
        own: Any = max((whole["own"] + 2.0 * USUAL) / (whole["read"] + 2.0), LEAST_USUAL)
        for row in (of_site, of_folder, of_depth):
            own = (row["own"] + PRIOR * own) / (row["read"] + PRIOR)
        level = np.minimum(depths.astype(np.int64), _MOST - 1) + 1
        poor = (of_depth["read"] >= TOLD) & (own < POOR)
        poor |= (of_site["read"] >= TOLD_OF_SITE) & (of_site["own"] < MOSTLY * of_site["read"])
        ends = ends_at(of_site, of_folder, level) & ~poor
        deepest = of_folder["deepest"].astype(np.int64)
        visits = self.times.visits_of(hosts)
        most = tries_of(of_site["read"])
        free = (of_site["tried"] < most) & (of_folder["tried"] < TURN * most)
        free |= (of_site["next"] > 0) & (visits >= of_site["next"])
        endless = ~ends & ~poor & (of_folder["read"] >= SHOWN)
        shows = ~ends & ~poor & (level + np.minimum(of_folder["dead"], 1) > deepest)
        doubt = np.sqrt(own * (1.0 - own) / (of_depth["read"] + PRIOR + 1.0))
        tries = np.where(shows & free, np.where(level > deepest, 2.0, 1.0), 0.0)
        read, told = of_depth["read"].astype(np.float64), of_site["read"].astype(np.float64)
        links, met = links_of(of_folder["next"])
        left = np.where(endless, LAST * np.minimum((met + HARDLY) / (MET * links + MET_LEAST), 1.0), 1.0)
        return Prospect(read, own, doubt, told, ends, tries, endless, left, poor)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the whole state, as arrays that can be stored on disk."""
        return {name: rows.upto(0).copy() for name, rows in self.saved_rows().items()} | self.rest()

    def saved_rows(self) -> dict[str, SavedRows]:
        """Return the part of the state that is saved block by block."""
        return {"groups": self._groups, "keys": self._numbers.known, **self.times.saved_rows()}

    def rest(self) -> dict[str, NDArray[Any]]:
        """Return the rest of the state; `resume` takes it."""
        return self.times.rest()

    def resume(self, rest: dict[str, NDArray[Any]]) -> None:
        """Resume from `rest`, after the saved rows have been restored.

        Raises
        ------
        ValueError, KeyError
            The state is of another kind.
        """
        self.times.resume(rest)
        self._numbers.loaded()

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Resume from the result of `state`.

        Raises
        ------
        ValueError, KeyError
            The state is not valid; nothing was restored.
        """
        groups, keys = state["groups"], state["keys"]
        if groups.dtype != GROUP or keys.dtype != np.uint64 or len(groups) != len(keys) or not len(keys):
            raise ValueError("the state does not hold the groups of unread pages")
        self.times.restore(state)
        self._groups.restore(groups)
        self._numbers.restore(keys)

    def size_bytes(self) -> int:
        """Return the memory use in bytes."""
        return self._groups.nbytes + self._numbers.nbytes + self.times.size_bytes()

    def _taken(self, keys: Keys) -> NDArray[Any]:
        """Return the groups of keys; zeros for groups without read pages."""
        return self._groups.take(self._numbers.find(keys))


def _site_key(site: Any) -> Any:
    return _mixed(site << 2 | 1) if isinstance(site, int) else _spread(site << np.uint64(2) | np.uint64(1))


def _folder_key(host: Any, folder: Any) -> Any:
    if isinstance(host, int):
        return _mixed((host << 6 | folder) << 18 | 2)
    return _spread((host << np.uint64(6) | folder) << np.uint64(18) | np.uint64(2))


def _depth_key(host: Any, folder: Any, depth: Any) -> Any:
    if isinstance(host, int):
        return _mixed(((host << 6 | folder) << 16 | depth) << 2 | 3)
    return _spread(((host << np.uint64(6) | folder) << np.uint64(16) | depth) << np.uint64(2) | np.uint64(3))


def _mixed(key: int) -> int:
    return key * _ODD & _MASK


def _spread(keys: Keys) -> Keys:
    return keys * np.uint64(_ODD)
