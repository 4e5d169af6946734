"""The table against a dictionary, on keys that are evenly spread and on keys that are not."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.errors import StoreError
from evercrawl.store.journal.codec import encode_slots
from evercrawl.store.table import _entries as _table_entries
from evercrawl.store.table import _kernels as _table_kernels
from evercrawl.store.table import table as table_module
from evercrawl.store.table.table import NO_RECORD, KeyMap, Saved, Table
from evercrawl.types import NO_SLOT

TOP = 2**64 - 1
KEYS = st.one_of(
    st.integers(0, TOP),
    st.sampled_from([0, 1, TOP, TOP - 1, 1 << 56, (1 << 56) - 1]),
    st.integers(0, 200).map(lambda low: 7 << 56 | low),  # one segment, one home
    st.integers(0, 200).map(lambda middle: 9 << 56 | middle << 24),  # one segment, homes close together
    st.integers(0, 200).map(lambda low: TOP - low),  # the last home: the search wraps round
)
BATCHES = st.lists(st.lists(KEYS, max_size=60), max_size=12)


class Reference:
    """The table as a dictionary, and cash as f32 that are added one by one."""

    def __init__(self) -> None:
        self.slots: dict[int, int] = {}
        self.cash: list[np.float64] = []

    def intern(self, keys):
        slots, new = [], []
        for key in keys:
            new.append(key not in self.slots)
            slots.append(self.slots.setdefault(key, len(self.slots)))
            if new[-1]:
                self.cash.append(np.float64(0))
        return slots, new

    def pay(self, keys, amounts):
        kept = []
        for key, amount in zip(keys, amounts, strict=True):
            slot = self.slots.get(key)
            if slot is None:
                kept.append(amount)
                continue
            before = float(self.cash[slot])
            self.cash[slot] = np.float64(before + amount)
            kept += [amount, before, -float(self.cash[slot])]
        return math.fsum(kept)


def array(keys):
    return np.array(keys, np.uint64)


def small():
    return Table(segment_capacity=1000, first_capacity=2)


@settings(max_examples=150, deadline=None)
@given(BATCHES, st.lists(KEYS, max_size=60))
def test_is_a_dictionary(batches, asked):
    table, reference = small(), Reference()
    for batch in batches:
        slots, new = table.intern(array(batch))
        assert (slots.tolist(), new.tolist()) == reference.intern(batch)
    everything = asked + list(reference.slots)
    assert table.find(array(everything)).tolist() == [reference.slots.get(key, NO_SLOT) for key in everything]
    assert table.known == len(reference.slots)
    assert table.keys().tolist() == list(reference.slots)
    assert (table.record[: table.known] == NO_RECORD).all()
    assert not table.record[table.known : table.known + 5].any()


@settings(max_examples=100, deadline=None)
@given(st.lists(KEYS, max_size=60), st.lists(KEYS, max_size=10))
def test_keys_one_by_one_are_as_many_at_once(known, asked):
    table, reference = small(), small()
    slots, _ = reference.intern(array(known))
    assert [table.intern_one(key) for key in known] == slots.tolist()
    assert table.known == reference.known
    assert (table.record[: table.known + 5] == reference.record[: table.known + 5]).all()
    for key in known + asked:
        slot = table.find_one(key)
        assert (NO_SLOT if slot is None else slot) == reference.find(array([key]))[0]


@settings(max_examples=100, deadline=None)
@given(st.lists(KEYS, max_size=80), st.lists(st.tuples(KEYS, st.floats(0, 1, width=32)), max_size=80), st.randoms())
def test_pays_as_one_cell_after_another(known, payments, random):
    table, reference = small(), Reference()
    table.intern(array(known))
    reference.intern(known)
    payments += [(random.choice(known), random.random()) for _ in known]
    keys, amounts = [key for key, _ in payments], [amount for _, amount in payments]
    residue = table.pay(array(keys), np.array(amounts))
    assert residue == pytest.approx(reference.pay(keys, amounts), abs=1e-14)
    assert table.cash[: table.known].tolist() == [float(cell) for cell in reference.cash]


@settings(max_examples=50, deadline=None)
@given(st.lists(KEYS, unique=True, max_size=200))
def test_rebuilt_is_the_same(keys):
    table = small()
    table.rebuild(array(keys))
    assert table.find(array(keys)).tolist() == list(range(len(keys)))
    assert (table.record[: table.known] == NO_RECORD).all()
    assert table.intern(array([5, *keys]))[1].tolist() == [5 not in keys, *[False] * len(keys)]


def test_grows_through_many_sizes():
    table = KeyMap(first_capacity=2)
    keys = np.random.default_rng(1).integers(0, TOP, 200_000, np.uint64, endpoint=True)
    for start in range(0, len(keys), 777):
        table.intern(keys[start : start + 777])
    assert (table.find(keys) == np.arange(len(keys))).all()
    assert (table.find(keys + np.uint64(1)) == NO_SLOT).all()
    assert (table.keys() == keys).all()


def test_total_stays_exact_over_many_payments():
    """A million payments: what the cells hold and what came back sum to what was given."""
    table, random = Table(segment_capacity=1000), np.random.default_rng(2)
    keys = random.integers(0, TOP, 1000, np.uint64)
    table.intern(keys)
    given_out, residue = [], 0.0
    for _ in range(200):
        amounts = random.exponential(1e-6, 5000)
        residue += table.pay(random.choice(keys, 5000), amounts)
        given_out.append(math.fsum(amounts))
    assert math.fsum([*table.cash[:1000].tolist(), residue]) == pytest.approx(math.fsum(given_out), rel=1e-14)


def test_pays_slots_but_not_those_saved_later():
    table = Table(segment_capacity=1 << 14)
    table.intern(np.arange(1 << 21, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    slots = np.array([3, 1 << 20, (1 << 21) - 1, 1 << 21, NO_SLOT], np.uint32)
    saved = Saved((1 << 21) - 1, array([10, 9]), 1 << 20)
    arrived = table.pay_slots(slots, np.array([1.0, 2.0, 4.0, 8.0, 16.0]), 10, saved)
    assert table.cash[slots[:3]].tolist() == [0.0, 2.0, 4.0]  # slot 3 had its 1.0 before it was saved
    assert arrived == 7.0  # nobody has the last two slots
    table.pay_slots(slots[2:3], np.array([1.0]), 1, saved)
    assert table.cash[slots[2]] == 5.0  # the snapshot ends before this slot
    assert table.pay_slots(slots[:1], np.array([0.1])) == 0.1


def test_pays_links_by_kind():
    table = small()
    table.intern(np.arange(1, 400, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    slots = np.array([0, 3, 5, 127, 128, 300, 301, 302, 303], np.uint32)
    arrived = table.pay_links(encode_slots(slots), bytes([0b00000101, 0b1]), 0.25, 2.0)
    assert table.cash[slots].tolist() == [2.0, 0.25, 2.0, 0.25, 0.25, 0.25, 0.25, 0.25, 2.0]
    assert arrived == 3 * 2.0 + 6 * 0.25
    assert table.pay_links(encode_slots(slots[:2]), b"", 0.5, 9.0, 3, Saved(2, array([3]), 1 << 20)) == 1.0
    assert table.cash[slots[:2]].tolist() == [2.0, 0.75]  # the first was saved with it
    assert table.pay_links(b"", b"", 1.0, 1.0) == 0.0


def test_a_replay_over_a_chunk_saved_halfway_ends_where_memory_was():
    live, replayed = small(), small()
    for table in (live, replayed):
        table.intern(array([1, 2, 3]))
    slots = np.array([0, 2, 2], np.uint32)
    saved = None
    for sequence in range(1, 8):
        live.pay_slots(slots, np.full(3, 0.1 * sequence), sequence)
        if sequence == 4:
            saved = live.cash[:3].copy()
    replayed.cash[:3] = saved
    for sequence in range(2, 8):  # the journal is folded from where the snapshot began
        replayed.pay_slots(slots, np.full(3, 0.1 * sequence), sequence, Saved(3, array([4]), 1 << 20))
    assert replayed.cash[:3].tolist() == live.cash[:3].tolist()


def test_takes_keys_as_they_come_from_a_file():
    """Read-only, strided or of another integer type: the same answers."""
    table = small()
    table.intern(np.frombuffer(array([5, 6, 7]).tobytes(), np.uint64))
    rows = np.zeros(3, [("key", "<u8"), ("host", "<u4")])
    rows["key"] = [7, 6, 8]
    assert table.find(rows["key"]).tolist() == [2, 1, NO_SLOT]
    assert table.find(np.array([5, 6])).tolist() == [0, 1]


def test_a_table_fits_a_small_address_space():
    code = """
import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
import numpy as np; from evercrawl.store.table.table import Table
table = Table(); table.intern(np.arange(9, dtype=np.uint64)); print(table.known, len(table.cash) >= 1 << 24)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "9 True\n"


def test_says_when_a_segment_is_full():
    table = Table(segment_capacity=10, first_capacity=2)
    with pytest.raises(StoreError, match="full with 9 URLs"):
        table.intern(np.arange(1, 20, dtype=np.uint64))
    assert table.find(np.arange(1, 11, dtype=np.uint64)).tolist() == [*range(9), NO_SLOT]
    assert (table.record[:9] == NO_RECORD).all()


def test_refuses_to_rebuild_from_a_key_that_comes_twice():
    with pytest.raises(StoreError, match="repeated"):
        small().rebuild(array([4, 5, 4]))
    with pytest.raises(StoreError, match="repeated"):
        small().rebuild(array([0, 5, 0]))


def test_refuses_to_rebuild_more_than_fits():
    with pytest.raises(StoreError, match="full with 19 URLs"):
        Table(segment_capacity=10, first_capacity=2).rebuild(np.arange(1, 20, dtype=np.uint64))


def test_rebuilds_many():
    keys = np.random.default_rng(4).integers(0, TOP, 300_000, np.uint64, endpoint=True)
    table = Table()
    table.rebuild(keys)
    table.intern(keys[:7] + np.uint64(1))
    assert table.known == 300_007
    assert (table.find(keys) == np.arange(300_000)).all()


def test_keys_that_all_fall_together_stay_findable():
    keys = (np.uint64(3) << np.uint64(56)) + np.arange(1, 900, dtype=np.uint64)
    table = small()
    table.intern(keys)
    assert (table.find(keys) == np.arange(899)).all()


def test_numba_is_not_needed_once_it_has_compiled():
    small().find(np.zeros(1, np.uint64))
    code = "import sys, evercrawl.store.table.table as t; t.Table().find([1]); print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_kernels_agree_with_the_table():
    """They keep numbers of their own, for the table does not import them: they import numba."""
    assert _table_kernels.SEGMENTS == table_module.SEGMENTS
    assert _table_kernels.TOGETHER == table_module.TOGETHER
    assert 3 * _table_kernels.BLOCK == table_module.SCRATCH
    assert _table_entries.CELL == table_module.CELL
