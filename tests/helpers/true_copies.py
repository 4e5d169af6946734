"""How fresh and how old the copies of a crawl of a living web truly were, at any instant of its past."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evercrawl.model.rates import NO_COPY
from evercrawl.simulate.living.plan import UrlKind
from evercrawl.store.journal.events import Visit
from evercrawl.store.state import HELD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from evercrawl.simulate.living.web import LivingWeb
    from evercrawl.store.partition import Partition
    from evercrawl.types import Floats


@dataclass(frozen=True, slots=True)
class TrueCopies:
    """All copies at some instants, shape (n,) each: how many, which part was fresh, and their mean age."""

    count: Floats
    fresh: Floats
    age_s: Floats


def true_copies(web: LivingWeb, partition: Partition, at: Floats) -> TrueCopies:
    """Return how the copies were that the crawl held at some instants.

    A page that has vanished has left its copy behind, until a visit finds it gone: from then on there is no copy.
    """
    visits = defaultdict[int, list[tuple[float, bool]]](list)
    for _, _, event in partition.journal.replay():
        if isinstance(event, Visit) and event.outcome in (*HELD, *NO_COPY):
            visits[event.slot].append((event.at, event.outcome in HELD))
    count, fresh, age_s = np.zeros(len(at)), np.zeros(len(at)), np.zeros(len(at))
    for slot, of_page in visits.items():
        held, alone_since = _held(of_page, at)
        stale_at = _stale_at(web, partition.state.urls.get(slot), alone_since, float(at.max(initial=0.0)))
        count += held
        fresh += held & (stale_at > at)
        age_s += np.where(held, np.maximum(at - stale_at, 0.0), 0.0)
    some = np.maximum(count, 1.0)
    return TrueCopies(count, fresh / some, age_s / some)


def _held(visits: Iterable[tuple[float, bool]], at: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Return whether there was a copy at each instant, and when its content was last seen."""
    instants, seen = (np.array(column) for column in zip(*visits, strict=True))
    place = np.searchsorted(instants, at, side="left") - 1
    return (place >= 0) & seen[place], instants[place]


def _stale_at(web: LivingWeb, url: str, since: Floats, until: float) -> Floats:
    """Return when a page first changed, or vanished, after each instant; infinity for not before `until`."""
    number = web.numbers.get(url)
    if number is None:  # a day of a calendar, which stays as it is
        return np.full(len(since), np.inf)
    planned = web.plan.pages[number]
    number = planned.target if planned.kind is UrlKind.COPY else number
    changes = np.append(web.changes(number, until), np.inf)
    first: Floats = changes[np.searchsorted(changes[:-1], since, side="right")]
    return np.minimum(first, web.vanishes_at(number))
