"""An estimator that uses the server's date of the last change: the exposure ends there, and no change is missed."""

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.change.estimators.base import Tally
from evercrawl.types import Flags, Floats, Ints


def rate(visits: ArrayLike, changes: ArrayLike, exposure_s: ArrayLike) -> Floats:
    """Return X' / T, X' = (X - 1) - X / (N ln(1 - X / N)), changes per second.

    X / T, the maximum-likelihood rate, is too high for slowly changing pages; X' corrects this. If every visit found a
    change, or none did, X' is undefined, and the result is nan: use a Gamma posterior (`gamma`) then.

    Parameters
    ----------
    visits
        N, number of visits.
    changes
        X, number of visits that found a change.
    exposure_s
        T, the sum over visits of the previous interval, or of the age of the last change if that is shorter.

    Examples
    --------
    >>> rate([10, 10, 10], [4, 0, 10], 23.5).round(6)
    array([0.160981,      nan,      nan])
    """
    n, x, t = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (visits, changes, exposure_s)))
    told = (x > 0) & (x < n) & (t > 0)
    n, x, t = (np.where(told, each, other) for each, other in ((n, 2.0), (x, 1.0), (t, 1.0)))
    return np.where(told, ((x - 1) - x / (n * np.log1p(-x / n))) / t, np.nan)


def naive(changes: ArrayLike, exposure_s: ArrayLike) -> Floats:
    """Return X / T, the maximum-likelihood rate; nan without exposure.

    Examples
    --------
    >>> naive(4, 20.0)
    array(0.2)
    """
    t = np.asarray(exposure_s, np.float64)
    return np.where(t > 0, np.asarray(changes, np.float64) / np.where(t > 0, t, 1.0), np.nan)


def counts(interval_s: Floats, age_s: Floats) -> tuple[int, int, float]:
    """Return N, X and T of one page, from the interval before each visit and the age of the last change at the visit.

    Examples
    --------
    The second visit found the change that the first had already found:

    >>> counts(np.array([10.0, 5.0]), np.array([2.0, 7.0]))
    (2, 1, 7.0)
    """
    return len(interval_s), int((age_s < interval_s).sum()), float(np.minimum(age_s, interval_s).sum())


class LastModified(Tally):
    """Rates from the dates of the last changes that servers give.

    A change of unknown date counts as made in the middle of the interval.

    Examples
    --------
    >>> pages = LastModified(1)
    >>> pages.learn(np.array([0]), np.array([10.0]), np.array([True]), np.array([2.0]))
    >>> pages.learn(np.array([0]), np.array([5.0]), np.array([False]))
    >>> pages.visits, pages.changes, pages.passed_s
    (array([2.]), array([1.]), array([7.]))

    References
    ----------
    Cho, Garcia-Molina (2003). Estimating frequency of change, section 6: "when the last-modification date is known".
    """

    def learn(self, rows: Ints, interval_s: Floats, changed: Flags, age_s: Floats | None = None) -> None:
        """Count visits and changes, and add up the exposure."""
        ages_s = interval_s / 2 if age_s is None else np.where(np.isnan(age_s), interval_s / 2, age_s)
        exposure_s = np.where(changed, np.clip(ages_s, 0.0, interval_s), interval_s)
        super().learn(rows, exposure_s, changed)

    def rates(self) -> Floats:
        """Return X' / T of each page."""
        return rate(self.visits, self.changes, self.passed_s)
