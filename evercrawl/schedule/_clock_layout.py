"""How the clocks of folders lie in memory."""

from __future__ import annotations

from typing import Final

import numpy as np

BINS: Final = 256
"""Of a ring: about four cycles of the crawl."""
NONE: Final = 0xFFFFFFFF
"""No ring, no group."""

PAGE: Final = np.dtype(
    [("changed_at", "f8"), ("changes", "f4"), ("waited_s", "f4"), ("folder", "u4"), ("cohort", "u4"),
     ("sibling", "u4"), ("known", "u4"), ("plain_changes", "f4"), ("plain_waited_s", "f4")],
    align=True,
)  # fmt: skip
"""Of each page: when it changed last, as far as was seen; the evidence of its rate, on its folder's clock; where it
belongs; whether it was visited; and the evidence in plain seconds."""

FOLDER: Final = np.dtype([("site", "u4"), ("ring", "u4"), ("pages", "f4"), ("changes", "f4"), ("waited_s", "f8")], align=True)
"""Of each folder: its site, its ring (NONE where it shares the site's), how many of its pages were visited, and how
often they changed in how long, on its clock."""

GROUP: Final = np.dtype([("newest_at", "f8"), ("joined", "f4"), ("stayed", "f4")], align=True)
"""Of pages that changed together before, or have one name: when one of them changed last, and how many of the others
were seen to have joined in, or to have stayed as they were."""

PARTS: Final = 5
"""Of a page's exposure: time, its folder's clock, its own burst, its cohort and its siblings."""
RING, CHANGES, WAITED, EXCESS, SPREAD, SHAPE, RATE, RENEWED = range(8)
JOINED, STAYED = 8, 10
FOUND, EXPECTED, FACTOR = 12, 12 + PARTS, 12 + 2 * PARTS
FULL, GAIN = 12 + 3 * PARTS, 12 + 4 * PARTS
PLAIN_CHANGES, PLAIN_WAITED, ADVANTAGE = (12 + 5 * PARTS + k for k in range(3))
SITE_COLUMNS: Final = 15 + 5 * PARTS
"""Columns of what is known of each site, in float64: its ring; changes and seconds on its clock; what tells the spread
of its rates (see `clocks`), and the shape and rate that follow; the bin in which these were worked out; cohorts' and
siblings' members that joined and that stayed; of each part of the exposure how many changes were due to it, how many it
would have foretold alone, the factor that counts, the factor if the part were surely of use, and by how much the part
made outcomes likelier (in the logarithm); changes and seconds as time alone tells them, and by how much the clocks
made outcomes likelier than that."""
