"""Result rows of replays: one for each, and one for their mean over the sites."""

import math
from typing import Any, Final, NamedTuple

from evercrawl.change.calibration import Calibration

MEAN: Final = "mean"
"""What stands for the site's name where something is said of the mean over sites."""


class ReplayRow(NamedTuple):
    """The results of one policy at one budget on one history.

    Attributes
    ----------
    site, policy, budget
        Names, and polls per page and day.
    freshness
        Part of the time in which copies were equal to their pages, the mean over the pages by importance, 0 to 1.
    content_freshness
        The same, but a copy counts that is not more than 3 bits of simhash from its page.
    age_s
        How long ago the page changed first after the copy was taken, 0 while the copy is fresh; the mean over time and,
        by importance, over the pages.
    polls, unchanged
        Polls, and those of them that found the page as it was: what was wasted.
    low, high
        Interval of the freshness, 95 %.
    difference, difference_low, difference_high
        Freshness less that of the policy named first, and its interval.
    gap_closed
        Which part of the way the policy goes from `uniform` to `notices`; nan where not both are there.
    first_sight_s
        From a page's birth to the first poll that saw it, the median; infinity if most were not seen.
    unseen
        Pages that were born and never seen.
    pages
        Those that there were in the measured part.
    drawn
        How many clusters the intervals were drawn from: folders, or pages.
    expected_calibration_error, brier
        Of P(fresh) as the policy believed it before each poll; nan where it believes nothing.
    seconds
        Time it took.
    calibration
        How often P(fresh) was what, and how many copies were fresh then; nothing where the policy believes nothing.
    content_low, content_high, age_low_s, age_high_s, first_sight_low_s, first_sight_high_s
        Intervals of the content freshness, the age and the first sight.
    wasted, wasted_low, wasted_high
        `unchanged` as a part of `polls`, and its interval; nan without polls.
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
