"""Retired pages: gone so often, and for so long, that they are no longer requested."""

from typing import Any

from numpy.typing import NDArray

from evercrawl.store.table.known import TICKS_PER_S
from evercrawl.types import RETIRED, RETIRED_S, Outcome


def retired(rows: NDArray[Any]) -> NDArray[Any]:
    """Return which records are of retired pages, shape (n,): gone six times in a row, and unseen for thirty days.

    For a page that was never seen, six times are enough.

    Examples
    --------
    >>> import numpy as np
    >>> from evercrawl.store.records.records import RECORD
    >>> rows = np.zeros(4, RECORD)
    >>> rows["outcome"], rows["misses"] = Outcome.GONE, [6, 6, 6, 5]
    >>> rows["seen"] = [0, 1, 1, 0]
    >>> rows["visited"] = np.array([9, 9, 31 * 86_400, 9]) * TICKS_PER_S
    >>> retired(rows).tolist()
    [True, False, True, False]
    """
    gone = (rows["outcome"] == Outcome.GONE) & (rows["misses"] >= RETIRED)
    since = rows["visited"].astype("i8") - rows["seen"].astype("i8")
    found: NDArray[Any] = gone & ((rows["seen"] == 0) | (since >= RETIRED_S * TICKS_PER_S))
    return found
