"""The law of cash is held to a little at a time, and nothing that was written to is left out."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evercrawl.arrays.blocks import AUDITS, ChangedBlocks
from evercrawl.store.cash.accounts import Accounts
from evercrawl.store.cash.audit import BlockSums, CashAudit
from evercrawl.store.table.table import Table
from evercrawl.types import Floats, Slots


def test_only_what_was_written_to_is_added_up_again():
    rows, changed, looked = np.zeros(1 << 12), ChangedBlocks(1 << 12, bits=4), list[int]()

    def summed(blocks: Slots) -> Floats:
        looked.extend(blocks.tolist())
        return rows.reshape(-1, 16)[blocks].sum(axis=1)

    sums = BlockSums(changed, lambda: len(rows), summed)
    while sums.add_up(64) or not sums.whole:
        pass
    assert sorted(looked) == list(range(256))
    looked.clear()
    rows[17], rows[4000] = 2.0, 3.0
    changed.note(17)
    changed.note(4000)
    assert (sums.add_up(64), sums.whole, sums.total()) == (2, True, 5.0)
    assert looked == [1, 250]


@pytest.mark.parametrize("marked", [0, 1, 40, 900])
def test_marks_are_found_however_many_there_are(marked: int):
    draw, changed = np.random.default_rng(marked), ChangedBlocks(1003, bits=0)
    rows = np.unique(draw.integers(0, 1003, marked))
    changed.put_back(rows.astype(np.uint32))
    assert changed.take(1001).tolist() == [row for row in rows.tolist() if row < 1001]
    assert changed.take(1003).tolist() == [row for row in rows.tolist() if row >= 1001]
    assert changed.take(1003, AUDITS).tolist() == rows.tolist()


def test_what_is_written_to_while_the_rest_is_added_up_counts_as_it_is_then():
    rows, changed = np.ones(256), ChangedBlocks(256, bits=4)
    sums = BlockSums(changed, lambda: len(rows), lambda blocks: rows.reshape(-1, 16)[blocks].sum(axis=1))
    sums.add_up(4)
    rows[0] -= 1.0  # from what was added up to what was not
    rows[255] += 1.0
    changed.note(0)
    changed.note(255)
    while not sums.whole:
        sums.add_up(4)
    assert sums.total() == 256.0


@pytest.mark.parametrize("handout", [True, False])
def test_it_says_what_adding_all_up_says(handout: bool):
    draw, table, whole = np.random.default_rng(1), Table(segment_capacity=1000), 0.0
    known: Any = SimpleNamespace(count=0)
    accounts = Accounts(handout=handout)
    audit = CashAudit(table, accounts, known)
    for turn in range(20):
        keys = draw.integers(1, 2**63, 400).astype(np.uint64)
        slots, _ = table.intern(keys)
        known.count = table.known
        site = accounts.add_site(trusted=turn % 3 > 0)
        for _ in range(turn):
            accounts.join(site)
        accounts.virtual -= table.pay_slots(slots[: turn + 1], np.full(turn + 1, 0.25 / (turn + 1)))
        accounts.spend()
        owed = audit.owed(5)
        while owed is None:
            owed = audit.owed(5)
        whole = float(table.cash[: known.count].sum()) + accounts.held() - (1.0 if handout else 0.0)
        assert owed == pytest.approx(whole, abs=1e-12)
    table.cash[3] += 1.0  # what nobody says is found as soon as anybody writes to its block
    table.changed_cash.note(3)
    found = audit.owed()
    assert found is not None
    assert found == pytest.approx(whole + 1.0)
