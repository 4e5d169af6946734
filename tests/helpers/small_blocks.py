"""Snapshots of crawls with few pages, in many blocks and pieces all the same."""

import pytest

from evercrawl.store import state
from evercrawl.store.cash import accounts
from evercrawl.store.records import records
from evercrawl.store.snapshots import blocklog, snapshot
from evercrawl.store.table import table


def small_blocks(patch: pytest.MonkeyPatch) -> None:
    """Let blocks have one row to eight, be copied a few at a time, and their files hold a few kB."""
    for module, name, value in (
        (table, "CASH_BITS", 2), (table, "CELL_BITS", 3), (records, "RECORD_BITS", 1), (accounts, "SITE_BITS", 0),
        (state, "_HOSTS_A_BLOCK", 0), (state, "_NAMES_A_BLOCK", 1), (state, "_BIRTHS_A_BLOCK", 2),
        (snapshot, "COPIED_BYTES", 1000), (blocklog, "SEGMENT_BYTES", 4000), (blocklog, "LEAST_BYTES", 500),
    ):  # fmt: skip
        patch.setattr(module, name, value)
