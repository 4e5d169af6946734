"""Orders to a partition that is being moved wait until it is in its new place."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final, TypeVar

from evercrawl.cli.show.plain import fit

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")
WAIT_S: Final = 120.0
"""Maximum time for which an order waits."""
LOOK_S: Final = 0.2


def once_placed(give: Callable[[], _T], wait_s: float = WAIT_S) -> _T:
    """Give an order, and repeat it while its partition is being moved; return the result.

    At each call `give` must look up where the partition is.

    Raises
    ------
    LeavingError
        The move takes longer than `wait_s` seconds; the order was not given.
    """
    from evercrawl.store.disk.leaving import LeavingError

    until, told = time.monotonic() + wait_s, False
    while True:
        try:
            return give()
        except LeavingError:
            if time.monotonic() >= until:
                raise
            if not told:
                print(fit("evercrawl: waiting: the partition is being moved", sys.stderr), file=sys.stderr)
                told = True
            time.sleep(LOOK_S)
