"""The arguments of the price policy's kernels: numbers common to all pages, and the columns."""

from typing import Final

NOW, PRICE, PATIENCE, DEATHS, WANTED, CLOSE, THETA, THETA_NEW, NEVER, KNOWN, FEW, WEIGHED = range(12)
TERMS: Final = 12
"""Positions in a float64 array: the instant; the price; the patience with new pages; deaths per second; the additional
worth of a usual page per second of age; the precision of due times; the harmonic weight, and that of new pages; the
maximum age; the shape above which rates count as known in seconds; the number of pages for an estimate of the usual
weight; and that weight."""

ALWAYS: Final = 7
"""Columns of all pages: `visited_at`, weight, shape, scale, cost, cost if changed, `neg_log_unchanged`."""
ANNOUNCED, HOST_RATIO, FOUND_AT, COMEBACK, OWED = range(5)
"""Optional columns that may follow, in this order: bit k of `given` says whether column k is present."""
OPTIONAL: Final = 5

OWED_TIMES: Final = 1e150
"""Factor on the value of a page that is owed a visit."""
BEYOND: Final = 1e100
"""Values above this belong to owed pages and carry no information about the worth of visits."""
