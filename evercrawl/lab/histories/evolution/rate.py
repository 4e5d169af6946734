"""Change rates of pages."""

import math
from typing import Final, NamedTuple

import numpy as np

from evercrawl.change.estimators import log_corrected, naive
from evercrawl.lab.histories.evolution.lives import DAY_S
from evercrawl.types import Floats

CLASSES: Final = ("daily", "weekly", "monthly", "four_months", "slower", "never")
"""Classes by mean interval: up to a day, a week, a month, four months, longer; and pages without observed changes."""
_BOUNDS_S: Final = np.array([1.0, 7.0, 365.25 / 12, 365.25 / 3]) * DAY_S
_LEAST_S: Final = 365.25 / 3 * DAY_S  # minimum observation: a shorter one cannot show that a page is slow


class Often(NamedTuple):
    """Change rates of some pages.

    Attributes
    ----------
    rate_per_day
        Changes per page and day: the mean of the pages' rates, weighted by the length of observation.
    median_rate_per_day
        Median rate of the pages that were observed long enough (see `classed`).
    estimator
        The estimator of a page's rate: "changes over time" if every change is on record (Cho and Garcia-Molina's X/T,
        exact except for chance); "log-corrected" if visits are known, which miss changes in between; or both, joined by
        "and".
    classed
        Number of pages in classes: those observed for four months, or for half as long as the page observed longest.
    classes
        The share of these pages in each of `CLASSES`.

    References
    ----------
    Cho, Garcia-Molina (2000). The evolution of the web and implications for an incremental crawler, section 3.
    """

    rate_per_day: float
    median_rate_per_day: float
    estimator: str
    classed: int
    classes: tuple[float, ...]


def often(changes: Floats, watched_s: Floats, looks: Floats) -> Often:
    """Return the change rates of some pages.

    Parameters
    ----------
    changes, watched_s
        Changes seen, and length of observation, of each page; shape (pages,).
    looks
        Visits of each page that could have seen a change, nan if all changes are on record; shape (pages,).

    Examples
    --------
    >>> found = often(np.array([2.0, 0.0]), np.full(2, 200 * DAY_S), np.full(2, np.nan))
    >>> found.rate_per_day, found.classes
    (0.005, (0.0, 0.0, 0.0, 0.5, 0.0, 0.5))
    """
    told = (watched_s > 0) & (np.isnan(looks) | (looks > 0))
    changes, watched_s, looks = changes[told], watched_s[told], looks[told]
    seen = np.nan_to_num(looks)
    simple, corrected = naive.rate(changes, watched_s), log_corrected.rate(seen, np.minimum(changes, seen), watched_s)
    rate = np.where(np.isnan(looks), simple, corrected)
    long = watched_s >= min(_LEAST_S, float(watched_s.max(initial=0.0)) / 2)
    return Often(
        float((rate * watched_s).sum() / watched_s.sum()) * DAY_S if told.any() else math.nan,
        float(np.median(rate[long])) * DAY_S if long.any() else math.nan,
        _estimators(looks),
        int(long.sum()),
        _classes(rate[long], changes[long]),
    )


def _estimators(looks: Floats) -> str:
    every = bool(np.isnan(looks).any())
    visits = bool((~np.isnan(looks)).any())
    return " and ".join(["changes over time"] * every + ["log-corrected"] * visits) or "none"


def _classes(rate: Floats, changes: Floats) -> tuple[float, ...]:
    if not len(rate):
        return (math.nan,) * len(CLASSES)
    with_changes = np.where(changes > 0, rate, 0.0)
    interval_s = np.divide(1.0, with_changes, out=np.full(len(rate), math.inf), where=with_changes > 0)
    place = np.where(changes > 0, np.searchsorted(_BOUNDS_S, interval_s), len(CLASSES) - 1)
    counts = np.bincount(place, minlength=len(CLASSES))
    return tuple((counts / len(rate)).tolist())
