"""A crawl's beliefs about the pages of a living web, compared with the truth."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evercrawl.crawl.learn.changes import Changes
from evercrawl.model.columns import Columns
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.policy.schemes import scheme_of
from evercrawl.simulate.living import truth
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.store.partition import Partition
from evercrawl.types import NO_SLOT, Floats, Ints


class Beliefs(NamedTuple):
    """Beliefs about pages, shape (n,) each; nan for unknown pages.

    Attributes
    ----------
    importance
        x, in the scheme's units: with push in units of a site's source.
    rate_per_s
        Posterior mean of the rate of change.
    visits
        Number of visits to each.
    """

    importance: Floats
    rate_per_s: Floats
    visits: Ints


def beliefs(partition: Partition, urls: Sequence[str]) -> Beliefs:
    """Return a crawl's beliefs about these URLs."""
    state, begun = partition.state, partition.scheme
    scheme = scheme_of(begun, state)
    notices = AnnouncedDates(state.accounts)
    columns = Columns(state, scheme, Changes(state, notices).priors, notices, in_bytes=False)
    slots = state.find(urls)
    known = slots != NO_SLOT
    pages = columns(slots[known])
    records = [state.record_of(slot) for slot in slots[known].tolist()]
    visits = [0 if record is None else int(state.records.rows["visits"][record]) for record in records]
    return Beliefs(
        _spread(known, pages.importance),
        _spread(known, pages.shape / pages.scale_s),
        np.nan_to_num(_spread(known, np.array(visits, float))).astype(np.int64),
    )


def _spread(where: np.ndarray[tuple[int], np.dtype[np.bool_]], values: Floats) -> Floats:
    """Return values at their positions, nan elsewhere."""
    spread = np.full(len(where), np.nan)
    spread[where] = values
    return spread


def importance_errors(web: LivingWeb, believed: Beliefs, calendar: Sequence[str] = ()) -> Floats:
    """Return the relative error of importance for each read page with content that still exists.

    The truth is computed on the part of the web that was read, because a crawl cannot know more.

    Parameters
    ----------
    believed
        Beliefs about all URLs of the plan.
    calendar
        Pages read in the endless calendars, which belong to their sites too.
    """
    nodes = truth.nodes(web, calendar)
    read = {url: node for url, node in nodes.items() if believed.visits[web.numbers.get(url, 0)] > 0}
    x = truth.importance(read)
    pages = [number for number, url in enumerate(web.urls[: web.plan.count]) if url in x]
    true = np.array([x[web.urls[number]] for number in pages])
    errors: Floats = np.abs(believed.importance[pages] / true - 1.0)
    return errors


def rank_correlation(one: Floats, other: Floats) -> float:
    """Return Spearman's rank correlation; ties are ranked in order of occurrence.

    Examples
    --------
    >>> rank_correlation(np.array([1.0, 2.0, 9.0]), np.array([5.0, 6.0, 7.0]))
    1.0
    """
    ranks = [values.argsort().argsort().astype(float) for values in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])
