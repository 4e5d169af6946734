"""The smooth window: all history counts, with weights that decay exponentially with age."""

from math import exp, expm1

import numpy as np

from evercrawl.importance.base import Account, Past
from evercrawl.importance.windows._fading import Fading
from evercrawl.importance.windows.base import Pasts, earned, weighed
from evercrawl.types import Floats


class Exponential(Fading):
    """An average with the time constant T, as if the cash of each interval had come evenly in it.

    It approximates interpolation without its branch: h <- h a + C T (1 - a) / d, where a = exp(-d/T). The weight of
    the history, w <- w a + T (1 - a), removes the initial bias; its missing part, 1 - w/T, is what is kept. A steady
    inflow x is estimated as x from the first visit on.

    Examples
    --------
    A page that gains 0.1 per unit of G, visited at G = 1 and at G = 3, and looked at when G = 7:

    >>> from evercrawl.importance.base import Account
    >>> window = Exponential(4.0)
    >>> first = window.add(Account(0.1, 0.0, born=0.0), 1.0)
    >>> second = window.add(Account(0.2, *first), 3.0)
    >>> round(second.history, 6), round(0.4 * (1 - exp(-3 / 4)), 6), round(second.kept[0], 6), round(exp(-3 / 4), 6)
    (0.211053, 0.211053, 0.472367, 0.472367)
    >>> page = Pasts(np.array([second.history]), np.array([3.0]), np.array([second.kept]), np.zeros(1))
    >>> window.now(page, np.array([0.4]), 7.0).round(6)
    array([0.1])

    References
    ----------
    Kingma, Ba (2015). Adam: A Method for Stochastic Optimization, section 3, for the correction.
    """

    def add(self, page: Account, now: float) -> Past:
        """Decay the history, and add the cash as if it had come evenly since the last visit."""
        before = self._before(page, now)
        passed = max(now - before.mark, 0) / self.length
        history, missing = added(before.history, before.kept[0], earned(page), passed)
        return Past(history, now, (missing,))

    def now(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the estimates as they would be after a visit now."""
        passed = np.maximum(total - self._since(page, total), 0.0) / self.length
        missing = np.where(page.mark > 0, page.kept[:, 0], 1.0)
        return averaged(page.history / self.length, missing, cash / self.length, passed, guess)


def added(history: float, missing: float, earned: float, passed: float) -> tuple[float, float]:
    """Return the history and the missing part of its window after cash came for `passed` of a window's length.

    >>> added(1.0, 0.5, 0.25, 0.0)
    (1.25, 0.5)
    """
    left = exp(-passed)
    return history * left + earned * (-expm1(-passed) / passed if passed else 1), missing * left


def averaged(history: Floats, missing: Floats, cash: Floats, passed: Floats, guess: float | None) -> Floats:
    """Return importance, shape (n,): `added` for columns, weighed; history and cash in units of a window's length."""
    left = np.exp(-passed)
    even = np.divide(-np.expm1(-passed), passed, out=np.ones_like(passed), where=passed > 0)
    return weighed(history * left + cash * even, 1 - missing * left, guess)
