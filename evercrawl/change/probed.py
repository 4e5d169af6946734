"""Freshness and age of copies, measured by random probes: pages sampled at random and visited some time later.

The question is the state of a copy *when it was sampled*, because a page cannot always be visited at once. A visit that
finds no change shows that the copy was fresh. A visit that finds a change shows that it was stale, unless the change
may have come while the page waited. Then the model gives the probability of that, which is small as long as the wait is
shorter than the time between visits.

The age of a stale copy is rarely observed. If the date of a change is trusted, the age is at least the time since then,
plus the expected time of earlier missed changes; otherwise it is the model's expectation for a stale copy. So the
measured age is the measured fraction of stale copies, each with its dated or expected age.

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
    """The model's prediction for a copy when it was sampled.

    Attributes
    ----------
    fresh, age_s
        Probability that it was fresh, and its expected age (0 for a fresh copy).
    alone_s
        Time since the last visit that saw the content.
    """

    fresh: float
    age_s: float
    alone_s: float


class ProbeFinding(NamedTuple):
    """The result of the visit to a sampled page.

    Attributes
    ----------
    after_s
        Time from the sampling to the start of the visit; negative if the visit was already under way.
    fresh
        Whether the copy was still current.
    said
        Predicted probability of that at the visit.
    change_after_s
        Time from the sampling to the last change of the page; negative for an earlier change, nan if unknown.
    """

    after_s: float
    fresh: bool
    said: float = 0.0
    change_after_s: float = math.nan


class JudgedCopy(NamedTuple):
    """The state of a copy when it was sampled: the probability that it was fresh, and its age."""

    fresh: float
    age_s: float


def judged(said: Prediction, found: ProbeFinding) -> JudgedCopy:
    """Return the state of a copy when it was sampled, as inferred from its next visit.

    Examples
    --------
    A copy 100 s old was fresh with probability 0.8 when it was sampled and 0.75 at the visit, which found it stale: 0.2
    of the 0.25 had come about before. Its expected age is 10 s, which is 50 s for a stale copy.

    >>> judged(Prediction(0.8, 10.0, 100.0), ProbeFinding(20.0, fresh=False, said=0.75))
    JudgedCopy(fresh=0.2, age_s=40.0)
    >>> judged(Prediction(0.8, 10.0, 100.0), ProbeFinding(20.0, fresh=True, said=0.75))
    JudgedCopy(fresh=1.0, age_s=0.0)
    """
    if found.fresh:
        return JudgedCopy(1.0, 0.0)
    if not math.isnan(found.change_after_s) and found.after_s > 0:
        if found.change_after_s > 0:  # it carries no information about earlier changes
            return JudgedCopy(said.fresh, said.age_s)
        return JudgedCopy(0.0, _dated_s(said, -found.change_after_s))
    stale = 1.0 - said.fresh
    part = min(stale / (1.0 - found.said), 1.0) if found.after_s > 0 and found.said < 1.0 else 1.0
    part = part if said.alone_s > 0 else 0.0
    return JudgedCopy(round(1.0 - part, 12), part * stale_age_s(said))


def stale_age_s(said: Prediction) -> float:
    """Return the expected age of a copy given that it is stale."""
    stale = 1.0 - said.fresh
    return min(said.age_s / stale, said.alone_s) if stale > 1e-9 else 0.5 * said.alone_s


def _dated_s(said: Prediction, ago_s: float) -> float:
    """Return the age of a copy whose page last changed `ago_s` earlier, including possible earlier missed changes."""
    earlier_s = max(said.alone_s - ago_s, 0.0)
    lam = -math.log(max(said.fresh, 1e-12)) / said.alone_s if said.alone_s > 0 else 0.0
    return min(ago_s, said.alone_s) + float(age_after(lam, earlier_s))


class ProbedMeasure(NamedTuple):
    """The result of a sample of copies, with the predictions for the same copies.

    Attributes
    ----------
    probes, visits
        Number of sampled copies, and of the visits that judged them: one visit may judge several.
    fresh, fresh_low, fresh_high
        Fraction that was fresh, and Wilson's interval for the fraction of all copies.
    fresh_expected
        Mean predicted probability.
    age_s, age_low_s, age_high_s, age_expected_s
        The same for the mean age; the interval is a bootstrap interval.
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
    """Return the result of a sample; None if it is empty.

    Parameters
    ----------
    fresh, age_s
        State of each copy, by `judged`; shape (n,).
    expected, expected_age_s, stale_age_s
        Predictions for each copy: freshness, age, and age if it is stale.
    visit
        Number of the visit that judged each copy. Copies judged by one visit count less than independent ones.
    level
        Confidence level of the intervals.
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
    """Return the bootstrap bounds of a mean."""
    n = len(sizes)
    times = np.random.default_rng(n).multinomial(n, np.full(n, 1.0 / n), RESAMPLES)
    means = (times @ sums) / (times @ sizes)
    low, high = np.quantile(means, [0.5 - 0.5 * level, 0.5 + 0.5 * level]).tolist()
    return low, high
