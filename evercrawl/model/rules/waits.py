"""How long a page is left alone after a visit, whatever another would be worth."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evercrawl.store.state import State
from evercrawl.store.table.known import TICKS_PER_S
from evercrawl.types import Floats

LEFT_ALONE: Final = "silent_until_"
"""Begins the names of the state's notes on until when a host is left alone for its silence; its number follows."""
_DOUBLED: Final = 16  # times, at most


def wait_s(misses: ArrayLike, refresh_after_s: float) -> Floats:
    """Return the least time between two visits: each in a row that found a page gone or in trouble doubles it.

    So a page is left alone for about as long as it has been gone.

    Parameters
    ----------
    misses
        Such visits in a row; shape (n,).
    refresh_after_s
        The least time between two visits of a page that is there.

    Examples
    --------
    >>> wait_s([0, 1, 3], 10.0).tolist()
    [10.0, 20.0, 80.0]
    """
    waits: Floats = refresh_after_s * 2.0 ** np.minimum(np.asarray(misses, np.float64), _DOUBLED)
    return waits


def again_at(state: State, visited: NDArray[Any], misses: NDArray[Any], refresh_after_s: float) -> Floats:
    """Return the instants before which pages are not visited again, by these columns of their records, shape (n,)."""
    return state.epoch + visited / TICKS_PER_S + wait_s(misses, refresh_after_s)


def silent_until(state: State) -> dict[int, float]:
    """Return until when hosts are left alone that said nothing while too many were waited for, as far as it is noted.

    As the last snapshot has it, of some hundred hosts.
    """
    noted = {name.removeprefix(LEFT_ALONE): at for name, at in state.notes.items() if name.startswith(LEFT_ALONE)}
    return {int(host): at for host, at in noted.items() if host.isdigit() and int(host) < len(state.hosts)}
