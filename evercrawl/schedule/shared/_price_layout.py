"""How the price policy tells its kernels what is the same for all pages, and which columns there are."""

from typing import Final

NOW, PRICE, PATIENCE, DEATHS, WANTED, CLOSE, THETA, THETA_NEW, NEVER, KNOWN, FEW, WEIGHED = range(12)
TERMS: Final = 12
"""Numbers in float64: the instant; the price; patience with new pages; deaths a second; what a second's age is to add
to the worth of a usual page; how near a due time is to be; the harmonic part, and that of new pages; the longest age;
the shape above which rates were given in seconds; how many pages it takes to say what a usual one weighs; and what
it weighs."""

ALWAYS: Final = 7
"""Columns of all pages: `visited_at`, weight, shape, scale, cost, cost if changed, `neg_log_unchanged`."""
ANNOUNCED, HOST_RATIO, FOUND_AT, COMEBACK, OWED = range(5)
"""Those that may be behind, in this order: bit k of `given` says whether one is."""
OPTIONAL: Final = 5

OWED_TIMES: Final = 1e150
"""Times as much as its value by the price a page counts that is owed a visit."""
BEYOND: Final = 1e100
"""Values above it are of such pages: they say nothing of what visits are worth."""
