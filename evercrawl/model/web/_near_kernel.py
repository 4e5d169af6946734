"""Compiled index of similarity hashes: finds hashes within a few bits of another.

A node is five words: the hash, and for each of its four blocks of 16 bits the next node of the same block (low half)
and the one before (high half), both counted from 1; 0 is the end of a chain. Heads are one a block and value.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.addresses import pointer_at
from evercrawl.kernels.build import compiled, entry, i64, pointer, u64, view
from evercrawl.model.web._near_layout import BLOCKS, VALUES, WORDS
from evercrawl.store.records.records import NEAR, RECORD
from evercrawl.types import NO_SLOT, Keys, Outcome, Slots

MOST: Final = 128  # nodes of a chain that are examined, the newest first
_INTS = pointer(np.int64)
_nodes_at, _heads_at, _records_at = pointer_at(np.uint64), pointer_at(np.uint32), pointer_at(RECORD)
_OK, _NEAR = int(Outcome.OK), NEAR
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_M1, _M2 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_M4, _H1 = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@compiled
def _index(addresses: Any, size: int) -> Any:
    """Return nodes, heads and records at `addresses`."""
    at = view(addresses, 3)
    nodes, heads = view(_nodes_at(at[0]), (size, WORDS)), view(_heads_at(at[1]), BLOCKS * VALUES)
    return nodes, heads, view(_records_at(at[2]), size)


@entry(i64, _INTS, i64, i64)
def put(addresses: Any, size: int, index: int) -> int:
    """Index the present hash of a record as the newest, if the page could be another's original."""
    chains, starts, rows = _index(addresses, size)
    _take(chains, starts, index)
    row = rows[index]
    own = row["digest"] != 0 and row["alias"] == NO_SLOT and row["flags"] & _NEAR == 0
    if own and row["simhash"] != 0:
        _link(chains, starts, index, np.uint64(rows[index]["simhash"]))
    return 0


@entry(i64, _INTS, i64, _INTS, i64)
def fill(addresses: Any, size: int, order: Any, n: int) -> int:
    """Index the hashes of records in an empty index, one after another."""
    chains, starts, rows = _index(addresses, size)
    for index in view(order, n):
        _link(chains, starts, index, np.uint64(rows[index]["simhash"]))
    return 0


@entry(i64, _INTS, i64, i64, u64, i64, i64, i64, i64, i64, _INTS, i64)
def like(
    addresses: Any, size: int, before: int, simhash: Any, words: int, size_bytes: int, host: int, here: int, bits: int,
    out: Any, room: int,
) -> int:  # fmt: skip
    """Write the records before `before` that look the same; return their number, at most `room`.

    They differ in at most `bits` bits, and in size by at most a twentieth. A record with identical text is returned
    alone. Records on `host` count only if `here` is set; whether there is one is written after the last, as 1 or 0.
    """
    chains, starts, rows = _index(addresses, size)
    return _like(chains, starts, rows, before, simhash, words, size_bytes, host, here, bits, view(out, room + 1))


@compiled
def _like(
    nodes: Keys, heads: Slots, rows: Any, before: int, simhash: np.uint64, words: int, size_bytes: int, host: int,
    here: int, bits: int, out: NDArray[np.int64],
) -> int:  # fmt: skip
    room = len(out) - 1
    out[room] = 0
    first, second = np.int64(heads[_place(simhash, 0)]), np.int64(heads[_place(simhash, 1)])
    third, fourth = np.int64(heads[_place(simhash, 2)]), np.int64(heads[_place(simhash, 3)])
    count = 0
    for _ in range(MOST):
        if first + second + third + fourth == 0:
            break
        for block in range(BLOCKS):  # side by side, so that their cache misses overlap
            at = first if block == 0 else second if block == 1 else third if block == 2 else fourth
            if at == 0:
                continue
            index = at - 1
            following = np.int64(nodes[index, 1 + block] & _LOW)
            if block == 0:
                first = following
            elif block == 1:
                second = following
            elif block == 2:
                third = following
            else:
                fourth = following
            differing = _ones(nodes[index, 0] ^ simhash)
            if differing > bits or index >= before:
                continue
            row = rows[index]
            if row["outcome"] != _OK or row["flags"] & _NEAR:
                continue
            if row["host"] == host:
                out[room] = 1
            if differing == 0 and row["words"] == words:
                out[0] = index
                return 1
            other = int(row["size_bytes"])
            if (
                count == room
                or (row["host"] == host and not here)
                or 20 * abs(other - size_bytes) > max(other, size_bytes)
            ):
                continue
            known = False
            for i in range(count):
                known |= out[i] == index
            if not known:
                out[count] = index
                count += 1
    return count


@compiled
def _ones(bits: np.uint64) -> int:
    """Return the number of set bits (Warren, Hacker's Delight, section 5-1)."""
    bits -= bits >> np.uint64(1) & _M1
    bits = (bits & _M2) + (bits >> np.uint64(2) & _M2)
    bits = bits + (bits >> np.uint64(4)) & _M4
    return int(bits * _H1 >> np.uint64(56))


@compiled
def _place(simhash: np.uint64, block: int) -> int:
    """Return the position of the chain head for a block of a hash."""
    return block * VALUES + int(simhash >> np.uint64(16 * block) & np.uint64(VALUES - 1))


@compiled
def _link(nodes: Keys, heads: Slots, index: int, simhash: np.uint64) -> None:
    nodes[index, 0] = simhash
    for block in range(BLOCKS):
        place = _place(simhash, block)
        following = np.int64(heads[place])
        nodes[index, 1 + block] = np.uint64(following)
        if following:
            nodes[following - 1, 1 + block] = nodes[following - 1, 1 + block] & _LOW | np.uint64(index + 1) << _HALF
        heads[place] = np.uint32(index + 1)


@compiled
def _take(nodes: Keys, heads: Slots, index: int) -> None:
    simhash = nodes[index, 0]
    if simhash == 0:
        return
    for block in range(BLOCKS):
        following, previous = nodes[index, 1 + block] & _LOW, nodes[index, 1 + block] >> _HALF
        if previous:
            before = np.int64(previous) - 1
            nodes[before, 1 + block] = nodes[before, 1 + block] & ~_LOW | following
        else:
            heads[_place(simhash, block)] = np.uint32(following)
        if following:
            after = np.int64(following) - 1
            nodes[after, 1 + block] = nodes[after, 1 + block] & _LOW | previous << _HALF
    nodes[index, 0] = np.uint64(0)
