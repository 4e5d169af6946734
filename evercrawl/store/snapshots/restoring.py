"""Restoration of memory from a snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evercrawl.arrays.blocks import blocks_of, in_blocks
from evercrawl.errors import StoreError
from evercrawl.store.host_instants import HostInstants
from evercrawl.store.render_gains import RenderGains
from evercrawl.store.snapshots.columns import clear_beyond, row_columns
from evercrawl.store.snapshots.filling import fill, live_blocks
from evercrawl.store.snapshots.frames import data_of
from evercrawl.store.snapshots.head import DAMAGED, KIND, OtherHashesError, OtherSitesError
from evercrawl.store.state import FoldedRecords
from evercrawl.store.table.folders import MARKED_BY
from evercrawl.store.table.known import FILE as KNOWN_FILE
from evercrawl.store.table.table import NO_RECORD, Saved
from evercrawl.types import NO_SLOT, Keys

if TYPE_CHECKING:
    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.snapshots.frames import PlacedFrame
    from evercrawl.store.snapshots.head import SnapshotHead
    from evercrawl.store.snapshots.snapshot import Loaded
    from evercrawl.store.snapshots.version8 import Older
    from evercrawl.store.state import State

_LINE_END: Final = ord("\n")


def restore(state: State, loaded: Loaded, disk: Disk) -> None:
    """Fill an empty state from a snapshot; the state records the sequence of each block of cash and records.

    Raises
    ------
    OtherHashesError, OtherSitesError
        Its keys are under another secret, or its accounts belong to other sites.
    StoreError
        The known URLs are not those of the snapshot, or blocks are missing.
    """
    head = loaded.head
    if head.hashes != state.hasher.mark:
        raise OtherHashesError(f"snapshot {loaded.name} was made under another secret")
    if head.known_digest not in (0, state.known.digest()):
        raise StoreError(f"{KNOWN_FILE} is damaged: it does not hold what snapshot {loaded.name} was made with")
    state.table.rebuild(state.known.take_keys())
    if state.post is not None:
        state.post.restore(head.post if isinstance(head.post, bytes) else b"")
    state.become(head.scheme)
    state.records.resize(head.records)
    state.accounts.restore(head.accounts)
    state.notes, state.steered = dict(head.notes), head.steered.copy()
    try:
        state.away, state.wished = (HostInstants.unpacked(each) for each in (head.away, head.wished))
    except ValueError as error:
        raise StoreError(f"snapshot {loaded.name} is damaged ({error})") from error
    state.visits, state.changes, state.wire_bytes = head.visits, head.changes, head.wire_bytes
    if loaded.older is not None:
        _take_older(state, head, loaded.older)
    else:
        try:
            _take_blocks(state, loaded, disk)
        except DAMAGED as error:
            raise StoreError(f"snapshot {loaded.name} is damaged ({error})") from error
    state.render_gains = _gains(head, loaded.name)
    counts = np.bincount(state.records.rows["outcome"][: head.records], minlength=1)
    state.outcomes.update({int(i): int(n) for i, n in enumerate(counts) if n and i})
    try:
        state.index_originals()
        state.find_lost()
        state.note_folders(anew=head.marked_by != MARKED_BY)
    except IndexError as error:
        raise StoreError(f"snapshot {loaded.name} is damaged ({error})") from error


def see_references(state: State, name: str) -> None:
    """Check that all references to rows by number are valid, because compiled code does not check them.

    Blocks of a snapshot may be newer than the snapshot, so this is called after the journal was folded.

    Raises
    ------
    StoreError
        A reference in the snapshot of this name is invalid.
    """
    known, records, hosts = state.known.count, state.records.count, len(state.hosts)
    rows, cells = state.records.rows[:records], state.table.record[:known]
    wrong = {
        "records": (cells[(cells & NO_RECORD) == 0] >= records).any(),
        "pages": (rows["slot"] >= known).any(),
        "hosts": (rows["host"] >= hosts).any(),
        "aliases": ((rows["alias"] >= known) & (rows["alias"] != NO_SLOT)).any(),
        "sites": (state.site_of[:hosts] >= len(state.sites)).any(),
    }
    for what, so in wrong.items():
        if so:
            raise StoreError(f"snapshot {name} is damaged (it refers to {what} that it lacks)")


def _gains(head: SnapshotHead, name: str) -> RenderGains:
    try:
        gains = RenderGains.restored(head.render_gains)
    except DAMAGED as error:
        raise StoreError(f"snapshot {name} is damaged ({error})") from error
    return gains


def _take_blocks(state: State, loaded: Loaded, disk: Disk) -> None:
    head, columns = loaded.head, row_columns(state)
    counts = {
        "cash": head.known, "record": head.known, "records": head.records, "sites": head.sites, "site_of": head.hosts,
        "born": head.known, "kept": head.records,
    }  # fmt: skip
    sequences = dict[str, Keys]()
    for name, (rows, bits) in columns.items():
        if head.bits[name] != bits:
            raise ValueError(f"blocks of {name} have another size")
        targets = in_blocks(rows, bits)[: blocks_of(counts[name], bits)]
        sequences[name] = fill(targets, loaded.placed, name, KIND, disk)
        clear_beyond(rows, counts[name], bits)
    hosts = _names(loaded.placed, "hosts", head.hosts, head.bits["hosts"], disk)
    sites = _names(loaded.placed, "site_names", head.sites, head.bits["site_names"], disk)
    if not state.take_hosts(hosts, sites, known=bool(head.site_rules) and head.site_rules == state.site_rules):
        raise OtherSitesError(f"the sites of {loaded.name} have changed")
    state.cashbook.saved = Saved(head.known, sequences["cash"], 1 << head.bits["cash"])
    state.folded = FoldedRecords(head.records, sequences["records"])


def _names(placed: list[PlacedFrame], column: str, count: int, bits: int, disk: Disk) -> bytes:
    """Return names in order, each followed by a line break."""
    found = dict[int, bytes]()
    for frame, places, live in live_blocks(placed, column, blocks_of(count, bits)):
        data = data_of(disk, KIND, frame)
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _LINE_END) + 1
        begins: list[int] = np.concatenate(([0], ends[(1 << bits) - 1 :: 1 << bits], ends[-1:])).tolist()
        for place, block in zip(places.tolist(), live.tolist(), strict=True):
            found[block] = data[begins[place] : begins[place + 1]]
    lines = b"".join(found[block] for block in sorted(found))
    if (there := lines.count(b"\n")) < count:
        raise ValueError(f"it has {there} of {count} {column}")
    return lines if there == count else b"".join(name + b"\n" for name in lines.split(b"\n")[:count])


def _take_older(state: State, head: SnapshotHead, older: Older) -> None:
    columns: dict[str, Any] = {name: rows for name, (rows, _) in row_columns(state).items()}
    sequences = {name: np.zeros(blocks_of(count, bits), np.uint64) for name, count, bits in (
        ("cash", head.known, state.table.changed_cash.bits), ("records", head.records, state.records.changed.bits),
    )}  # fmt: skip
    for column, start, count, sequence, raw in older.rows():
        target = columns[column]
        rows = np.frombuffer(raw, target.dtype)
        target[start : start + count] = rows.reshape(-1, *target.shape[1:])
        if column in sequences:
            bits = row_columns(state)[column][1]
            sequences[column][start >> bits : blocks_of(start + count, bits)] = sequence
    columns["sites"][: head.sites] = older.site_rows()
    seeded = state.seeded()
    for host, name in enumerate(older.hosts):
        state.add_host(name, seed=host in seeded)
    if not older.is_of(state.sites):
        raise OtherSitesError("the sites have changed")
    state.cashbook.saved = Saved(head.known, sequences["cash"], 1 << state.table.changed_cash.bits)
    state.folded = FoldedRecords(head.records, sequences["records"])
