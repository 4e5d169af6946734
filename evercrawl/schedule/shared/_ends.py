"""Whether a kind of pages of a site ends, as far as those that were read of it tell.

Some sites have no end: a calendar's pages are different, and each leads to others. Nothing that is read of a page
tells that; what the pages before it led to does. The pages of a kind are a branching process, which need not die out
while each makes one and more of its kind known in the mean (Galton, Watson 1875). A kind is believed to end

* where *leaves* were found at some depth, pages that made known nothing of their host, and the pages of that depth
  made fewer known than they are: then down to `AHEAD` links deeper, and at any depth once it is *used up*;
* where its pages link to others of their kind that were *met* before, and are no less deep: who draws from a finite
  set meets some again (the coverage of a sample, Good 1953), and a program that makes up pages as they are asked for
  does not. Days that link to all of their week do; but such a kind goes on in *one way*: few of its pages lead to two
  and more new ones. So it is not believed in, unless others make most of it known, nor is what is too deep for its
  breadth;
* where pages of other kinds are what makes it known: but only at the depth at which it begins.

Of any other kind, once `SHOWN` pages were read, single ones are read first that show soonest whether it ends, those
that lead deeper and then any, by turns, and only so many: `FREE` of a site, and one for `APART` that were read of it,
half of them of one kind; then ever fewer a visit of its host. One that makes pages known of kinds that end costs
nothing, so the numbered lists of a forum go on; and of a kind that others make known one more is read for each `FED`.
All others of such a kind wait: they are *held back*. So are pages where most of those before turned out to be copies,
or none at all.

References
----------
Watson, Galton (1875). On the probability of the extinction of families. Journal of the Anthropological Institute 4.
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
"""Links below the first page that was read of a site, beyond which pages are held back, unless leaves were found."""
FREE: Final = 6
"""Pages of a site that may be read to see whether a kind ends, once there were `SHOWN` of it, however few were read."""
APART: Final = 32.0
"""Pages read of a site for each further one."""
TURN: Final = 0.5  # of that, for one kind
DEAD: Final = 2
"""Leaves that have to be read after the deepest page of a kind before what lies deeper than leaves is believed in."""
DIVES: Final = 4
"""Pages that are read so at first of which those come first that lead deeper; then of every other one."""
FIRST_LATER: Final = 256.0
"""Visits of a host after which one more may be read; twice as many for the next, and so on."""
MET_AT: Final = 16
"""Bits of what is kept of a kind's links that say how many there were; the others say how many of them were met."""
SEEN: Final = 1 << 12
"""Links of a kind that count at most: then all count half."""
MET: Final = 1 / 64
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
FEWER: Final = 0.75
"""Pages of its own kind that each of these made known at most, in the mean: where it is one, as in a calendar whose
days link to their week, those that lead on are as many at every depth, and others may look like leaves."""
WIDE: Final = 0.5
"""Part of the pages of a kind, of the least depth of which `SHOWN` were read, that have to make two and more of it
known: where fewer do it goes on in one direction, and is as narrow deeper down as it began."""
FEW: Final = 0.6
"""Pages of its kind that each makes known, in the mean, below which others are what makes the kind known."""
BESIDE: Final = 1
"""Links below the first of a kind down to which it is believed in where its pages make few of it known."""
FED: Final = 32.0
"""Pages of a kind that those of others made known, for each of which one more may be read to see whether it ends."""
PAYS: Final = 4
"""Pages of other kinds, which end, that a page makes known that was read to see whether there is an end: that pays."""
FEW_LEAVES: Final = 1 / 16
"""Part of a folder's pages that have to be leaves, that it may be believed to end where its site does."""

GROUP: Final = np.dtype(
    [
        ("read", "<u4"), ("own", "<u4"), ("leaves", "<u4"),  # pages
        ("first", "<u2"), ("deepest", "<u2"),  # depth + 1 of those that were read; 0 for none
        ("ends", "<u2"), ("dead", "<u2"),  # depth + 1 of the deepest with leaves enough; leaves since the last deeper
        ("tried", "<u4"),  # read to see whether there is an end
        ("next", "<u4"),  # of a site: visits of the host before the next; of a kind: its links, see `MET_AT`
        ("made", "<u4"),  # pages of the kind that these made known
        ("wide", "<u4"),  # pages that made two and more of the kind known
        ("fed", "<u4"), ("one_way", "<u4"),  # of a kind: its pages that those of others made known; see `with_level`
    ]
)  # fmt: skip
"""What is kept of a site, of a folder, or of a depth in a folder: 44 bytes."""
CELLS: Final = struct.Struct("<IIIHHHHIIIIII")
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
    made: int
    wide: int
    fed: int
    one_way: int


def believed(of_site: Group, of_folder: Group) -> tuple[int, int, bool, bool, bool, bool, bool]:
    """Return what decides about the unread pages of a kind: where it ends, whether pages were met, and were enough."""
    links, met = links_of(of_folder.next)
    return (
        of_site.ends,
        of_folder.ends + (of_folder.dead > 0),
        met >= max(MET_LEAST, MET * links),
        of_folder.read >= SHOWN,
        bool(of_folder.one_way & 1) and of_folder.fed < of_folder.made,
        bool(dies_out(of_folder.read, of_folder.made)),
        bool(used_up(of_folder.read, of_folder.leaves, of_folder.made, of_folder.dead)),
    )


def ends_here(of_depth: Group) -> bool:
    """Return whether a kind ends at a depth: enough of its pages are leaves, and they make less known than they are."""
    return of_depth.leaves >= max(2, LEAVES * of_depth.read) and of_depth.made <= FEWER * of_depth.read


def with_level(seen: int, level: int, of_depth: Group) -> int:
    """Return by which of its depths a kind is told to go on in one direction, twice that, and 1 more where it does."""
    if of_depth.read < SHOWN or (seen and level > seen >> 1):
        return seen
    return level << 1 | (of_depth.wide < WIDE * of_depth.read)


def one_way(of: Any) -> Any:
    """Return whether a kind goes on in one direction, and is made known by its own pages mostly."""
    return (of["one_way"] & 1 != 0) & (of["fed"] < of["made"])


def dies_out(read: Any, made: Any) -> Any:
    """Return whether pages of a kind make fewer of it known than they are: others do (Galton, Watson 1875)."""
    return (read >= SHOWN) & (made < FEW * read)


def used_up(read: Any, leaves: Any, made: Any, dead: Any) -> Any:
    """Return whether more pages of a kind were read than its own made known, so that hardly any wait.

    What has no end never comes to that; where it has the addresses of what ends, it leads deeper again at once. The
    pages left may lie at any depth, for who looks for an end goes along any links.
    """
    return (read >= TOLD) & (made < read) & (leaves >= LEAVES * read) & (dead >= DEAD)


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
    if ends and (level <= ends + AHEAD or used_up(of_folder.read, of_folder.leaves, of_folder.made, of_folder.dead)):
        return True
    if level > of_site.first + DEEPEST:
        return False
    if dies_out(read, of_folder.made) and level <= of_folder.first + BESIDE:
        return True
    links, met = links_of(of_folder.next)
    if met >= max(MET_LEAST, MET * links):
        if of_folder.one_way & 1 and of_folder.fed < of_folder.made:
            return False
        return level - of_site.first <= BROAD + math.log2(read + 1.0)
    untold = read < TOLD or of_folder.leaves >= FEW_LEAVES * read
    return untold and of_site.ends > 0 and level <= of_site.ends + AHEAD


def ends_at(of_site: Any, of_folder: Any, level: Any) -> Any:
    """Return whether folders are believed to end, at `level`, by what was found of themselves and of their sites."""
    done = used_up(*(of_folder[name] for name in ("read", "leaves", "made", "dead")))
    own = (of_folder["ends"] > 0) & ((level <= of_folder["ends"] + np.int64(AHEAD)) | done)
    links, met = links_of(of_folder["next"])
    known = met >= np.maximum(MET_LEAST, MET * links)
    broad = known & ~one_way(of_folder) & (level - of_site["first"] <= BROAD + np.log2(of_folder["read"] + 1.0))
    untold = (of_folder["read"] < TOLD) | (of_folder["leaves"] >= FEW_LEAVES * of_folder["read"])
    like_site = untold & ~known & (of_site["ends"] > 0) & (level <= of_site["ends"] + np.int64(AHEAD))
    fed = dies_out(of_folder["read"], of_folder["made"]) & (level <= of_folder["first"] + np.int64(BESIDE))
    return own | (fed | broad | like_site) & (level <= of_site["first"] + np.int64(DEEPEST))
