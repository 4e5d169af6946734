"""The exact optimum: nothing near it is better."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evercrawl.schedule import allocation

POSITIVE = hnp.arrays(np.float64, 6, elements=st.floats(0.01, 100.0))


@example(np.full(6, 0.5), np.full(6, 70.5), 1.0, 0.125, list(range(6)))  # no price is told from that of nothing
@settings(deadline=None, max_examples=50)
@given(
    weight=POSITIVE,
    lam=POSITIVE,
    budget=st.floats(0.05, 100.0),
    move=st.floats(0.001, 0.2),
    pair=st.permutations(range(6)),
)
def test_moving_visits_from_one_page_to_another_never_helps(weight, lam, budget, move, pair) -> None:
    best = allocation.optimum(weight, lam, budget)
    assert np.isclose(best.rate.sum(), budget)
    rate = best.rate.copy()
    moved = rate[pair[0]] * move
    rate[pair[0]] -= moved
    rate[pair[1]] += moved
    assert (weight * allocation.freshness(rate, lam)).sum() <= best.value * (1 + 1e-9)


def test_pages_that_never_change_and_pages_that_matter_to_nobody_get_no_visits() -> None:
    best = allocation.optimum([1.0, 1.0, 0.0], [0.0, 1.0, 1.0], 2.0)
    assert best.rate.tolist() == [0.0, np.float64(best.rate[1]), 0.0]
    assert np.isclose(best.rate[1], 2.0)
