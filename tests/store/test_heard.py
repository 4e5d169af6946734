"""What a visit says of how much its site announces survives being packed."""

import numpy as np
import pytest

from evercrawl.store.records.heard import pack, unpack


def test_both_come_back():
    for one in (0.0, 1e-3, 0.02, 0.7, 1.0, 33.0, 1e4):
        for other in (0.0, 0.3, 1.0):
            assert unpack(pack(one, other)) == (pytest.approx(one, rel=0.06), pytest.approx(other, rel=0.06))


def test_many_add_up_to_what_they_should():
    numbers = np.exp(np.random.default_rng(1).normal(-2.0, 1.5, 10_000))
    assert sum(unpack(pack(one, 0.0))[0] for one in numbers.tolist()) == pytest.approx(numbers.sum(), rel=0.005)


def test_to_say_that_nothing_was_to_be_expected_is_not_to_say_nothing():
    assert pack(0.0, 0.0) > 0
    assert pack(-1.0, 0.0) == pack(0.0, 0.0)


def test_it_takes_two_bytes_whatever_is_said():
    assert pack(1e300, 1e300) == 1 << 16
