"""The value of a visit as a function of time since the last visit, until it crosses the price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from evercrawl.ask.rank.top import known
from evercrawl.model.view import View
from evercrawl.schedule.abilities import Priced
from evercrawl.types import NO_SLOT

POINTS: Final = 48
_BEYOND: Final = 1.25  # length of the curve, in units of the time from the last visit to the crossing
_LEAST_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class ValuePoint:
    """The value of a visit at an instant, in the unit of the price; None if unknown."""

    at: float
    value: float | None


@dataclass(frozen=True, slots=True)
class ValueCurve:
    """The value of a visit to one page over time.

    Attributes
    ----------
    points
        Points from the last visit on; empty for an unvisited page, and if the policy has no price.
    price
        The value that a visit must have; None if the price has not been learned yet.
    due_at
        When the value crosses the price; None for never, or if unknown.
    """

    points: tuple[ValuePoint, ...]
    price: float | None
    due_at: float | None


def value_curve(view: View, url: str) -> ValueCurve:
    """Return the value curve of visits to `url`, which must be normalised, under the present estimates."""
    slot = view.state.find_one(url)
    policy = view.believing
    if slot == NO_SLOT or not isinstance(policy, Priced):
        return ValueCurve((), None, None)
    pages = view.candidates(np.array([slot], np.uint32))
    begun, due_at = float(pages.visited_at[0]), float(view.due_at(pages)[0])
    if not np.isfinite(begun):
        return ValueCurve((), known(view.price), None)
    ends = due_at if np.isfinite(due_at) else view.now
    length = max(_BEYOND * (ends - begun), 1.1 * (view.now - begun), _LEAST_S)
    points = [
        ValuePoint(at, known(policy.value(pages, view.context._replace(now=at))[0]))
        for at in np.linspace(begun, begun + length, POINTS).tolist()
    ]
    return ValueCurve(tuple(points), known(view.price), due_at if np.isfinite(due_at) else None)
