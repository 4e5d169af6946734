"""The truth about copies, against the same told visit by visit."""

import numpy as np
import pytest
from true_copies import true_copies

from evercrawl.simulate.living.lives import relive
from evercrawl.simulate.living.plan import UrlKind
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.store.journal.events import Visit
from evercrawl.types import Outcome

BEGAN_AT, PAGES = 1_700_000_000.0, 120


def slowly(web, partition, at):
    """Go through all visits before one instant, and look at each copy."""
    copies = {}
    for _, _, event in partition.journal.replay():
        if isinstance(event, Visit) and event.at < at:
            if event.outcome in (Outcome.OK, Outcome.DUPLICATE, Outcome.TRUNCATED):
                copies[event.slot] = event.at
            elif event.outcome in (Outcome.GONE, Outcome.REDIRECT):
                copies.pop(event.slot, None)
    ages = []
    for slot, seen_at in copies.items():
        number = web.numbers.get(partition.state.urls.get(slot))
        if number is not None and web.plan.pages[number].kind is UrlKind.COPY:
            number = web.plan.pages[number].target
        missed = [] if number is None else [each for each in web.changes(number, at) if each > seen_at]
        if number is not None and web.vanishes_at(number) <= at:
            missed.append(web.vanishes_at(number))
        ages.append(at - min(missed) if missed else 0.0)
    return len(ages), float(np.mean([not age for age in ages])), float(np.mean(ages))


def test_it_is_what_going_through_all_visits_tells():
    web = LivingWeb(5, pages=PAGES, cycle_s=float(PAGES), began_at=BEGAN_AT)
    at, found = BEGAN_AT + np.linspace(50.3, 199.7, 6), {}

    def look(partition) -> None:
        found["fast"] = true_copies(web, partition, at)
        found["slow"] = [slowly(web, partition, each) for each in at.tolist()]

    relive(web, 1.0, 1.7 * PAGES, look=look)
    fast = found["fast"]
    got = list(zip(fast.count.tolist(), fast.fresh.tolist(), fast.age_s.tolist(), strict=True))
    for one, other in zip(got, found["slow"], strict=True):
        assert one == pytest.approx(other)
    assert 0.1 < fast.fresh.min() <= fast.fresh.max() < 0.95
    assert fast.count.max() > 100
