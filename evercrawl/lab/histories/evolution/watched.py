"""A history's pages between two instants: their lives and changes."""

import math
from typing import Any, NamedTuple

import numpy as np

from evercrawl.lab.histories.evolution.changed import RecordedChanges, changes_of
from evercrawl.lab.histories.evolution.lives import Lives, between, by_page, lives_of
from evercrawl.lab.histories.history import History
from evercrawl.types import Floats


class Watched(NamedTuple):
    """The observable part of a history.

    Attributes
    ----------
    lives, changes
        Lives, changes and links of its pages.
    first_at
        First appearance of each page, shape (pages,); infinity if it never appeared.
    looks
        Visits of each page that could have seen a change, shape (pages,); nan if every change is on record.
    since, until
        The period observed.
    """

    lives: Lives
    changes: RecordedChanges
    first_at: Floats
    looks: Floats
    since: float
    until: float


def watch(history: History, since: float = -math.inf, until: float = math.inf) -> Watched:
    """Return the observations of a history's pages in a period, in seconds since the epoch.

    For a page that appeared before `since`, only the time from then on counts; its age is still known.
    """
    events = by_page(history)
    whole = lives_of(history, events)
    first_at = np.full(len(history), math.inf)
    np.minimum.at(first_at, whole.page, whole.appeared_at)
    lives, inside = between(whole, since, until)
    changes: Any = changes_of(history, events)
    kept = (changes.at >= since) & (changes.at <= until) & (changes.at <= whole.ended_at[changes.life])
    changes = RecordedChanges(*(column[kept] for column in changes))
    changes = changes._replace(life=(np.cumsum(inside) - 1)[changes.life])
    return Watched(lives, changes, first_at, _looks(history, lives, since, until), since, until)


def _looks(history: History, lives: Lives, since: float, until: float) -> Floats:
    """Return the number of visits of each page that follow another visit in the same life."""
    seen, pages = history.seen, len(history)
    if seen is None:
        return np.full(pages, math.nan)
    inside = (seen.look_at >= since) & (seen.look_at <= until)
    first = lives.page[lives.appeared_at >= since]
    counts = np.bincount(seen.look[inside], minlength=pages) - np.bincount(first, minlength=pages)
    return np.asarray(counts, np.float64)
