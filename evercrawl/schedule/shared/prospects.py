"""What unread pages turned out to be once they were read, by site, folder and depth: what to expect of the next ones.

Of a page that nobody has read it is not known whether it has content of its own. What others were tells it: of how many
that were read in its folder at its depth, in its folder, on its site and anywhere, each told by the next wider group as
far as it has few of its own (a Beta belief whose prior is worth `PRIOR` pages). The more it is in doubt the more there
is to learn: a standard deviation is added.

Some sites have no end: a calendar's pages are different, and each leads to others. Nothing that is read of a page tells
that; that none of the pages before it was a *leaf*, one that made known nothing of its host, does. A folder is
believed to end where leaves were found at some depth; then its pages down to `AHEAD` links deeper are expected to be
what others were. Otherwise its deepest pages are read first, for they show soonest whether it ends, and only so many:
`FREE` of a site, what they make known included, then ever fewer a visit of its host. All others of such a
folder wait: they are *held back*. So are pages where most of those before turned out to be copies, or none at all.
"""

from __future__ import annotations

import struct
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.numbering import Numbering
from evercrawl.arrays.saved import SavedRows
from evercrawl.schedule.shared.host_times import HostTimes
from evercrawl.types import Flags, Floats, Keys, Slots

PRIOR: Final = 4.0
"""Pages that what is expected of a wider group counts for."""
USUAL: Final = 0.8
"""Part of all pages that have content of their own, before any was read."""
AHEAD: Final = 2
"""Links below the deepest leaves down to which a folder is believed to end."""
DEEPEST: Final = 32
"""Links below the first page that was read of a site, beyond which its pages are held back."""
FREE: Final = 24
"""Pages of a site that may be read, or made known so, to see whether its folders end, however few visits there were."""
APART: Final = 32.0
"""Visits of a host for each page that is read or made known so after that; twice as many for every `FREE` more."""
POOR: Final = 0.2
"""Part of pages with content of their own below which the rest is held back, once `TOLD` were read."""
TOLD: Final = 8
"""Pages after which a folder is judged by its own."""
MOSTLY: Final = 0.5
"""The same for a whole site, once `TOLD_OF_SITE` were read: what copies make known seldom is more."""
TOLD_OF_SITE: Final = 4
LEAVES: Final = 0.25
"""Part of the pages of one depth that have to be leaves, two at least, where a folder ends."""
FEW_LEAVES: Final = 1 / 16
"""Part of a folder's pages that have to be leaves, that it may be believed to end where its site does."""

GROUP: Final = np.dtype(
    [
        ("read", "<u4"), ("own", "<u4"), ("leaves", "<u4"),  # pages
        ("first", "<u2"), ("deepest", "<u2"),  # depth + 1 of those that were read; 0 for none
        ("ends", "<u2"), ("dead", "<u2"),  # depth + 1 of the deepest with leaves enough; leaves since the last deeper
        ("tried", "<u4"), ("next", "<u4"),  # paid to see whether there is an end; visits before the next
    ]
)  # fmt: skip
"""What is kept of a site, of a folder, or of a depth in a folder: 28 bytes."""
_ODD: Final = 0x9E3779B97F4A7C15
_MASK: Final = (1 << 64) - 1
_MOST: Final = 0xFFFF


_CELLS: Final = struct.Struct("<IIIHHHHII")
"""The same, row by row."""
_MOST_VISITS: Final = 0xFFFFFFFF


class _Group(msgspec.Struct, gc=False):
    """A row of `GROUP`."""

    read: int
    own: int
    leaves: int
    first: int
    deepest: int
    ends: int
    dead: int
    tried: int
    next: int


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
        Whether its folder is believed to end, and not to hold mostly copies; else it is held back.
    tries
        How much it is wanted to see whether its folder ends: 0 not now, 1, or 2 where it would be the deepest.
    shows, poor
        Whether it would show whether its folder ends, be it wanted now or not; whether most that were read where it is
        turned out to be copies, or none at all.
    """

    read: Floats
    own: Floats
    doubt: Floats
    of_site: Floats
    ends: Flags
    tries: Floats
    shows: Flags
    poor: Flags


class Prospects:
    """Learns from visits, in order, what unread pages turn out to be, and how much of their time hosts are asked.

    Attributes
    ----------
    times
        Of the hosts.

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
        self._numbers, self._groups = Numbering(), SavedRows(GROUP)
        self._groups.upto(1)  # the first is that of all pages
        self._groups.changed.note(0)
        self._numbers.of(np.array([1], np.uint64))

    def read(self, host: int, site: int, folder: int, depth: int, *, visits: int, own: bool, found: int) -> None:
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
        """
        keys = [_site_key(site), _folder_key(host, folder), _depth_key(host, folder, depth)]
        numbers: list[int] = self._numbers.of(np.array(keys, np.uint64)).tolist()
        cells, note = self._groups.upto(len(self._numbers)).data, self._groups.changed.note
        places = [number * _CELLS.size for number in (0, *numbers)]
        groups = [_Group(*_CELLS.unpack_from(cells, place)) for place in places]
        _, of_site, of_folder, of_depth = groups
        level = min(depth, _MOST - 1) + 1
        if not _ended(of_site, of_folder, level) and level + of_folder.dead >= of_folder.deepest:
            tried = of_site.tried
            if tried < FREE or visits >= of_site.next:
                of_site.tried = min(tried + 1 + found, _MOST_VISITS)
                apart = APART * 2.0 ** min(max(tried - FREE, 0) / FREE, 16.0)
                of_site.next = int(min(visits + (1 + found) * apart, _MOST_VISITS))
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
        for number, place, group in zip((0, *numbers), places, groups, strict=True):
            note(number)
            _CELLS.pack_into(cells, place, *msgspec.structs.astuple(group))

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
        ends = _ends(of_site, of_folder, level) & ~poor
        deepest = of_folder["deepest"].astype(np.int64)
        free = (of_site["tried"] < FREE) | (self.times.visits_of(hosts) >= of_site["next"])
        shows = ~ends & ~poor & (level + of_folder["dead"] >= deepest)
        doubt = np.sqrt(own * (1.0 - own) / (of_depth["read"] + PRIOR + 1.0))
        tries = np.where(shows & free, np.where(level > deepest, 2.0, 1.0), 0.0)
        read, told = of_depth["read"].astype(np.float64), of_site["read"].astype(np.float64)
        return Prospect(read, own, doubt, told, ends, tries, shows, poor)

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


def _ended(of_site: _Group, of_folder: _Group, level: int) -> bool:
    """Return what `_ends` does, of one page."""
    ends, read = of_folder.ends, of_folder.read
    if level > of_site.first + DEEPEST:
        return False
    if ends and level <= ends + AHEAD:
        return True
    untold = read < TOLD or of_folder.leaves >= FEW_LEAVES * read
    return untold and of_site.ends > 0 and level <= of_site.ends + AHEAD


def _ends(of_site: Any, of_folder: Any, level: Any) -> Any:
    """Return whether folders are believed to end, at `level`, by what was found of themselves and of their sites."""
    own = (of_folder["ends"] > 0) & (level <= of_folder["ends"] + np.int64(AHEAD))
    untold = (of_folder["read"] < TOLD) | (of_folder["leaves"] >= FEW_LEAVES * of_folder["read"])
    like_site = untold & (of_site["ends"] > 0) & (level <= of_site["ends"] + np.int64(AHEAD))
    return (own | like_site) & (level <= of_site["first"] + np.int64(DEEPEST))


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
