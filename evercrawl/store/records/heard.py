"""What a visit says of how much its site announces, in one number of two bytes.

Every visit of a page whose site announces changes says it, for ever, so it costs as little as will do: either number to
the nearest of steps of 9 %, which add up to what they should.
"""

from __future__ import annotations

import math
from typing import Final

_FINE: Final = 8  # steps as a number doubles
_LEAST: Final = 1e-4  # what makes the first eight
_MOST: Final = (1 << 8) - 1


def pack(listened: float, looked: float) -> int:
    """Return both as one number; 0 is for visits that say nothing of it.

    Parameters
    ----------
    listened, looked
        Changes that were to be expected, and to be found, as `change.announcements` has it.

    Examples
    --------
    >>> pack(0.0, 0.0), pack(0.25, 0.0), pack(0.25, 1.0)
    (1, 23041, 23147)
    """
    return 1 + (_MOST + 1) * _steps(listened) + _steps(looked)


def unpack(heard: int) -> tuple[float, float]:
    """Return both; `heard` is not 0.

    >>> unpack(1), [round(each, 2) for each in unpack(23147)]
    ((0.0, 0.0), [0.24, 0.97])
    """
    one, other = divmod(heard - 1, _MOST + 1)
    return _number(one), _number(other)


def _steps(number: float) -> int:
    return min(round(_FINE * math.log2(1.0 + max(number, 0.0) / _LEAST)), _MOST)


def _number(steps: int) -> float:
    return _LEAST * (math.exp2(steps / _FINE) - 1.0)
