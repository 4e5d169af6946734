"""Slots as bytes and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.store.journal.codec import decode_slots, encode_slots

EDGE = [0, 1, 127, 128, 129, 16_383, 16_384, 16_511, 16_512, 2**21 + 16_512, 2**28 - 1, 2**31, 2**32 - 1]


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 300) | st.sampled_from(EDGE), max_size=200))
def test_comes_back_sorted_and_once_each(slots):
    data = encode_slots(np.array(slots, np.uint32))
    assert decode_slots(data).tolist() == sorted(set(slots))
    assert len(data) <= 5 * len(set(slots))


def test_a_run_costs_a_byte_each():
    assert encode_slots(np.arange(1000, 1090, dtype=np.uint32)) == bytes([0xE8, 0x07]) + bytes(89)


@pytest.mark.parametrize(("slot", "size"), [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (2**32 - 1, 5)])
def test_size_of_one(slot, size):
    data = encode_slots(np.array([slot], np.uint32))
    assert len(data) == size
    assert decode_slots(data).tolist() == [slot]


def test_nothing_is_no_bytes():
    assert encode_slots(np.array([], np.uint32)) == b""
    assert decode_slots(b"").dtype == np.uint32
    assert decode_slots(b"").size == 0


def test_what_was_given_stays_as_it_was():
    slots = np.array([3, 1, 2], np.uint32)
    encode_slots(slots)
    assert slots.tolist() == [3, 1, 2]
