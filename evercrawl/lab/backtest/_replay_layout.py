"""Memory layout of the per-page state and counters of a replay."""

from typing import Final

import numpy as np

NEVER: Final = -2
"""The state of a copy that was never taken."""
HELD: Final = np.dtype(
    [("version", "i8"), ("state", "i8"), ("simhash", "u8"), ("settled_at", "f8"), ("stale_at", "f8"),
     ("alive_s", "f8"), ("fresh_s", "f8"), ("similar_s", "f8"), ("stale_s2", "f8"),
     ("polls", "i8"), ("unchanged", "i8"), ("seen_at", "f8")],
    align=True,
)  # fmt: skip
"""Of each page: the version that is there, what is held of it (its state, its simhash), up to when it is counted, since
when the copy is stale (inf for not); then what is counted: how long there was a page, how long the copy was equal to
it, how long its words were (but for 3 bits), the integral of its age, polls, and polls that found what was held; and
when a poll saw the page first (nan for never)."""
