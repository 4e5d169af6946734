"""How fresh and how old copies are, from random probes: pages drawn by lot, and visited some time after.

What is asked is how a copy was *when it was drawn*, for a page cannot always be visited at once. A visit that finds no
change says that it was fresh. One that finds a change says that it was stale, unless the change may have come while the
page waited; then as far as the model says so, which is little as long as pages wait for less than they are left alone.

The age of a stale copy is seldom seen. Where the date of a change is believed, it is at least the time since then, and
as much more as changes before that one are to be expected; else it is what the model expects of a copy that is stale.
So the measured age is a measured part of stale copies, each as old as it is dated or thought to be.

References
----------
Cho, Garcia-Molina (2000). Synchronizing a database to improve freshness: freshness and age. Efron (1979). Bootstrap
methods: another look at the jackknife.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from evercrawl.change.expectations import age_after
from evercrawl.change.proportions import LEVEL, effective_size, wilson
from evercrawl.types import Floats, Ints

RESAMPLES: Final = 1000


class Prediction(NamedTuple):
    """What a model said of a copy when it was drawn.

    Attributes
    ----------
    fresh, age_s
        How likely it was to be fresh, and its expected age, which is 0 as long as it is.
    alone_s
        Time since the last visit that saw the content.
    """

    fresh: float
    age_s: float
    alone_s: float


class ProbeFinding(NamedTuple):
    """What the visit of a page that was drawn found.

    Attributes
    ----------
    after_s
        How long after the drawing it began; negative where it was under way by then.
    fresh
        Whether the copy was still the page.
    said
        How likely it was said to be so at the visit.
    change_after_s
        How long after the drawing the page last changed; negative for before, nan where that is not known.
    """

    after_s: float
    fresh: bool
    said: float = 0.0
    change_after_s: float = math.nan


class JudgedCopy(NamedTuple):
    """How a copy was when it was drawn: with what probability it was fresh, and its age."""

    fresh: float
    age_s: float


def judged(said: Prediction, found: ProbeFinding) -> JudgedCopy:
    """Return how a copy was when it was drawn, as far as its next visit tells.

    Examples
    --------
    A copy of 100 s, fresh with 0.8 when it was drawn and with 0.75 at the visit, where it was not: 0.2 of the 0.25 had
    come about before. Its age is said to be 10 s, which is 50 s if it is stale.

    >>> judged(Prediction(0.8, 10.0, 100.0), ProbeFinding(20.0, fresh=False, said=0.75))
    JudgedCopy(fresh=0.2, age_s=40.0)
    >>> judged(Prediction(0.8, 10.0, 100.0), ProbeFinding(20.0, fresh=True, said=0.75))
    JudgedCopy(fresh=1.0, age_s=0.0)
    """
    if found.fresh:
        return JudgedCopy(1.0, 0.0)
    if not math.isnan(found.change_after_s) and found.after_s > 0:
        if found.change_after_s > 0:  # it says nothing of changes before
            return JudgedCopy(said.fresh, said.age_s)
        return JudgedCopy(0.0, _dated_s(said, -found.change_after_s))
    stale = 1.0 - said.fresh
    part = min(stale / (1.0 - found.said), 1.0) if found.after_s > 0 and found.said < 1.0 else 1.0
    part = part if said.alone_s > 0 else 0.0
    return JudgedCopy(round(1.0 - part, 12), part * stale_age_s(said))


def stale_age_s(said: Prediction) -> float:
    """Return the age that was to be expected of a copy if it was stale."""
    stale = 1.0 - said.fresh
    return min(said.age_s / stale, said.alone_s) if stale > 1e-9 else 0.5 * said.alone_s


def _dated_s(said: Prediction, ago_s: float) -> float:
    """Return the age of a copy whose page last changed so long before: then, or at a change before that one."""
    earlier_s = max(said.alone_s - ago_s, 0.0)
    lam = -math.log(max(said.fresh, 1e-12)) / said.alone_s if said.alone_s > 0 else 0.0
    return min(ago_s, said.alone_s) + float(age_after(lam, earlier_s))


class ProbedMeasure(NamedTuple):
    """What a sample of copies says, beside what was said of the very same copies.

    Attributes
    ----------
    probes, visits
        Copies drawn, and visits by which they were judged: one may judge several.
    fresh, fresh_low, fresh_high
        The part that was fresh, and Wilson's interval for that of all copies.
    fresh_expected
        The mean probability that was said.
    age_s, age_low_s, age_high_s, age_expected_s
        The same for the mean age; the interval by bootstrap.
    """

    probes: int
    visits: int
    fresh: float
    fresh_low: float
    fresh_high: float
    fresh_expected: float
    age_s: float
    age_low_s: float
    age_high_s: float
    age_expected_s: float


def measure(
    fresh: Floats,
    age_s: Floats,
    expected: Floats,
    expected_age_s: Floats,
    stale_age_s: Floats,
    visit: Ints,
    level: float = LEVEL,
) -> ProbedMeasure | None:
    """Return what a sample says; None where it is empty.

    Parameters
    ----------
    fresh, age_s
        How each copy was, by `judged`; shape (n,).
    expected, expected_age_s, stale_age_s
        What was said of it, and of its age if it is stale.
    visit
        A number for the visit that told. Copies that one visit judged count less than if each had had its own.
    level
        With what probability the intervals are to hold.
    """
    if not len(fresh):
        return None
    _, place, counts = np.unique(visit, return_inverse=True, return_counts=True)
    sizes = counts.astype(np.float64)
    size = float(effective_size(sizes.sum(), (sizes**2).sum()))
    part, age = float(fresh.mean()), float(age_s.mean())
    low, high = (float(bound) for bound in wilson(part, size, level))
    ages = _resampled(np.bincount(place, age_s).astype(np.float64), sizes, level)
    if not age_s.any():  # all were fresh: as many may be stale as the interval allows
        ages = (0.0, (1.0 - low) * float(stale_age_s.mean()))
    return ProbedMeasure(
        len(fresh), len(sizes), part, low, high, float(expected.mean()), age, *ages, float(expected_age_s.mean())
    )


def _resampled(sums: Floats, sizes: Floats, level: float) -> tuple[float, float]:
    """Return between which bounds a mean lies, by drawing from the sample again and again."""
    n = len(sizes)
    times = np.random.default_rng(n).multinomial(n, np.full(n, 1.0 / n), RESAMPLES)
    means = (times @ sums) / (times @ sizes)
    low, high = np.quantile(means, [0.5 - 0.5 * level, 0.5 + 0.5 * level]).tolist()
    return low, high
