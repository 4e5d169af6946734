"""Whether a kind of pages of a site ends, as far as those that were read of it tell.

Some sites have no end: a calendar's pages are different, and each leads to others. Nothing that is read of a page tells
that; what the pages before it led to does. A kind is believed to end where *leaves* were found at some depth, pages
that made known nothing of their host: then down to `AHEAD` links deeper. It is also believed to where its pages link to
others of their kind that were *met* before, and are no less deep: who draws from a finite set meets some again (the
coverage of a sample, Good 1953), and a program that makes up pages as they are asked for does not. Where it does, as
with days that link to all of their week, it goes on in one direction: so such a kind is believed in only while it is
broad for its depth. Of any other kind, once `SHOWN` pages were read, single ones that lead deeper are read first, for
they show soonest whether it ends, and only so many: `FREE` of a site, and one for `APART` that were read of it, half of
them of one kind; then ever fewer a visit of its host. All others of such a kind wait: they are *held back*. So are
pages where most of those before turned out to be copies, or none at all.

References
----------
Good (1953). The population frequencies of species and the estimation of population parameters. Biometrika 40.
"""

from __future__ import annotations

import math
import struct
from typing import Any, Final

import msgspec
import numpy as np

TOLD: Final = 8
"""Pages after which a folder is judged by its own."""
SHOWN: Final = 6
"""Pages of a kind that show whether it ends; if they do not, the rest is held back."""
AHEAD: Final = 2
"""Links below the deepest leaves down to which a folder is believed to end."""
DEEPEST: Final = 32
"""Links below the first page that was read of a site, beyond which its pages are held back, unless `COVERED` says that
next to nothing is left: pages are as deep as the way by which they became known, which may be a long one."""
COVERED: Final = 1 / 2
"""Part of the links to a kind that were known already, with `A_LEVEL` pages read of it for each link down to a page. It
is two links more for each doubling of the pages that were read, for something without end may look so too."""
A_LEVEL: Final = 16
FREE: Final = 6
"""Pages of a site that may be read to see whether a kind ends, once there were `SHOWN` of it, however few were read."""
APART: Final = 32.0
"""Pages read of a site for each further one."""
TURN: Final = 0.5  # of that, for one kind
FIRST_LATER: Final = 256.0
"""Visits of a host after which one more may be read; twice as many for the next, and so on."""
MET_AT: Final = 16
"""Bits of what is kept of a kind's links that say how many there were; the others say how many of them were met."""
SEEN: Final = 1 << 12
"""Links of a kind that count at most: then all count half."""
MET: Final = 1 / 16
"""Part of the links to a kind that were known already, by which it is believed to be finite: who samples without end
meets nothing twice."""
MET_LEAST: Final = 3
"""How many there have to be."""
HARDLY: Final = 0.1  # of a link, where none was met
LAST: Final = 0.01
"""Of what it would be worth by its place, what is left at most of a page of a kind that has shown no end; the less, the
fewer links there are to what was known."""
BROAD: Final = 1.0
"""Links below the first page of its site down to which such a kind is believed in, besides one for each doubling of its
pages: what goes on and on in one direction may well meet all that is beside it."""
LEAVES: Final = 0.25
"""Part of the pages of one depth that have to be leaves, two at least, where a folder ends."""
FEW_LEAVES: Final = 1 / 16
"""Part of a folder's pages that have to be leaves, that it may be believed to end where its site does."""

GROUP: Final = np.dtype(
    [
        ("read", "<u4"), ("own", "<u4"), ("leaves", "<u4"),  # pages
        ("first", "<u2"), ("deepest", "<u2"),  # depth + 1 of those that were read; 0 for none
        ("ends", "<u2"), ("dead", "<u2"),  # depth + 1 of the deepest with leaves enough; leaves since the last deeper
        ("tried", "<u4"),  # read to see whether there is an end
        ("next", "<u4"),  # of a site: visits of the host before the next; of a kind: its links, see `MET_AT`
    ]
)  # fmt: skip
"""What is kept of a site, of a folder, or of a depth in a folder: 28 bytes."""
CELLS: Final = struct.Struct("<IIIHHHHII")
"""The same, row by row."""
MOST_VISITS: Final = 0xFFFFFFFF


class Group(msgspec.Struct, gc=False):
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


def believed(of_site: Group, of_folder: Group) -> tuple[int, int, bool, bool]:
    """Return what decides about the unread pages of a kind: where it ends, whether pages were met, and were enough."""
    links, met = links_of(of_folder.next)
    return (
        of_site.ends,
        of_folder.ends + (of_folder.dead > 0),
        met >= max(MET_LEAST, MET * links),
        of_folder.read >= SHOWN,
    )


def tries_of(read: Any) -> Any:
    """Return how many pages may be read to see whether kinds of a site end, of which `read` pages were read."""
    return FREE + read / APART


def with_links(seen: int, links: int, met: int) -> int:
    """Return what is kept of the links to a kind, of which so many more were seen."""
    before, met_before = links_of(seen)
    if before + links > SEEN:
        before, met_before = before // 2, met_before // 2
    counted: int = before + min(links, SEEN) | met_before + min(met, SEEN) << MET_AT
    return counted


def links_of(seen: Any) -> tuple[Any, Any]:
    """Return the links to a kind that were seen, and how many of them led to what was known."""
    return seen & (1 << MET_AT) - 1, seen >> MET_AT


def ended(of_site: Group, of_folder: Group, level: int) -> bool:
    """Return what `ends_at` does, of one page."""
    ends, read = of_folder.ends, of_folder.read
    links, met = links_of(of_folder.next)
    below = level - of_site.first
    if below > DEEPEST and not (
        ends
        and met >= max(MET_LEAST, COVERED * links)
        and read >= A_LEVEL * below
        and below <= DEEPEST + 2.0 * math.log2(read + 1.0)
    ):
        return False
    if ends and level <= ends + AHEAD:
        return True
    if met >= max(MET_LEAST, MET * links):
        return below <= BROAD + math.log2(read + 1.0)
    untold = read < TOLD or of_folder.leaves >= FEW_LEAVES * read
    return untold and of_site.ends > 0 and level <= of_site.ends + AHEAD


def ends_at(of_site: Any, of_folder: Any, level: Any) -> Any:
    """Return whether folders are believed to end, at `level`, by what was found of themselves and of their sites."""
    own = (of_folder["ends"] > 0) & (level <= of_folder["ends"] + np.int64(AHEAD))
    links, met = links_of(of_folder["next"])
    below = level - of_site["first"]
    doublings = np.log2(of_folder["read"] + 1.0)
    covered = own & (met >= np.maximum(MET_LEAST, COVERED * links)) & (of_folder["read"] >= A_LEVEL * below)
    covered &= below <= DEEPEST + 2.0 * doublings
    known = met >= np.maximum(MET_LEAST, MET * links)
    broad = known & (below <= BROAD + doublings)
    untold = (of_folder["read"] < TOLD) | (of_folder["leaves"] >= FEW_LEAVES * of_folder["read"])
    like_site = untold & ~known & (of_site["ends"] > 0) & (level <= of_site["ends"] + np.int64(AHEAD))
    return (own | broad | like_site) & ((below <= np.int64(DEEPEST)) | covered)
