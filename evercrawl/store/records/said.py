"""What was said of a copy before a visit, and what the visit saw, in one number of three bytes.

Every visit of a known page says both, for ever, so it costs as little as will do: the probability in ten-thousandths,
which is finer than any that can be told from another by counting.
"""

from __future__ import annotations

import math
from typing import Final

STEPS: Final = 10_000


def pack(probability: float, fresh: bool | None) -> int:
    """Return both as one number; 0 where either is not known (nan, None).

    Examples
    --------
    >>> pack(0.25, True), pack(1.0, False), pack(math.nan, True), pack(0.5, None)
    (5002, 20001, 0, 0)
    """
    if fresh is None or math.isnan(probability):
        return 0
    return 1 + 2 * round(STEPS * min(max(probability, 0.0), 1.0)) + fresh


def unpack(said: int) -> tuple[float, bool]:
    """Return the probability, and whether the copy was fresh; `said` is not 0.

    Examples
    --------
    >>> unpack(5002), unpack(20001)
    ((0.25, True), (1.0, False))
    """
    return ((said - 1) >> 1) / STEPS, bool((said - 1) & 1)
