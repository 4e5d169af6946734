"""Correlation of neighbours' changes: pages of one site, and of one folder, in the same week."""

import math
from typing import Final, NamedTuple

import numpy as np

from evercrawl.change.locality import correlation, in_groups
from evercrawl.lab.histories.evolution.lives import DAY_S, WEEK_S
from evercrawl.lab.histories.evolution.record import EvolutionRecord
from evercrawl.types import Ints

LOOKS: Final = 2
"""Minimum number of visits to a page in a week (or the period used instead), needed to date its changes."""


class Near(NamedTuple):
    """Correlation of neighbours' changes; nan if undefined.

    Attributes
    ----------
    near_days
        Length of the period used as a week, which depends on the frequency of visits (see `week_s`).
    site_correlation, folder_correlation
        Correlation of changes among the pages of a site, and of a folder, in a week: 0 if a change says nothing about
        neighbours; 1 if always all or none of them change.
    site_lift, folder_lift
        Number of pairs of neighbours that change in the same week, relative to that for the same changes on random
        pages and weeks.
    site_errors, folder_errors
        Excess over chance in standard errors, if all weeks of all pages are equal except for their neighbours.
    """

    near_days: float
    site_correlation: float
    site_lift: float
    site_errors: float
    folder_correlation: float
    folder_lift: float
    folder_errors: float


def week_s(record: EvolutionRecord) -> float:
    """Return the length of the period used as a week, in seconds.

    It is a week if every change is on record. For a crawl, it is long enough for two visits to half of the pages that
    were revisited, so that even a crawl of an hour has a result. For both together, it is the longer of the two.
    """
    looks, watched_s = record.looks, record.watched_s()
    again = looks >= LOOKS
    found = [float(np.median(LOOKS * watched_s[again] / looks[again]))] if again.any() else []
    return max([*found, *([WEEK_S] if np.isnan(looks).any() or not found else [])])


def near(record: EvolutionRecord, sites: Ints, folders: Ints, width_s: float) -> Near:
    """Return the correlation of changes among neighbouring pages.

    Parameters
    ----------
    record
        The observations of the pages.
    sites, folders
        The site and the folder of each page; shape (pages,).
    width_s
        Length of the period used as a week.
    """
    told = [*_told(record, sites, width_s), *_told(record, folders, width_s)]
    return Near(math.nan if all(map(math.isnan, told)) else width_s / DAY_S, *told)


def _told(record: EvolutionRecord, neighbours: Ints, width_s: float) -> tuple[float, float, float]:
    if not width_s > 0:
        return math.nan, math.nan, math.nan
    counts, changed = counted(record, neighbours, width_s)
    pairs = in_groups(counts, changed)
    return correlation(counts, changed), pairs.lift, pairs.errors


def counted(record: EvolutionRecord, neighbours: Ints, width_s: float) -> tuple[Ints, Ints]:
    """Return the number of observed pages, and of those that changed, by group of neighbours and week.

    Only whole weeks count, with pages visited often enough in them; pages without neighbours do not count.

    Parameters
    ----------
    record, width_s
        As for `near`.
    neighbours
        The group of each page, shape (pages,).

    Returns
    -------
    array, array
        Shape (groups and weeks,) each.
    """
    lives, changes = record.lives, record.changes
    whole, place = np.unique(neighbours, return_inverse=True)[1], record.place(lives.page)
    often = np.isnan(record.looks) | (record.looks * width_s >= LOOKS * record.watched_s())
    fits = often & (np.bincount(whole)[whole] > 1)
    start = float(lives.began_at.min(initial=math.inf))
    first, last = np.ceil((lives.began_at - start) / width_s), np.floor((lives.ended_at - start) / width_s)
    kept = fits[place] & (last > first)
    stride = int(last.max(initial=0.0)) + 2
    base = whole[place] * stride
    cells, counts = _levels(base[kept] + first[kept].astype(np.int64), base[kept] + last[kept].astype(np.int64))
    week = np.floor((changes.at - start) / width_s)
    inside = kept[changes.life] & (week >= first[changes.life]) & (week < last[changes.life])
    life, week = changes.life[inside], week[inside].astype(np.int64)
    once = np.unique(life * stride + week)  # several changes of a page in a week count once
    changed = base[once // stride] + once % stride
    return counts, np.bincount(np.searchsorted(cells, changed), minlength=len(cells))


def _levels(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return the integers in any of the spans [first, last), and the number of spans that contain each.

    >>> _levels(np.array([1, 2]), np.array([4, 3]))
    (array([1, 2, 3]), array([1, 2, 1]))
    """
    steps = np.repeat(np.array([1, -1]), len(first))
    at, which = np.unique(np.concatenate([first, last]), return_inverse=True)
    level = np.cumsum(np.bincount(which, steps, len(at))).astype(np.int64)[:-1] if len(at) else at
    lengths = np.diff(at) * (level > 0)
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(at[:-1], lengths) + within, np.repeat(level, lengths)
