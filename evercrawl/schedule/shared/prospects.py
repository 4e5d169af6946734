"""What unread pages turned out to be once they were read, by site, folder and depth: what to expect of the next ones.

Of a page that nobody has read it is not known whether it has content of its own. What others were tells it: of how many
that were read of its kind of address at its depth, of its kind, of its site and anywhere (a kind is told by
`store.table.folders`: its folder, and what is counted in it), each told by the next wider group as far as it has few of
its own (a Beta belief whose prior is worth `PRIOR` pages). The more it is in doubt the more there
is to learn: a standard deviation is added.

Whether a kind ends is told by `_ends`: pages of one that has shown no end are *held back*, but for a few that show
whether it does. So are pages where most of those before turned out to be copies, or none at all.
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
"""Pages that what is expected of a wider group counts for."""
USUAL: Final = 0.8
"""Part of all pages that have content of their own, before any was read."""
POOR: Final = 0.2
"""Part of pages with content of their own below which the rest is held back, once `TOLD` were read."""
MOSTLY: Final = 0.5
"""The same for a whole site, once `TOLD_OF_SITE` were read: what copies make known seldom is more."""
TOLD_OF_SITE: Final = 4
_ODD: Final = 0x9E3779B97F4A7C15
_MASK: Final = (1 << 64) - 1
_MOST: Final = 0xFFFF


class Prospect(NamedTuple):
    """What is to be expected of unread pages, shape (n,) each.

    Attributes
    ----------
    read, own
        Pages read in its folder at its depth; and the probability that it has content of its own.
    doubt
        The standard deviation of that.
    of_site
        Pages read of its site.
    ends
        Whether its kind is believed to end, and not to be mostly copies; else it is held back.
    tries
        How much it is wanted to see whether its kind ends: 0 not now, 1, or 2 where it would be the deepest.
    endless, left
        Whether enough of its kind was read, and has shown no end; what is then left of what it would be worth.
    poor
        Whether most that were read where it is turned out to be copies, or none at all.
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
    """Says what is to be expected of unread pages."""

    def __call__(self, pages: Pages, hosts: Slots) -> Pages:
        """Return the columns of pages, which are on `hosts`, with what is expected of those that were never read."""
        ...

    def turned(self) -> Collection[int]:
        """Return the hosts of which something else is expected since the last call."""
        ...


class Prospects:
    """Learns from visits, in order, what unread pages turn out to be, and how much of their time hosts are asked.

    Attributes
    ----------
    times
        Of the hosts.
    turned
        Hosts where a kind of pages is believed to end that was not before, or the other way round; for the caller to
        clear.

    Examples
    --------
    Of a folder, three pages were read two links deep; all had content, and two of them led nowhere else:

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
        self._groups.upto(1)  # the first is that of all pages
        self._groups.changed.note(0)
        self._numbers.of(np.array([1], np.uint64))

    def read(
        self, host: int, site: int, folder: int, depth: int, *, visits: int, own: bool, found: int, links: int = 0,
        met: int = 0,
    ) -> None:  # fmt: skip
        """Take note of a page that was read for the first time, or found gone, or to lead elsewhere.

        Parameters
        ----------
        host, site, folder, depth
            Where it is; the folder by its mark.
        visits
            How many its host has had.
        own
            Whether it has content of its own.
        found
            How many URLs of its host it made known.
        links, met
            How many links to URLs of its kind it has, those that it made known and those that are no less deep than it
            is; and how many of these were known before.
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
        """Return what to expect of unread pages by where they are, columns of shape (n,)."""
        hosts_8, folders_8, depths_8 = (column.astype(np.uint64) for column in (hosts, folders, depths))
        of_site = self._taken(_site_key(sites.astype(np.uint64)))
        of_folder = self._taken(_folder_key(hosts_8, folders_8))
        of_depth = self._taken(_depth_key(hosts_8, folders_8, depths_8))
        whole = self._groups.upto(1)[0]
        own: Any = (whole["own"] + 2.0 * USUAL) / (whole["read"] + 2.0)
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
        """Return all that was learned, as arrays that may be kept on disk."""
        return {name: rows.upto(0).copy() for name, rows in self.saved_rows().items()} | self.rest()

    def saved_rows(self) -> dict[str, SavedRows]:
        """Return what is saved block by block of all that was learned."""
        return {"groups": self._groups, "keys": self._numbers.known, **self.times.saved_rows()}

    def rest(self) -> dict[str, NDArray[Any]]:
        """Return the rest of what was learned; `resume` takes it."""
        return self.times.rest()

    def resume(self, rest: dict[str, NDArray[Any]]) -> None:
        """Go on from `rest`, once the saved rows are what they were.

        Raises
        ------
        ValueError, KeyError
            It is of another kind.
        """
        self.times.resume(rest)
        self._numbers.loaded()

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what `state` returned.

        Raises
        ------
        ValueError, KeyError
            It is not such a state; then nothing was restored.
        """
        groups, keys = state["groups"], state["keys"]
        if groups.dtype != GROUP or keys.dtype != np.uint64 or len(groups) != len(keys) or not len(keys):
            raise ValueError("these are not the groups of unread pages")
        self.times.restore(state)
        self._groups.restore(groups)
        self._numbers.restore(keys)

    def size_bytes(self) -> int:
        """Return how much memory is in use."""
        return self._groups.nbytes + self._numbers.nbytes + self.times.size_bytes()

    def _taken(self, keys: Keys) -> NDArray[Any]:
        """Return the groups of keys, zeros for one of which nothing was read."""
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
