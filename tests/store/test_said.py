"""What was said of a copy, and what was seen, survive being packed."""

import math

import msgspec
import numpy as np
import pytest

from evercrawl.store.journal.events import Drawn, Event, Visit
from evercrawl.store.records.said import pack, unpack


@pytest.mark.parametrize("fresh", [False, True])
def test_both_come_back(fresh):
    for probability in (0.0, 1e-6, 0.3333, 0.5, 0.99994, 1.0, *np.random.default_rng(1).random(50).tolist()):
        said, seen = unpack(pack(probability, fresh))
        assert said == pytest.approx(probability, abs=0.5e-4 + 1e-12)
        assert seen is fresh


@pytest.mark.parametrize(("probability", "fresh"), [(math.nan, True), (0.5, None), (math.nan, None)])
def test_what_is_not_known_is_nothing(probability, fresh):
    assert pack(probability, fresh) == 0


def test_beyond_the_bounds_is_at_the_bound():
    assert unpack(pack(1.0 + 1e-9, True)) == (1.0, True)
    assert unpack(pack(-1e-9, False)) == (0.0, False)


def test_it_costs_a_visit_three_bytes_at_most():
    nothing, something = (msgspec.msgpack.encode(Visit(1, 1, 1.0, 1, 200, said=said)) for said in (0, pack(1.0, True)))
    assert len(something) - len(nothing) == 2


def test_what_was_drawn_reads_back():
    drawn = Drawn(7, 1.7e9, True, 0.25, 60.0, 3600.0)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(drawn), type=Event) == drawn
