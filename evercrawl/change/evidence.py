"""What visits add to the evidence of a page's rate of change, where some changes are announced: of one page or of many.

Beliefs are updated here and nowhere else: `learn` is for a crawl, which learns visit by visit; `learn_many` for whoever
polls many pages at once, in experiments and in replays of histories. Both have the same formulas, and a test holds them
to it. The evidence is what all visits so far have added to the prior of the page; see `gamma`.

A site announces the part rho of its changes (see `announcements`). That tells of the interval between two visits:

- The visit follows an announcement that is likely to be true, and finds a change: it is near the change because of it,
  so how old the change is says nothing. How long it took until one was announced does: announcements come at the rate
  rho lambda, so that time counts rho times.
- It finds a change of which nothing was said: one of the others, which come at (1 - rho) lambda; and of those that
  would have been announced there was none.
- Else the interval counts as it is.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.change import gamma
from evercrawl.change.announcements import AT_FIRST
from evercrawl.types import Floats

FORGET: Final = 0.05
"""Evidence of one mean cycle ago counts e^-0.05 as much: rates drift, and a page that stood still for long may not."""
_FORGOTTEN: Final = 20.0  # cycles after which nothing more is forgotten
_FIT_FIRST: Final = 20  # intervals seen when the priors are fitted for the first time
_FIT_GROWTH: Final = 0.1  # of the intervals seen, after which they are fitted again
_FIT_OFTEN: Final = 100_000  # intervals after which the level is known; from then on they have to double


class Interval(NamedTuple):
    """What a visit says of the time since the visit before.

    Attributes
    ----------
    interval_s
        How long it was, but for that part of it of which it is known that nothing changed.
    quiet_s
        That part.
    age_s
        What to learn of the rate from in place of the interval, where the page was found changed; None where nothing
        tells.
    """

    interval_s: float
    quiet_s: float = 0.0
    age_s: float | None = None


class Intervals(NamedTuple):
    """The same of many pages, shape (n,) each; `age_s` is nan where nothing tells."""

    interval_s: Floats
    quiet_s: Floats
    age_s: Floats


def unannounced_s(interval_s: float, announced_s: float | None) -> float:
    """Return how long nothing was said of a page, of which a change was announced so long before the visit."""
    return interval_s if announced_s is None else min(max(interval_s - announced_s, 0.0), interval_s)


def interval(
    interval_s: float, changed: bool, age_s: float | None, announced_s: float | None, share: float, *, likely: bool
) -> Interval:
    """Return what a visit says of the time since the visit before.

    Parameters
    ----------
    interval_s, changed
        How long that was, and whether the visit found a change.
    age_s
        How long ago the change was, where a date can be trusted that says so.
    announced_s
        How long before the visit a change was first announced; None where none was.
    share, likely
        The part of its changes that the site announces, rho; whether what it announces is as likely true as not.

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
    """Return what `unannounced_s` would of each page; `announced_s` is nan where nothing was announced."""
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
    """Return what `interval` would of each page, with nan where it has None.

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
    """Return how much the evidence before an interval still counts, where a mean cycle is so long.

    >>> round(kept(2.0, 1.0), 3), kept(1.0, 0.0)
    (0.905, 1.0)
    """
    return math.exp(-FORGET * min(interval_s / cycle_s, _FORGOTTEN)) if cycle_s > 0 else 1.0


def kept_many(interval_s: Floats, cycle_s: float, forget: float = FORGET) -> Floats:
    """Return what `kept` would of each interval; evidence of one cycle ago counts e^-forget."""
    return np.exp(-forget * np.minimum(interval_s / cycle_s, _FORGOTTEN)) if cycle_s > 0 else np.ones(len(interval_s))


def learn(
    evidence: tuple[float, float], prior: tuple[float, float], seen: Interval, changed: bool, weight: float
) -> tuple[float, float]:
    """Return the evidence after a visit, (shape, scale_s).

    Parameters
    ----------
    evidence, prior
        The evidence before, (0, 0) for a page visited once; and the prior as it is now, (shape, scale_s) each.
    seen, changed
        What the visit says of the time since the visit before, and whether it found a change.
    weight
        How much the evidence before still counts; see `kept`.

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
    """Return what `learn` would of one visit to each of many pages, whose priors have one shape."""
    shape, scale_s = evidence[0] * weight, evidence[1] * weight + seen.quiet_s
    return gamma.learn_evidence_many(shape, scale_s, prior, seen.interval_s, changed, seen.age_s)


class Refits:
    """When to read all evidence anew, in the light of what it has shown: when there is a good deal more of it.

    Visit by visit the priors follow what changes. What they are measured against moves only then, and from the default
    it may have far to go.

    Parameters
    ----------
    intervals
        Between visits that were seen so far.
    """

    def __init__(self, intervals: int = 0) -> None:
        self.intervals, self._at = intervals, intervals + _FIT_FIRST

    def due(self) -> bool:
        """Return whether it is time; it is not soon after it was."""
        if self.intervals < self._at:
            return False
        growth = _FIT_GROWTH if self.intervals < _FIT_OFTEN else 1.0
        self._at = self.intervals + max(int(growth * self.intervals), 1)
        return True
