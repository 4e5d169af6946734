"""Result rows of replays: one per replay, and one for the mean over sites."""

import math
from typing import Any, Final, NamedTuple

from evercrawl.change.calibration import Calibration

MEAN: Final = "mean"
"""Placeholder for the site's name in rows of means over sites."""


class ReplayRow(NamedTuple):
    """The results of one policy at one budget on one history.

    Attributes
    ----------
    site, policy, budget
        Names, and polls per page and day.
    freshness
        Share of the time in which copies equalled their pages, averaged over pages by importance, from 0 to 1.
    content_freshness
        The same, but a copy also counts as fresh if its simhash differs from its page's in at most 3 bits.
    age_s
        Time since the page first changed after the copy was taken, 0 while the copy is fresh; averaged over time, and
        over pages by importance.
    polls, unchanged
        Number of polls, and of wasted ones, which found no change.
    low, high
        95 % interval of the freshness.
    difference, difference_low, difference_high
        Freshness minus that of the policy named first, and its interval.
    gap_closed
        Share of the gap from `uniform` to `notices` that the policy closes; nan unless both were run.
    first_sight_s
        Median time from a page's birth to the first poll that saw it; infinity if most pages were not seen.
    unseen
        Number of pages that were born and never seen.
    pages
        Number of pages that existed in the measured part.
    drawn
        Number of clusters (folders or pages) from which the intervals were drawn.
    expected_calibration_error, brier
        Errors of the policy's P(fresh) before each poll; nan if it has no estimate.
    seconds
        CPU time of the replay.
    calibration
        Number of predictions and of fresh copies by P(fresh); empty if the policy has no estimate.
    content_low, content_high, age_low_s, age_high_s, first_sight_low_s, first_sight_high_s
        Intervals of the content freshness, the age and the first sight.
    wasted, wasted_low, wasted_high
        `unchanged` as a share of `polls`, and its interval; nan without polls.
    """

    site: str
    policy: str
    budget: float
    freshness: float
    content_freshness: float
    age_s: float
    polls: int
    unchanged: int
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    gap_closed: float
    first_sight_s: float
    unseen: int
    pages: int
    drawn: int
    expected_calibration_error: float
    brier: float
    seconds: float
    calibration: Calibration
    content_low: float
    content_high: float
    age_low_s: float
    age_high_s: float
    wasted: float
    wasted_low: float
    wasted_high: float
    first_sight_low_s: float
    first_sight_high_s: float


class Mean(NamedTuple):
    """The mean over sites of one policy at one budget; intervals include the sampling of sites.

    Attributes
    ----------
    policy, budget
        As in `ReplayRow`.
    freshness, low, high, difference, difference_low, difference_high, content_freshness, age_s
        Means of those of the sites.
    gap_closed, gap_low, gap_high
        The mean of what is closed on each site, and its interval.
    better
        Sites on which it is fresher than the policy named first.
    sites
        How many there are.
    polls, unchanged
        As in `ReplayRow`, of all sites together.
    calibration
        Likewise.
    content_low, content_high, age_low_s, age_high_s, wasted, wasted_low, wasted_high
        As in `ReplayRow`: the mean over the sites of the wasted part, and intervals of means.
    """

    policy: str
    budget: float
    freshness: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    content_freshness: float
    age_s: float
    gap_closed: float
    gap_low: float
    gap_high: float
    better: int
    sites: int
    polls: int
    unchanged: int
    calibration: Calibration
    content_low: float
    content_high: float
    age_low_s: float
    age_high_s: float
    wasted: float
    wasted_low: float
    wasted_high: float


def as_object(row: ReplayRow | Mean) -> dict[str, Any]:
    """Return a row for JSON, where None replaces nan and infinity.

    What both kinds of rows have comes first, and in one order; in place of the calibration are its `bins`.
    """
    values = row._asdict()
    of = values.pop("calibration")
    if isinstance(row, Mean):
        values = {"site": MEAN} | {name: values[name] for name in ReplayRow._fields if name in values} | values
    return {name: _finite(value) for name, value in values.items()} | {"bins": of.table().objects() if of.count else []}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
