"""Updates of the evidence of a page's rate of change by visits, with announced changes, for one page or for many.

Posteriors are updated only here: `learn` is for a crawl, which learns visit by visit; `learn_many` is for experiments
and replays that update many pages at once. Both use the same formulas, which a test compares. The evidence is the sum
of what all visits have added to the prior of the page; see `gamma`.

A site announces the fraction rho of its changes (see `announcements`). This determines the evidence of the interval
between two visits:

- If the visit follows an announcement that is likely to be right, and finds a change, the visit is close to the change
  because of the announcement, so the age of the change carries no information. The time until the announcement does:
  announcements come at the rate rho lambda, so the time is multiplied by rho.
- If the visit finds a change that was not announced, this is one of the other changes, which come at
  (1 - rho) lambda; and none of the announced kind happened.
- Otherwise the interval counts as it is.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.change import gamma
from evercrawl.change.announcements import AT_FIRST
from evercrawl.types import Floats

FORGET: Final = 0.05
"""Evidence one mean cycle old is multiplied by e^-0.05, because rates drift: a static page may start to change."""
_FORGOTTEN: Final = 20.0  # maximum age, in cycles, for this discount
_FIT_FIRST: Final = 20  # number of intervals before the priors are fitted for the first time
_FIT_GROWTH: Final = 0.1  # relative growth of the number of intervals before they are fitted again
_FIT_OFTEN: Final = 100_000  # number of intervals after which it must double instead, because the level is known


class Interval(NamedTuple):
    """The evidence of a visit about the time since the previous visit.

    Attributes
    ----------
    interval_s
        Length of the interval, without the part in which the page is known to have been unchanged.
    quiet_s
        Length of that part.
    age_s
        Exposure to learn from in place of the interval, if the page was found changed; None if unknown.
    """

    interval_s: float
    quiet_s: float = 0.0
    age_s: float | None = None


class Intervals(NamedTuple):
    """The same for many pages, shape (n,) each; `age_s` is nan if unknown."""

    interval_s: Floats
    quiet_s: Floats
    age_s: Floats


def unannounced_s(interval_s: float, announced_s: float | None) -> float:
    """Return the time without an announcement, for a page with one `announced_s` before the visit."""
    return interval_s if announced_s is None else min(max(interval_s - announced_s, 0.0), interval_s)


def interval(
    interval_s: float, changed: bool, age_s: float | None, announced_s: float | None, share: float, *, likely: bool
) -> Interval:
    """Return the evidence of a visit about the time since the previous visit.

    Parameters
    ----------
    interval_s, changed
        Length of the interval, and whether the visit found a change.
    age_s
        Age of the change, according to a trusted date.
    announced_s
        Time from the first announcement of a change to the visit; None without one.
    share, likely
        The fraction rho of its changes that the site announces; whether its announcements are more likely right than
        false.

    Examples
    --------
    >>> interval(10.0, True, None, None, 0.8, likely=True), interval(10.0, True, None, 4.0, 0.8, likely=True).age_s
    (Interval(interval_s=2.0, quiet_s=8.0, age_s=None), 4.800000000000001)
    """
    if announced_s is not None and changed and likely:
        return Interval(interval_s, 0.0, max(share, AT_FIRST) * unannounced_s(interval_s, announced_s))
    quiet_s = share * interval_s if changed and announced_s is None and age_s is None else 0.0
    return Interval(interval_s - quiet_s, quiet_s, age_s)


def unannounced_many_s(interval_s: Floats, announced_s: Floats) -> Floats:
    """Return the result of `unannounced_s` for each page; `announced_s` is nan without an announcement."""
    until_s: Floats = np.clip(interval_s - announced_s, 0.0, np.maximum(interval_s, 0.0))
    return np.where(np.isnan(announced_s), interval_s, until_s)


def intervals(
    interval_s: Floats,
    changed: NDArray[np.bool_],
    age_s: Floats,
    announced_s: Floats,
    share: Floats,
    likely: NDArray[np.bool_],
) -> Intervals:
    """Return the result of `interval` for each page, with nan in place of None.

    >>> one, yes = np.full(1, 10.0), np.array([True])
    >>> intervals(one, yes, one * np.nan, one * np.nan, one * 0.08, yes)
    Intervals(interval_s=array([2.]), quiet_s=array([8.]), age_s=array([nan]))
    """
    told = ~np.isnan(announced_s)
    followed = told & changed & likely
    quiet_s = np.where(changed & ~told & np.isnan(age_s), share * interval_s, 0.0)
    counted_s = np.maximum(share, AT_FIRST) * unannounced_many_s(interval_s, announced_s)
    return Intervals(interval_s - quiet_s, quiet_s, np.where(followed, counted_s, age_s))


def kept(interval_s: float, cycle_s: float) -> float:
    """Return the weight of the evidence before an interval, given the length of a mean cycle.

    >>> round(kept(2.0, 1.0), 3), kept(1.0, 0.0)
    (0.905, 1.0)
    """
    return math.exp(-FORGET * min(interval_s / cycle_s, _FORGOTTEN)) if cycle_s > 0 else 1.0


def kept_many(interval_s: Floats, cycle_s: float, forget: float = FORGET) -> Floats:
    """Return the result of `kept` for each interval; evidence one cycle old is multiplied by e^-forget."""
    return np.exp(-forget * np.minimum(interval_s / cycle_s, _FORGOTTEN)) if cycle_s > 0 else np.ones(len(interval_s))


def learn(
    evidence: tuple[float, float], prior: tuple[float, float], seen: Interval, changed: bool, weight: float
) -> tuple[float, float]:
    """Return the evidence after a visit, (shape, scale_s).

    Parameters
    ----------
    evidence, prior
        The previous evidence, (0, 0) for a page visited once; and the current prior, (shape, scale_s) each.
    seen, changed
        The evidence of the visit about the interval, and whether it found a change.
    weight
        Weight of the previous evidence; see `kept`.

    Examples
    --------
    >>> learn((0.0, 5.0), (0.4, 3.0), Interval(2.0, 8.0, 1.0), True, 1.0)
    (1.0, 14.0)
    """
    shape, scale_s = gamma.forget(*evidence, weight)
    return gamma.learn_evidence(shape, scale_s + seen.quiet_s, prior, seen.interval_s, changed, seen.age_s)


def learn_many(
    evidence: tuple[Floats, Floats],
    prior: tuple[float, Floats],
    seen: Intervals,
    changed: NDArray[np.bool_],
    weight: Floats,
) -> tuple[Floats, Floats]:
    """Return the result of `learn` for one visit to each of many pages, whose priors have one shape."""
    shape, scale_s = evidence[0] * weight, evidence[1] * weight + seen.quiet_s
    return gamma.learn_evidence_many(shape, scale_s, prior, seen.interval_s, changed, seen.age_s)


class Refits:
    """Decides when to fit the priors to all evidence again: when the amount of evidence has grown enough.

    Visits update the priors, but the reference of the evidence changes only in a fit, and the default reference may be
    far off.

    Parameters
    ----------
    intervals
        Number of intervals between visits so far.
    """

    def __init__(self, intervals: int = 0) -> None:
        self.intervals, self._at = intervals, intervals + _FIT_FIRST

    def due(self) -> bool:
        """Return whether a fit is due; after a True answer, the next one comes only after more intervals."""
        if self.intervals < self._at:
            return False
        growth = _FIT_GROWTH if self.intervals < _FIT_OFTEN else 1.0
        self._at = self.intervals + max(int(growth * self.intervals), 1)
        return True
