"""Whether the pages of one kind on a site are finite in number, judged by the pages read so far.

Some sites are endless: a calendar's pages are all different, and each leads to more. A page's content does not show
this, but the links of earlier pages do. There are two signs that a kind is finite:

- *Leaves* were found at some depth, pages that led to no new page of their host. The kind is then expected to end at
  most `AHEAD` links below the deepest level with enough leaves.
- Its pages link to pages of their kind that were *met* before, and are no less deep. Links into a finite set repeat
  (the coverage of a sample, Good 1953), whereas a program that generates pages on request rarely repeats a link. If it
  does, as with days that link to all days of their week, the pages continue in one direction. So this sign counts only
  while the kind is broad for its depth.

Once `SHOWN` pages of any other kind were read, a few pages that lead deeper are read first, because they show soonest
whether the kind ends: `FREE` per site, plus one for every `APART` pages read of the site, at most half of them of one
kind; beyond that, ever fewer per visit of the host. All other pages of such a kind are *held back*. So are pages in
groups where most pages read were copies or without content.

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
"""Number of read pages after which a folder is judged by its own pages."""
SHOWN: Final = 6
"""Number of pages of a kind that should show whether it ends; if they do not, the rest is held back."""
AHEAD: Final = 2
"""Number of links below the deepest leaves down to which a folder is expected to end."""
DEEPEST: Final = 32
"""Number of links below the first page read of a site, beyond which pages are held back, unless `COVERED` shows that
almost nothing is left. (The depth of a page depends on the path by which it was found, which may be long.)"""
COVERED: Final = 1 / 2
"""Minimum fraction of known pages among the links to a kind, with `A_LEVEL` pages read of it for each link of depth.
The allowed depth grows by two links for each doubling of the read pages, because an endless kind may look covered."""
A_LEVEL: Final = 16
FREE: Final = 6
"""Number of pages of a site that may be read to see whether a kind ends, after `SHOWN` of it, however few were read."""
APART: Final = 32.0
"""Number of pages read of a site for each further trial page."""
TURN: Final = 0.5  # maximum share of the trial pages for one kind
FIRST_LATER: Final = 256.0
"""Visits of a host after which one more trial page may be read; the number doubles for each further one."""
MET_AT: Final = 16
"""Bits of a kind's link counter that hold the number of links; the higher bits hold the number of known ones."""
SEEN: Final = 1 << 12
"""Maximum number of links counted for a kind: above it, all counts are halved."""
MET: Final = 1 / 16
"""Fraction of known pages among the links to a kind above which the kind counts as finite: sampling from an endless
set does not repeat."""
MET_LEAST: Final = 3
"""Minimum number of links to known pages for this."""
HARDLY: Final = 0.1  # number of links to known pages assumed where none was found
LAST: Final = 0.01
"""Maximum remaining worth of a page of a kind that has shown no end, as a fraction of its normal worth; it is lower
if fewer links lead to known pages."""
BROAD: Final = 1.0
"""Number of links below the first page of its site down to which such a kind counts as finite, plus one for each
doubling of its pages: a kind that continues in one direction may also link to all its neighbours."""
LEAVES: Final = 0.25
"""Minimum share of leaves among the pages of one depth, and at least two, for a folder to end there."""
FEW_LEAVES: Final = 1 / 16
"""Minimum share of leaves among a folder's pages, for the folder to inherit the end of its site."""

GROUP: Final = np.dtype(
    [
        ("read", "<u4"), ("own", "<u4"), ("leaves", "<u4"),  # numbers of pages
        ("first", "<u2"), ("deepest", "<u2"),  # depth + 1 of the first and deepest page read; 0 for none
        ("ends", "<u2"), ("dead", "<u2"),  # depth + 1 of the deepest level with leaves; leaves since the deepest page
        ("tried", "<u4"),  # number of trial pages read
        ("next", "<u4"),  # of a site: visits of the host before the next trial; of a kind: its links, see `MET_AT`
    ]
)  # fmt: skip
"""The counts of a site, of a folder, or of a depth in a folder: 28 bytes."""
CELLS: Final = struct.Struct("<IIIHHHHII")
"""The same layout, for a single row."""
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
    """Return the state that decides about unread pages: where the kind ends, whether enough links were known, read."""
    links, met = links_of(of_folder.next)
    return (
        of_site.ends,
        of_folder.ends + (of_folder.dead > 0),
        met >= max(MET_LEAST, MET * links),
        of_folder.read >= SHOWN,
    )


def tries_of(read: Any) -> Any:
    """Return the number of trial pages allowed for a site of which `read` pages were read."""
    return FREE + read / APART


def with_links(seen: int, links: int, met: int) -> int:
    """Return the link counter of a kind after `links` more links, `met` of them to known pages."""
    before, met_before = links_of(seen)
    if before + links > SEEN:
        before, met_before = before // 2, met_before // 2
    counted: int = before + min(links, SEEN) | met_before + min(met, SEEN) << MET_AT
    return counted


def links_of(seen: Any) -> tuple[Any, Any]:
    """Return the number of links to a kind, and the number of them that led to known pages."""
    return seen & (1 << MET_AT) - 1, seen >> MET_AT


def ended(of_site: Group, of_folder: Group, level: int) -> bool:
    """Return the result of `ends_at` for one page."""
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
    """Return whether folders are expected to end, at `level`, by the counts of the folders and of their sites."""
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
