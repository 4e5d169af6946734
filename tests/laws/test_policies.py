"""Every policy in the catalogue keeps these laws; a new file is picked up by itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evercrawl import catalog, importance, schedule
from evercrawl.schedule import Pages

POLICIES = catalog.find(schedule, schedule.Policy)  # type: ignore[type-abstract]
SCHEMES = catalog.find(importance, importance.Importance)  # type: ignore[type-abstract]
slots = hnp.arrays(np.uint32, 8, elements=st.integers(0, 2**32 - 1), unique=True)
visited = hnp.arrays(np.float64, 8, elements=st.one_of(st.just(np.nan), st.floats(0, 1.8e9)))
shares = hnp.arrays(np.float64, 8, elements=st.floats(0, 1))


@pytest.mark.parametrize("name", POLICIES)
@given(slots=slots, visited=visited, importance=shares, now=st.floats(1.8e9, 2e9))
def test_values_are_finite_numbers_one_a_page(name, slots, visited, importance, now) -> None:
    pages = Pages(slots, visited, importance)
    before = visited.copy()
    value = POLICIES[name]().value(pages, now)
    assert value.shape == (8,)
    assert np.isfinite(value).all()
    assert np.array_equal(before, visited, equal_nan=True)


@pytest.mark.parametrize("name", SCHEMES)
@given(cash=shares, known=st.integers(8, 10**9))
def test_importance_is_shares(name, cash, known) -> None:
    found = SCHEMES[name]().importance(cash, known)
    assert found.shape == (8,)
    assert (found >= 0).all()
    assert found.sum() <= 1 + 1e-9


def test_every_file_holds_a_strategy() -> None:
    assert set(SCHEMES) == set(catalog.names(importance))
    assert "breadth_first" in POLICIES
    assert "uniform" in SCHEMES
