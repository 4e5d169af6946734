"""What a policy takes along from one run to the next."""

import numpy as np
import pytest

from evercrawl.schedule.abilities import Resumes, notes_of
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.schedule.policies.price.price import Price


def test_the_price_goes_on_where_it_was():
    before, after = Price(), Price()
    before.chosen(np.full(500, 7.0), Context(100.0, 10))
    after.resume(before.notes())
    assert (after.price, after.patience) == (before.price, before.patience)
    after.chosen(np.array([70.0]), Context(200.0, 10))
    assert 7.0 < after.price < 8.0  # one visit does not set it anew


@pytest.mark.parametrize("notes", [{}, {"price": 0.0}, {"cycle_s": 5.0}])
def test_without_a_price_it_begins(notes):
    policy = Price()
    policy.resume(notes)
    assert policy.notes() == {}
    policy.chosen(np.array([3.0]), Context(1.0, 1))
    assert policy.price == pytest.approx(3.0)


def test_most_policies_have_no_notes():
    assert not isinstance(BreadthFirst(), Resumes)
    assert notes_of(BreadthFirst()) == {}
