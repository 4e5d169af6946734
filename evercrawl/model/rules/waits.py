"""The minimum time between two visits of a page, whatever its worth."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evercrawl.store.state import State
from evercrawl.store.table.known import TICKS_PER_S
from evercrawl.types import Floats

LEFT_ALONE: Final = "silent_until_"
"""Begins the names of the state's notes on until when a host is left alone for its silence; its number follows."""
_DOUBLED: Final = 16  # maximum number of doublings


def wait_s(misses: ArrayLike, refresh_after_s: float) -> Floats:
    """Return the minimum time between two visits; each consecutive visit that found a page gone or failed doubles it.

    So the wait is about as long as the page has been gone.

    Parameters
    ----------
    misses
        Consecutive visits of that kind; shape (n,).
    refresh_after_s
        The minimum time between two visits of a page that exists.

    Examples
    --------
    >>> wait_s([0, 1, 3], 10.0).tolist()
    [10.0, 20.0, 80.0]
    """
    waits: Floats = refresh_after_s * 2.0 ** np.minimum(np.asarray(misses, np.float64), _DOUBLED)
    return waits


def again_at(state: State, visited: NDArray[Any], misses: NDArray[Any], refresh_after_s: float) -> Floats:
    """Return the earliest instants of the next visits to pages, from the columns of their records, shape (n,)."""
    return state.epoch + visited / TICKS_PER_S + wait_s(misses, refresh_after_s)


def silent_until(state: State) -> dict[int, float]:
    """Return the end of the rest of hosts that did not respond while too many were pending, as far as noted.

    From the last snapshot, for a few hundred hosts.
    """
    noted = {name.removeprefix(LEFT_ALONE): at for name, at in state.notes.items() if name.startswith(LEFT_ALONE)}
    return {int(host): at for host, at in noted.items() if host.isdigit() and int(host) < len(state.hosts)}
