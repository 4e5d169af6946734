"""Memory layout of the per-page state and counters of a replay."""

from typing import Final

import numpy as np

NEVER: Final = -2
"""The state of a copy that was never taken."""
HELD: Final = np.dtype(
    [("version", "i8"), ("state", "i8"), ("simhash", "u8"), ("settled_at", "f8"), ("stale_at", "f8"),
     ("alive_s", "f8"), ("fresh_s", "f8"), ("similar_s", "f8"), ("stale_s2", "f8"),
     ("polls", "i8"), ("unchanged", "i8"), ("seen_at", "f8"), ("read", "i8")],
    align=True,
)  # fmt: skip
"""Of each page: its present version, the copy's state and simhash, the time up to which it is counted, and the time
since which the copy is stale (inf if fresh). Then the counters: time in which the page existed, in which the copy
equalled it, in which their words were equal up to 3 bits; the integral of the age; polls, and polls without a change;
the time of the first poll that saw the page (nan for never); and its state at the last poll that saw it."""
