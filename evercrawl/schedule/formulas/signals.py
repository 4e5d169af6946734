"""What a visit is worth where a site announces some of its changes, not all, and sometimes wrongly.

Of a page's changes, at rate lam, a part rho is announced; false alarms come at rate phi. So announcements come at
gamma = lam rho + phi, each is right with probability pi = lam rho / gamma, and what is not announced changes at
alpha = lam (1 - rho). With n announcements since the last visit, tau ago, the copy is still fresh with probability
e^-y, where y = alpha tau + n kappa, kappa = -ln(1 - pi): one number tells all. A visit is due when y has come to a
level, which is that at which a visit is worth the price.
"""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.types import Floats

_MOST_LEVEL: Final = 40.0  # a copy that is fresh with probability e^-40 is not
_SMALL: Final = 1e-12
_TERMS: Final = 400
_LOW_LEVEL: Final = 1e-7
_LEVELS: Final = 4000
_HALVINGS: Final = 100


class PageSignals(NamedTuple):
    """How a page changes, and what is said of it.

    Attributes
    ----------
    announced
        gamma: announcements, right or wrong, a second.
    silent
        alpha: changes a second that nobody announces.
    kappa
        By how much one announcement raises the level; 0 where they say nothing.
    """

    announced: float
    silent: float
    kappa: float


def signals(lam: float, recall: float, false_rate: float) -> PageSignals:
    """Return what announcements are like, by the rate of change, the part that is announced, and false alarms.

    Examples
    --------
    Half of all changes are announced, and every other announcement is false:

    >>> signals(1.0, 0.5, 0.5)
    PageSignals(announced=1.0, silent=0.5, kappa=0.6931471805599453)
    """
    announced = lam * recall + false_rate
    precision = min(lam * recall / announced, 1.0 - _SMALL) if announced > 0 else 0.0
    return PageSignals(announced, lam * (1.0 - recall), float(-np.log1p(-precision)))


def optimum(weight: Floats, lam: Floats, budget: float, recall: float, precision: float) -> float:
    """Return the best freshness there is where rates are known and changes announced, a part of all weight.

    Every page is visited when its level has come to where a visit is worth the price; the price is that at which all
    of the budget is spent. Announcements are acted upon at once, of which no tick of a clock allows.

    Parameters
    ----------
    weight, lam
        Importance, and changes per unit of time, shape (n,).
    budget
        Visits per unit of time.
    recall, precision
        Part of the changes that are announced, less than 1, and part of the announcements that are right.

    Examples
    --------
    Without announcements it is what `allocation.optimum` finds:

    >>> from evercrawl.schedule.formulas import allocation
    >>> weight, lam = np.array([5.0, 1.0, 1.0]), np.array([1.0, 0.1, 9.0])
    >>> round(optimum(weight, lam, 2.0, 0.0, 1.0), 4), round(allocation.optimum(weight, lam, 2.0).value / 7.0, 4)
    (0.6619, 0.6619)
    """
    at = np.r_[0.0, np.geomspace(_LOW_LEVEL, _MOST_LEVEL, _LEVELS)]
    of = signals(1.0, recall, recall * (1.0 / precision - 1.0))
    passed, fresh = times(of, at)
    earned: Floats = np.maximum.accumulate(np.maximum(fresh - np.exp(-at) * passed, 0.0))
    low, high = -80.0, 80.0
    visits = kept = np.zeros(len(lam))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        asked: Floats = np.exp(middle) * lam / weight  # of a page that changes once per unit of time
        some = asked < earned[-1]
        cycle: Floats = np.interp(asked, earned, passed)
        visits = np.where(some, lam / np.maximum(cycle, _SMALL), 0.0)
        kept = np.where(some, np.interp(asked, earned, fresh) / np.maximum(cycle, _SMALL), 0.0)
        low, high = (middle, high) if visits.sum() > budget else (low, middle)
    return float(np.dot(weight, kept) / weight.sum())


def times(of: PageSignals, at: Floats) -> tuple[Floats, Floats]:
    """Return ET and EF by level, in seconds.

    References
    ----------
    Kolobov et al. (2019). Staying up to date with online content changes using reinforcement learning, and
    Busa-Fekete et al. (2025), on noisy announcements; for these sums: the time until a Poisson process of announcements
    meets a falling bound, which is a regularised incomplete gamma function for each number of announcements.
    """
    silent = max(of.silent, _SMALL * max(of.announced, _SMALL))
    both = silent + of.announced
    passed, fresh = np.zeros(at.shape), np.zeros(at.shape)
    share, kept = 1.0 / both, 1.0  # gamma^n / (alpha + gamma)^(n + 1), and e^(-n kappa)
    for n in range(_TERMS):
        left = (at - n * of.kappa) / silent  # m: how long the level would take with n announcements
        some = left > 0
        if not some.any() or (of.announced == 0 and n > 0):
            break
        m = np.where(some, left, 0.0)
        passed += lower_gamma(n + 1, of.announced * m) / of.announced if of.announced > 0 else m
        fresh += kept * share * lower_gamma(n + 1, both * m)
        share, kept = share * of.announced / both, kept * np.exp(-of.kappa)
    return passed, fresh


def lower_gamma(shape: int, x: Floats) -> Floats:
    """Return the regularised lower incomplete gamma function of a whole shape: the chance of so many Poisson events.

    >>> lower_gamma(1, np.array([np.log(2.0)])).round(9), lower_gamma(3, np.array([1e-3])).round(13)
    (array([0.5]), array([1.665e-10]))
    """
    below, term = np.zeros(x.shape), np.exp(-x)
    for k in range(shape):
        below += term
        term = term * x / (k + 1)
    above = np.zeros(x.shape)  # the other tail, summed where the first would cancel
    for k in range(shape, shape + _TERMS):
        above += term
        term = term * x / (k + 1)
        if not (term > _SMALL * above).any():
            break
    return np.where(x < shape + 1.0, above, 1.0 - below)
