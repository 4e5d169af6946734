"""How the clocks of folders lie in memory."""

from typing import Final

import numpy as np

LEVELS: Final = 4
"""Of a ring: its cells are of 1, 2, 4 and 8 bins."""
FINEST: Final = 32
"""Cells of the first level; each further one has half as many."""
CELLS: Final = FINEST + (LEVELS - 1) * FINEST // 2
"""Of a ring: they reach back about four cycles of the crawl."""
MOST_CODE: Final = 0xFFFF
"""The most that a cell counts, in units of its ring."""
CHANGES_SCALE, EXPECTED_SCALE, DITHER = range(3)
"""Of a ring, in float32: the unit of its changes, that of who was watched, and what rounds what is no whole unit."""
CACHED: Final = 1024
"""Clocks that are kept as they were worked out, of whichever folders."""
NONE: Final = 0xFFFFFFFF
"""No group."""
OWN_RING: Final = 4
"""Pages that a folder, or a site, has that keeps a clock of its own; those that have fewer have none, ring 0."""
SIBLINGS: Final = 30
"""A name that more pages have says nothing."""
KIN_PAGES: Final = 16
"""Pages that are kin to each other, at most."""
GAINED: Final = 200.0
"""Visits to a site that what the whole crawl gained counts as."""
GAIN_MOST: Final = 10.0
"""Nats that this is worth at most."""
BELIEVED: Final = 0.1
"""Probability that clocks tell a site's changes better than time, before any site was seen."""
BELIEVED_SITES: Final = 2.0
"""Sites that this counts for."""
SHARE: Final = 0.002
"""Of that probability, which goes back to what is usual at each visit: what is best may change."""
SETTLED: Final = 0.005
"""A probability that is so near to 0 or 1 is as good as that: one of the models need not be asked."""

UNKNOWN, KNOWN, GONE = range(3)
PAGE: Final = np.dtype(
    [("changed_at", "f8"), ("changes", "f4"), ("waited_s", "f4"), ("folder", "u4"), ("cohort", "u4"),
     ("sibling", "u4"), ("known", "u4"), ("plain_changes", "f4"), ("plain_waited_s", "f4"), ("kin", "u4")],
)  # fmt: skip
"""Of each page: when it changed last, as far as was seen; the evidence of its rate, on its folder's clock; where it
belongs; whether it is known (UNKNOWN, KNOWN or GONE); the evidence in plain seconds; and its kin. It is not aligned, to
take 44 bytes, not 48."""

FOLDER: Final = np.dtype(
    [("site", "u4"), ("ring", "u4"), ("pages", "f4"), ("scout", "u4"), ("changes", "f8"), ("waited_s", "f8")],
    align=True,
)
"""Of each folder: its site's row, its ring, how many of its pages were visited, how often they changed in how long, on
its clock, and the page whose next visit tells most of the others: the one that was visited last."""

GROUP: Final = np.dtype([("newest_at", "f8"), ("joined", "f4"), ("stayed", "f4")], align=True)
"""Of pages that changed together before: when one of them changed last, and how many of the others
were seen to have joined in, or to have stayed as they were."""

NAME: Final = np.dtype([("newest_at", "f8"), ("joined", "f4"), ("stayed", "u2"), ("pages", "u2")], align=True)
"""The same of pages of one name, and how many there are; where these are too many, `newest_at` is nan for ever."""

PARTS: Final = 6
"""Of a page's exposure: time, its folder's clock, its own burst, its cohort, its siblings and its kin."""
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
"""Columns of what is known of each site, in float64: its ring; changes and seconds on its clock; what tells the spread
of its rates (see `clocks`), and the shape and rate that follow; the middle of the bin in which these were worked out;
members of cohorts, names and kin that joined and that stayed; of each part of the exposure how many changes were due to
it, how many it would have foretold alone, the factor that counts, the factor if the part were surely of use, and by how
much the part made outcomes likelier (in the logarithm); changes and seconds as time alone tells them; the logarithm of
the odds that clocks are right, beyond those of other sites; how many of its pages were visited; and what makes true
what is said of copies: level, slope beyond 1, three numbers of how sure these are; and the bin of which was said what
was said last, how many claims there were of it, and level and slope when it began; and the probability as the crawl has
counted it."""

WIDTH, CYCLE, SITE_VARIES, FOLDER_VARIES, BURST, BURST_LASTS, FORGET, TOGETHER, FIRST_GAP = range(9)
ALL_CHANGES, ALL_WAITED = 9, 10
ALL_FOUND, ALL_EXPECTED, ALL_GAIN = 11, 11 + PARTS, 11 + 2 * PARTS
ALL_VISITS, ALL_PLAIN_CHANGES, ALL_PLAIN_WAITED, ALL_BELIEVED = (11 + 3 * PARTS + k for k in range(4))
SURPRISE, SURPRISE_VARIES = 15 + 3 * PARTS, 16 + 3 * PARTS
ALL_SITES: Final = 17 + 3 * PARTS
SETTINGS: Final = 18 + 3 * PARTS
"""Numbers that all loops need, in float64: the width of a bin, a cycle, how clocks vary, bursts, what is forgotten in a
cycle, how near changes are together, the gap between changes that is supposed at first; then of the whole crawl:
changes, seconds on the clocks, and of each part the changes due to it, those foretold, and what it gained; how many
visits told; changes and seconds as time alone tells them, and the sum over sites of the probability that clocks are
right; changes beyond those foretold, and the variance of that; and how many sites there are in the sum."""

(
    AT_SETTINGS, AT_PAGES, AT_FOLDERS, AT_SITES, AT_COHORTS, AT_SIBLINGS, AT_KIN,
    AT_HEADS, AT_VERSIONS, AT_UNITS, AT_CHANGES, AT_EXPECTED, AT_TAGS, AT_TIMES, AT_CLOCK, MEMORY,
) = range(0, 32, 2)  # fmt: skip
"""Where in what kernels are given the address of each table is, its length behind: settings, pages, folders, sites,
cohorts, names, kin, and all there is to rings (`_rings` tells); and how many words these are."""
