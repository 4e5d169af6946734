"""The most important pages of a crawl."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.change.gamma import rate
from evercrawl.model.view import View
from evercrawl.types import Floats, Outcome

_LABELS = {outcome.value: outcome.label for outcome in Outcome}


@dataclass(frozen=True, slots=True)
class TopPage:
    """One page of the list.

    Attributes
    ----------
    rank, url
        Rank, from 1, and URL.
    importance, times_mean
        Its share of all importance, and the same in units of the mean page, without aliases.
    outcome
        Class of the last visit; None before the first.
    visits, visited_at
        Number of visits, and the instant of the last, in seconds since the epoch; None before the first.
    rate_per_s
        Posterior mean of its rate of change; None before the first visit.
    fresh
        Probability that the copy is up to date; None if no copy is held.
    """

    rank: int
    url: str
    importance: float
    times_mean: float
    outcome: str | None
    visits: int
    visited_at: float | None
    rate_per_s: float | None
    fresh: float | None


def top_pages(
    view: View, most: int, importance: Floats | None = None, behind: tuple[float, int] | None = None
) -> list[TopPage]:
    """Return the `most` most important pages, in descending order; equal pages in order of discovery.

    Parameters
    ----------
    view, most
        The crawl, and the maximum number of pages.
    importance
        Importance of each known page, shape (known,), summing to 1; by default that of the crawl's scheme.
    behind
        Importance and slot of a page: the list begins after it.
    """
    importance = view.importance if importance is None else importance
    forgotten, left, first = view.state.forgotten, importance, 1
    if behind is not None:
        before = (importance > behind[0]) | ((importance == behind[0]) & (np.arange(len(importance)) <= behind[1]))
        left, first = np.where(before, -1.0, importance), int(np.count_nonzero(before)) + 1
    slots = largest(left, most + len(forgotten.slots)).astype(np.uint32)
    slots = slots[(left[slots] >= 0.0) & ~forgotten.mask(slots)][:most]
    if not len(slots):
        return []
    pages, (seen, rows) = view.columns(slots), view.records(slots)
    fresh, rates = view.fresh(pages), rate(pages.shape, pages.scale_s)
    return [
        TopPage(
            i + first,
            view.state.urls.get(slot),
            float(importance[slot]),
            float(importance[slot]) * view.counted,
            _LABELS.get(int(rows["outcome"][i])) if seen[i] else None,
            int(rows["visits"][i]) if seen[i] else 0,
            view.state.instant(float(rows["visited"][i])) if seen[i] else None,
            float(rates[i]) if seen[i] else None,
            known(fresh[i]),
        )
        for i, slot in enumerate(slots.tolist())
    ]


def largest(values: Floats, most: int) -> NDArray[Any]:
    """Return the indices of the `most` largest values, in descending order, equal ones by index; shape (<= most,).

    Examples
    --------
    >>> largest(np.array([1.0, 3.0, 2.0, 3.0]), 3).tolist()
    [1, 3, 2]
    """
    if most < len(values):
        least = np.partition(values, len(values) - most)[len(values) - most]
        above, equal = np.flatnonzero(values > least), np.flatnonzero(values == least)
        chosen = np.concatenate([above, equal[: most - len(above)]])
    else:
        chosen = np.arange(len(values))
    order: NDArray[Any] = chosen[np.lexsort((chosen, -values[chosen]))]
    return order


def known(value: float) -> float | None:
    """Return a finite number; None for nan (unknown) and infinity (never)."""
    return float(value) if np.isfinite(value) else None
