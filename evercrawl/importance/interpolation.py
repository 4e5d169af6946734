"""The window of adaptive OPIC that needs two numbers a page: interpolation between its last visit and this one."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evercrawl.types import Floats


class Interpolation:
    """What of a page's history still counts: about the last `window` of G-time, held as one sum of cash.

    Each visit keeps the part 1 - d/T of the old history, d being the G-time since the last visit, and adds the cash.
    For a steady inflow x the history tends to xT, whenever the visits are. It is an average with the time constant T,
    not a cut, so its averaging length is about 2T. The rule is linear: told d in place of the cash it gives the weight
    w that has come together so far, and history / w has no bias at the start.

    Parameters
    ----------
    window
        T, in units of all the cash there is; infinity counts everything, as OPIC does.

    Examples
    --------
    A page that gains 0.1 per unit of G; its first two visits are at G = 1 and G = 3, the third a whole window later:

    >>> window = Interpolation(4.0)
    >>> window.add(0.0, 0.1, 1.0), window.add(0.1, 0.2, 2.0), window.add(0.25, 0.6, 6.0)
    (0.1, 0.25, 0.4)
    >>> weight = window.add(window.add(0.0, 1.0, 1.0), 2.0, 2.0)
    >>> 0.25 / weight
    0.1

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4.
    """

    def __init__(self, window: float = inf) -> None:
        assert window > 0, "a window without length holds nothing"
        self.window = window

    def add(self, history: float, cash: float, elapsed: float) -> float:
        """Return the history after a visit that moved `cash`, `elapsed` of G-time (d >= 0) after the one before."""
        if self.window == inf:  # apart, so that exact numbers stay exact
            return history + cash
        if elapsed < self.window:
            return history * (self.window - elapsed) / self.window + cash
        return cash * self.window / elapsed

    def now(self, history: Floats, cash: Floats, elapsed: Floats) -> Floats:
        """Return what `add` would return for each of many pages, shape (n,), were they visited now."""
        if self.window == inf:
            return history + cash
        kept = np.maximum(1 - elapsed / self.window, 0.0)
        return history * kept + cash * (self.window / np.maximum(elapsed, self.window))
