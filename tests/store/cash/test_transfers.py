"""What an event says of cash and change."""

import math

from hypothesis import given
from hypothesis import strategies as st

from evercrawl.store.cash.transfers import Moved, pack, rounded, unpack

amounts = st.floats(-1e6, 1e6, width=32)


@given(st.floats(0, 1e9), st.lists(amounts, min_size=6, max_size=6))
def test_what_was_packed_comes_out(history, rest):
    moved = Moved(history, *rest)
    assert unpack(pack(moved)) == moved


def test_less_room_where_nothing_is_taken_back():
    assert (len(pack(Moved(1.0, 0.0, 1.0, 0.5, 0.5))), len(pack(Moved(1.0, 0.0, 1.0, 0.5, 0.5, 0.0, 0.1)))) == (24, 32)


def test_all_but_the_history_is_rounded():
    out = unpack(pack(Moved(0.1, 0.0, 0.1, 0.0, 0.0)))
    assert out.history == 0.1
    assert out.moved == rounded(0.1) != 0.1
    assert math.isclose(out.moved, 0.1, rel_tol=1e-7)
