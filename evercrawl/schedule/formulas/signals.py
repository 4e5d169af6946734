"""The worth of a visit if a site announces some of its changes, possibly with false alarms.

A page changes at rate lam; a fraction rho of its changes is announced, and false alarms come at rate phi. So
announcements come at gamma = lam rho + phi, each is right with probability pi = lam rho / gamma, and unannounced
changes come at alpha = lam (1 - rho). With n announcements since the last visit, tau ago, the copy is still fresh with
probability e^-y, where y = alpha tau + n kappa, kappa = -ln(1 - pi): y is a sufficient statistic. A visit is due when y
reaches the level at which a visit is worth the price.
"""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.types import Floats

_MOST_LEVEL: Final = 40.0  # at this level a copy, fresh with probability e^-40, counts as stale
_SMALL: Final = 1e-12
_TERMS: Final = 400
_LOW_LEVEL: Final = 1e-7
_LEVELS: Final = 4000
_HALVINGS: Final = 100


class PageSignals(NamedTuple):
    """The rates of a page's changes and announcements.

    Attributes
    ----------
    announced
        gamma: announcements per second, right or wrong.
    silent
        alpha: unannounced changes per second.
    kappa
        Increase of the level by one announcement; 0 if announcements carry no information.
    """

    announced: float
    silent: float
    kappa: float


def signals(lam: float, recall: float, false_rate: float) -> PageSignals:
    """Return the rates that follow from the rate of change, the announced fraction, and the rate of false alarms.

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
    """Return the maximum freshness for known rates and announced changes, as a fraction of all weight.

    Each page is visited when its level reaches the value at which a visit is worth the price; the price is the one at
    which the whole budget is spent. Announcements are acted upon at once, without the delay of a scheduler's tick.

    Parameters
    ----------
    weight, lam
        Importance, and changes per unit of time, shape (n,).
    budget
        Visits per unit of time.
    recall, precision
        Fraction of the changes that are announced, less than 1, and fraction of the announcements that are right.

    Examples
    --------
    Without announcements the result is that of `allocation.optimum`:

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
        asked: Floats = np.exp(middle) * lam / weight  # for a page that changes once per unit of time
        some = asked < earned[-1]
        cycle: Floats = np.interp(asked, earned, passed)
        visits = np.where(some, lam / np.maximum(cycle, _SMALL), 0.0)
        kept = np.where(some, np.interp(asked, earned, fresh) / np.maximum(cycle, _SMALL), 0.0)
        low, high = (middle, high) if visits.sum() > budget else (low, middle)
    return float(np.dot(weight, kept) / weight.sum())


def times(of: PageSignals, at: Floats) -> tuple[Floats, Floats]:
    """Return the mean interval ET and the mean fresh time EF by level, in seconds.

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
        left = (at - n * of.kappa) / silent  # m: the time until the level is reached with n announcements
        some = left > 0
        if not some.any() or (of.announced == 0 and n > 0):
            break
        m = np.where(some, left, 0.0)
        passed += lower_gamma(n + 1, of.announced * m) / of.announced if of.announced > 0 else m
        fresh += kept * share * lower_gamma(n + 1, both * m)
        share, kept = share * of.announced / both, kept * np.exp(-of.kappa)
    return passed, fresh


def lower_gamma(shape: int, x: Floats) -> Floats:
    """Return the regularised lower incomplete gamma function of an integer shape: P(at least that many Poisson events).

    >>> lower_gamma(1, np.array([np.log(2.0)])).round(9), lower_gamma(3, np.array([1e-3])).round(13)
    (array([0.5]), array([1.665e-10]))
    """
    below, term = np.zeros(x.shape), np.exp(-x)
    for k in range(shape):
        below += term
        term = term * x / (k + 1)
    above = np.zeros(x.shape)  # the upper tail, summed where the lower one would lose precision by cancellation
    for k in range(shape, shape + _TERMS):
        above += term
        term = term * x / (k + 1)
        if not (term > _SMALL * above).any():
            break
    return np.where(x < shape + 1.0, above, 1.0 - below)
