"""What policies say of copies: probabilities, by hand where nobody says otherwise, that fall as time passes."""

import numpy as np
import pytest

from evercrawl import catalog, schedule
from evercrawl.schedule.abilities import p_fresh
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages

FOUND = catalog.find(schedule.policies, Policy)  # type: ignore[type-abstract]
NOW = 1_000_000.0


def pages(visited_at: np.ndarray, neg_log_unchanged: np.ndarray) -> Pages:
    one, none = np.ones(len(visited_at)), np.zeros(len(visited_at))
    slots = np.arange(len(visited_at), dtype=np.uint32)
    return Pages(slots, visited_at, one, none, one, 1000 * one, one, none, neg_log_unchanged)


@pytest.mark.parametrize("name", sorted(FOUND))
def test_probabilities_that_fall_as_time_passes(name: str) -> None:
    policy = FOUND[name]()
    of = pages(np.array([NOW, NOW - 10.0, NOW - 1e6, np.nan]), np.zeros(4))
    now, later = p_fresh(policy, of, Context(NOW)), p_fresh(policy, of, Context(NOW + 500.0))
    assert np.isnan([now[3], later[3]]).all()
    assert ((now[:3] >= 0) & (now[:3] <= 1)).all()
    assert (later[:3] <= now[:3]).all()


def test_nobody_says_otherwise() -> None:
    """1000 s after a visit, of a page of shape 1 and scale 1000 s: 1/2; a notice believed with 0.75 leaves 1/4 of it,
    and of the pages e^-0.1 are left where 1 in 10,000 vanishes a second."""
    policy = FOUND["uniform"]()
    of = pages(np.full(2, NOW - 1000.0), -np.log([1.0, 0.25]))
    assert p_fresh(policy, of, Context(NOW)) == pytest.approx([0.5, 0.125])
    assert p_fresh(policy, of, Context(NOW, deaths_per_s=1e-4)) == pytest.approx(
        [0.5 * np.exp(-0.1), 0.125 * np.exp(-0.1)]
    )


def test_a_clock_set_back_makes_no_copy_more_than_fresh() -> None:
    later = pages(np.array([NOW + 5.0]), np.zeros(1))
    assert p_fresh(FOUND["uniform"](), later, Context(NOW)).tolist() == [1.0]
