"""Bayesian classes: a page belongs to one of a few rate classes, and each visit updates the class probabilities.

References
----------
Cho, Garcia-Molina (2000). The evolution of the web and implications for an incremental crawler, section 5.3, with two
classes; Meng, Wang, Yan (2006), (15), (16), where "5 times" must be "after 5 days".
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.change.estimators.base import Estimator
from evercrawl.types import Flags, Floats, Ints

_DAY_S: Final = 86_400.0
PERIODS_S: Final = tuple(_DAY_S * days for days in (0.1, 0.5, 1, 3, 7, 15, 30, 60, 120, 365, 1200))
"""Default mean times between two changes of the classes: from a tenth of a day to three years."""


def log_likelihood(rates: Floats, interval_s: Floats, changed: Flags, age_s: Floats | None = None) -> Floats:
    """Return the log-likelihood of each visit's result in each class, up to a term common to all classes.

    Parameters
    ----------
    rates
        Changes per second of each class, above 0, shape (k,).
    interval_s, changed
        For each visit, the time since the previous one, and whether it found a change; shape (n,).
    age_s
        Time from the last change to the visit, nan if unknown; shape (n,).

    Returns
    -------
    Floats
        Shape (n, k): -lam tau without a change; ln(1 - e^(-lam tau)) with one; ln lam - lam s with one of age s.

    Examples
    --------
    >>> log_likelihood(np.array([1.0]), np.ones(2), np.array([False, True])).round(6).tolist()
    [[-1.0], [-0.458675]]
    """
    x = interval_s[:, None] * rates
    changes = np.log(np.maximum(-np.expm1(-x), 1e-300))
    found = np.where(changed[:, None], changes, -x)
    if age_s is None:
        return found
    dated = changed & ~np.isnan(age_s)
    ages_s = np.where(dated, np.clip(np.where(dated, age_s, 0.0), 0.0, interval_s), 0.0)
    return np.where(dated[:, None], np.log(rates) - ages_s[:, None] * rates, found)


def posterior(log_weights: Floats) -> Floats:
    """Return normalised probabilities from logarithms of weights, along the last axis.

    Examples
    --------
    >>> posterior(np.log([[3.0, 1.0]]) - 900.0)
    array([[0.75, 0.25]])
    """
    weights = np.exp(log_weights - log_weights.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True))


class Classes(Estimator):
    """Bayesian rate classes, in any number, for visits at any intervals.

    Parameters
    ----------
    pages
        Number of pages.
    periods_s
        Mean time between two changes in each class, shape (k,).
    prior
        Prior probability of each class; equal by default.

    Examples
    --------
    Weekly or monthly? A change was found after five days:

    >>> pages = Classes(1, [7.0, 30.0])
    >>> pages.learn(np.array([0]), np.array([5.0]), np.array([True]))
    >>> pages.probabilities().round(5)
    array([[0.76879, 0.23121]])
    >>> pages.rates().round(6) == (0.76879 / 7 + 0.23121 / 30).__round__(6)
    array([ True])
    """

    def __init__(self, pages: int, periods_s: ArrayLike = PERIODS_S, prior: ArrayLike | None = None) -> None:
        super().__init__(pages)
        self.class_rates: Floats = 1.0 / np.asarray(periods_s, np.float64)
        first = np.ones(len(self.class_rates)) if prior is None else np.asarray(prior, np.float64)
        self._first: Floats = np.log(np.maximum(first / first.sum(), 1e-300))
        self._logs = np.tile(self._first, (pages, 1))

    def grow(self, pages: int) -> None:
        """Make room for more pages, with the prior as their probabilities."""
        self._logs = np.concatenate([self._logs, np.tile(self._first, (pages - self.pages, 1))])
        super().grow(pages)

    def learn(self, rows: Ints, interval_s: Floats, changed: Flags, age_s: Floats | None = None) -> None:
        """Multiply the class probabilities by the likelihoods of the results."""
        logs = self._logs[rows] + log_likelihood(self.class_rates, interval_s, changed, age_s)
        self._logs[rows] = logs - logs.max(1, keepdims=True)

    def probabilities(self) -> Floats:
        """Return the class probabilities, shape (pages, k)."""
        return posterior(self._logs)

    def rates(self) -> Floats:
        """Return the mean rate under these probabilities."""
        return np.asarray(self.probabilities() @ self.class_rates)
