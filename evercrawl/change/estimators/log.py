"""The logarithm of the share of unchanged visits: consistent, but infinite for small samples."""

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.change.estimators.base import Tally
from evercrawl.types import Floats


def rate(visits: ArrayLike, changes: ArrayLike, passed_s: ArrayLike) -> Floats:
    """Return -ln(share of visits that found no change) x visits per second, (12).

    It is infinity if every visit found a change, for any true rate, so the mean of the estimator is infinite; nan
    without visits. For uneven intervals the mean interval is used.

    Examples
    --------
    Half of four visits, one every 10 s, found no change; then none did:

    >>> rate([4, 4, 0], [2, 4, 0], [40.0, 40.0, 0.0]).round(6)
    array([0.069315,      inf,      nan])
    """
    n, x, t = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (visits, changes, passed_s)))
    told = (n > 0) & (t > 0)
    share = np.where(told, n - x, 1.0) / np.where(told, n, 1.0)
    infinite = share <= 0
    found = -np.log(np.where(infinite, 1.0, share)) * n / np.where(told, t, 1.0)
    return np.where(told, np.where(infinite, np.inf, found + 0.0), np.nan)


class Log(Tally):
    """The logarithm of the share of visits that found no change.

    Examples
    --------
    >>> pages = Log(1)
    >>> for changed in (True, False):
    ...     pages.learn(np.array([0]), np.array([10.0]), np.array([changed]))
    >>> pages.rates()
    array([0.069315])

    References
    ----------
    Cho, Garcia-Molina (2003). Estimating frequency of change, section 4.2; Meng, Wang, Yan (2006), (12), whose print
    lost a sign.
    """

    def rates(self) -> Floats:
        """Return -ln(1 - X / n) n / T of each page."""
        return rate(self.visits, self.changes, self.passed_s)
