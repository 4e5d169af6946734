"""Births and deaths of links."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.lab.histories.evolution.lives import DAY_S, WEEK_S, beginnings, ends
from evercrawl.lab.histories.evolution.survival import survival
from evercrawl.lab.histories.evolution.watched import Watched
from evercrawl.lab.histories.history import History
from evercrawl.types import Floats, Ints

Flags = NDArray[np.bool_]


class LinkSpans(NamedTuple):
    """Periods during which one page linked to another, shape (n,) each.

    Attributes
    ----------
    page
        The page with the link.
    began_at
        Start of the link.
    watched_at, ended_at
        Start and end of its observation.
    known
        Whether the start is known exactly.
    later
        Whether the link was added, during the observation, to a page that existed before.
    went
        Whether the link was removed at `ended_at`.
    """

    page: Ints
    began_at: Floats
    watched_at: Floats
    ended_at: Floats
    known: Flags
    later: Flags
    went: Flags


class LinkChange(NamedTuple):
    """Statistics of link changes.

    Attributes
    ----------
    links
        Number of links at the end.
    new_links_a_week
        New links on existing pages, per page and week.
    new_link_share_a_week
        The same, per existing link.
    lost_link_share_a_week
        Removed links, per existing link and week.
    link_half_life_days
        Time after which half of the new links are gone (Kaplan-Meier); infinity if more than half remained.
    """

    links: int
    new_links_a_week: float
    new_link_share_a_week: float
    lost_link_share_a_week: float
    link_half_life_days: float


def links(history: History, watched: Watched) -> LinkSpans:
    """Return the links between pages in the period of `watched`."""
    log = history.links
    order = np.lexsort((log.target, log.source))  # stable: the rows of one link stay in the order of time
    source, target, present = log.source[order], log.target[order], log.present[order]
    at = log.at[order].astype(np.float64)
    again = (np.diff(source, prepend=-1) == 0) & (np.diff(target, prepend=-1) == 0)
    rows = np.flatnonzero(present & ~(again & np.append(False, present[:-1])))
    removals = np.append(np.flatnonzero(~present), len(at))
    removal = removals[np.searchsorted(removals, rows)]
    went = removal < np.append(rows[1:], len(at))[: len(rows)]
    ended_at = np.where(went, np.append(at, math.inf)[removal], ends(history)[source[rows]])
    inside = (ended_at >= np.maximum(at[rows], watched.since)) & (at[rows] <= watched.until)
    return _links(history, watched, source[rows][inside], at[rows][inside], ended_at[inside], went[inside])


def _links(
    history: History, watched: Watched, page: Ints, began_at: Floats, ended_at: Floats, went: Flags
) -> LinkSpans:
    """Return the links that existed at `since` or later, limited to the time observed."""
    late = began_at > watched.first_at[page]  # the link was not in the page's first state
    known = late if history.seen is not None else began_at > beginnings(history)[page]
    watched_at = np.maximum(began_at, watched.since)
    until = np.maximum(np.minimum(ended_at, watched.until), watched_at)
    later = late & (began_at >= watched.since)
    return LinkSpans(page, began_at, watched_at, until, known, later, went & (until == ended_at))


def link_change(found: LinkSpans, page_weeks: float) -> LinkChange:
    """Return the statistics of link changes of pages that were observed for `page_weeks` in all."""
    lasted_s = found.ended_at - found.watched_at
    link_weeks = float(lasted_s.sum()) / WEEK_S
    came, went = float(found.later.sum()), float(found.went.sum())
    known = found.known
    curve = survival(
        (found.watched_at - found.began_at)[known], (found.ended_at - found.began_at)[known], found.went[known]
    )
    return LinkChange(
        int((~found.went).sum()), ratio(came, page_weeks), ratio(came, link_weeks), ratio(went, link_weeks),
        curve.median_s() / DAY_S,
    )  # fmt: skip


def ratio(of: float, to: float) -> float:
    """Return the ratio of two numbers; nan if the divisor is 0."""
    return of / to if to > 0 else math.nan
