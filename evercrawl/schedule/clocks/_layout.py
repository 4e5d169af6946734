"""Memory layout of the clocks of folders."""

from typing import Final

import numpy as np

LEVELS: Final = 4
"""Levels of a ring: their cells have 1, 2, 4 and 8 bins."""
FINEST: Final = 32
"""Number of cells of the first level; each further level has half as many."""
CELLS: Final = FINEST + (LEVELS - 1) * FINEST // 2
"""Total number of cells of a ring: they reach back about four cycles of the crawl."""
MOST_CODE: Final = 0xFFFF
"""Maximum count of a cell, in units of its ring."""
CHANGES_SCALE, EXPECTED_SCALE, DITHER = range(3)
"""Numbers of a ring, in float32: the unit of its changes, that of its observed rates, and the state of rounding."""
CACHED: Final = 1024
"""Number of cached clocks, of any folders."""
NONE: Final = 0xFFFFFFFF
"""No group."""
OWN_RING: Final = 4
"""Minimum number of pages of a folder or site with a clock of its own; those with fewer have ring 0."""
SIBLINGS: Final = 30
"""Maximum number of pages of a name; names of more pages carry no information."""
KIN_PAGES: Final = 16
"""Maximum number of pages in a group of kin."""
GAINED: Final = 200.0
"""Weight of the gain of the whole crawl in the estimate for a site, in visits."""
GAIN_MOST: Final = 10.0
"""Maximum of this gain, in nats."""
BELIEVED: Final = 0.1
"""Prior probability that clocks predict a site's changes better than time, before any site was observed."""
BELIEVED_SITES: Final = 2.0
"""Weight of this prior, in sites."""
SHARE: Final = 0.002
"""Fraction of what visits to a site showed about models and parts that is forgotten at each visit: these may change."""
SETTLED: Final = 0.005
"""Distance from 0 or 1 within which a probability counts as 0 or 1, so that one model need not be evaluated."""

UNKNOWN, KNOWN, GONE = range(3)
PAGE: Final = np.dtype(
    [("changed_at", "f8"), ("changes", "f4"), ("waited_s", "f4"), ("folder", "u4"), ("cohort", "u4"),
     ("sibling", "u4"), ("known", "u4"), ("plain_changes", "f4"), ("plain_waited_s", "f4"), ("kin", "u4")],
)  # fmt: skip
"""Columns of each page: the last observed change; the evidence of its rate, on its folder's clock; its folder and
groups; its state (UNKNOWN, KNOWN or GONE); the evidence in plain seconds; and its kin. The type is unaligned, to take
44 bytes instead of 48."""

FOLDER: Final = np.dtype(
    [("site", "u4"), ("ring", "u4"), ("pages", "f4"), ("scout", "u4"), ("changes", "f8"), ("waited_s", "f8")],
    align=True,
)
"""Columns of each folder: its site's row, its ring, the number of visited pages, their changes and observed time on its
clock, and the last visited page, whose next visit tells most about the others."""

GROUP: Final = np.dtype([("newest_at", "f8"), ("joined", "f4"), ("stayed", "f4")], align=True)
"""Columns of groups of pages that changed together: the newest change of one of them, and how many of the others were
found to have joined it, or to have stayed unchanged."""

NAME: Final = np.dtype([("newest_at", "f8"), ("joined", "f4"), ("stayed", "u2"), ("pages", "u2")], align=True)
"""The same for pages of one name, and their number; if there are too many, `newest_at` is nan permanently."""

PARTS: Final = 6
"""Parts of a page's exposure: time, its folder's clock, its own burst, its cohort, its siblings and its kin."""
TIME, CLOCK, BURSTS, COHORT, SIBLING, KIN = range(PARTS)

RING, CHANGES, WAITED, EXCESS, SPREAD, SHAPE, RATE, RENEWED = range(8)
JOINED, STAYED = 8, 11
FOUND, EXPECTED, FACTOR = 14, 14 + PARTS, 14 + 2 * PARTS
FULL, GAIN = 14 + 3 * PARTS, 14 + 4 * PARTS
PLAIN_CHANGES, PLAIN_WAITED, ODDS, PAGES = (14 + 5 * PARTS + k for k in range(4))
LEVEL, SLOPE, CURVED = (18 + 5 * PARTS + k for k in range(3))
CLAIMED: Final = 23 + 5 * PARTS
COUNTED: Final = 27 + 5 * PARTS
SITE_COLUMNS: Final = 28 + 5 * PARTS
"""Columns of each site, in float64: its ring; changes and seconds on its clock; statistics of the spread of its rates
(see `clocks`), and the shape and rate that follow; the middle of the bin in which these were computed; members of
cohorts, names and kin that joined and that stayed; for each part of the exposure, the changes it caused, those it would
have predicted alone, the factor in use, the factor if the part were certainly useful, and by how much the part made
outcomes likelier (in logarithms); changes and seconds by time alone; the logarithm of the odds that clocks are right,
relative to other sites; the number of visited pages; the calibration of predictions: level, slope minus 1, and three
numbers of its precision; the bin of the last prediction, the number of predictions in it, and level and slope when it
began; and the probability that the crawl's sum includes."""

WIDTH, CYCLE, SITE_VARIES, FOLDER_VARIES, BURST, BURST_LASTS, FORGET, TOGETHER, FIRST_GAP = range(9)
ALL_CHANGES, ALL_WAITED = 9, 10
ALL_FOUND, ALL_EXPECTED, ALL_GAIN = 11, 11 + PARTS, 11 + 2 * PARTS
ALL_VISITS, ALL_PLAIN_CHANGES, ALL_PLAIN_WAITED, ALL_BELIEVED = (11 + 3 * PARTS + k for k in range(4))
SURPRISE, SURPRISE_VARIES = 15 + 3 * PARTS, 16 + 3 * PARTS
ALL_SITES: Final = 17 + 3 * PARTS
SETTINGS: Final = 18 + 3 * PARTS
"""Numbers that all loops need, in float64: the width of a bin, the cycle, the variances of clocks, bursts, forgetting
per cycle, the time within which changes are near, the initial gap between changes; then of the whole crawl: changes,
seconds on the clocks, and for each part the changes it caused, those it predicted, and its gain; the number of
informative visits; changes and seconds by time alone, and the sum over sites of the probability that clocks are right;
the excess of changes over predictions, and its variance; and the number of sites in the sum."""

(
    AT_SETTINGS, AT_PAGES, AT_FOLDERS, AT_SITES, AT_COHORTS, AT_SIBLINGS, AT_KIN,
    AT_HEADS, AT_VERSIONS, AT_UNITS, AT_CHANGES, AT_EXPECTED, AT_TAGS, AT_TIMES, AT_CLOCK, MEMORY,
) = range(0, 32, 2)  # fmt: skip
"""Positions in the kernels' argument of the address of each table, followed by its length: settings, pages, folders,
sites, cohorts, names, kin, and the tables of rings (see `_rings`); and the number of these words."""
