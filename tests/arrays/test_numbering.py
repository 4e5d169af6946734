"""Numbers for keys: those of a dictionary, however large the table has grown."""

import tracemalloc

import numpy as np
import pytest

from evercrawl.arrays.numbering import Numbering
from evercrawl.types import NO_SLOT


def numbered(batches):
    """What a dictionary says."""
    known = {}
    return [[known.setdefault(key, len(known)) for key in batch] for batch in batches], list(known)


@pytest.mark.parametrize("spread", [1, 1 << 32, 0x9E3779B97F4A7C15])
@pytest.mark.parametrize("size", [1, 50, 3000])
def test_keys_have_the_numbers_in_which_they_were_met(spread, size):
    draw = np.random.default_rng(size)
    batches = [draw.integers(1, 4000, size).astype(np.uint64) * np.uint64(spread) for _ in range(6)]
    expected, known = numbered([batch.tolist() for batch in batches])
    numbers = Numbering()
    assert [numbers.of(batch).tolist() for batch in batches] == expected
    assert len(numbers) == len(known)
    assert numbers.keys().tolist() == known


def test_the_same_keys_in_the_same_order_have_the_same_numbers_again():
    keys = np.random.default_rng(1).integers(1, 1 << 63, 500).astype(np.uint64)
    numbers, again = Numbering(), Numbering()
    numbers.of(keys)
    assert again.of(numbers.keys()).tolist() == list(range(len(numbers)))
    np.testing.assert_array_equal(again.of(keys[::-1]), numbers.of(keys[::-1]))


def test_no_keys_have_no_numbers():
    numbers = Numbering()
    assert numbers.of(np.zeros(0, np.uint64)).tolist() == []
    assert (len(numbers), numbers.keys().tolist()) == (0, [])


def test_keys_that_are_asked_for_again_take_no_room():
    numbers, keys = Numbering(), np.arange(1, 101, dtype=np.uint64)
    tracemalloc.start()
    for _ in range(50):
        numbers.of(keys)
    kept_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(numbers) == 100
    assert kept_bytes < 10_000


@pytest.mark.parametrize("seed", range(4))
def test_forgotten_keys_give_their_numbers_to_new_ones(seed):
    draw, numbers, known = np.random.default_rng(seed), Numbering(), dict[int, int]()
    for _ in range(300):
        batch = draw.integers(1, 1 << 63, 40).astype(np.uint64)
        batch[:20] = draw.choice(list(known), 20) if known else batch[:20]
        found = numbers.of(batch).tolist()
        for key, number in zip(batch.tolist(), found, strict=True):
            assert known.setdefault(key, number) == number
        assert len(set(known.values())) == len(known)
        gone = draw.choice(list(known), min(len(known) // 2, 30), replace=False).tolist()
        numbers.forget(np.array([known.pop(key) for key in gone], np.uint32))
        assert (numbers.find(np.array(gone, np.uint64)) == NO_SLOT).all()
    assert len(numbers) < 200
    assert numbers.nbytes < 4000
    again = Numbering()
    again.restore(numbers.keys())
    keys = np.array(list(known), np.uint64)
    assert again.find(keys).tolist() == numbers.find(keys).tolist() == list(known.values())
    assert again.of(np.array([5], np.uint64))[0] < len(numbers)
