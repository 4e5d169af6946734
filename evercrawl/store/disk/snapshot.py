"""Snapshots: what memory holds, written piece by piece while the crawl goes on.

Each piece carries the journal sequence at which it was copied. Loading takes the pieces as they are and folds the
journal from where the snapshot began: assignments come out the same, and sums skip cells whose piece was copied later
than the event. Two generations are kept; a damaged one is passed over for the older, and without any the whole journal
is folded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import xxhash
import zstandard

from evercrawl.errors import StoreError
from evercrawl.store.archive.pointer import ArchiveEnd
from evercrawl.store.cash.accounts import SavedAccounts
from evercrawl.store.disk import stamped
from evercrawl.store.disk.stamped import END, packed, pieces
from evercrawl.store.scheme import Scheme
from evercrawl.store.state import FoldedRecords
from evercrawl.store.table.known import FILE as KNOWN_FILE
from evercrawl.store.table.table import CHUNK_SLOTS, Saved

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.journal.journal import Journal
    from evercrawl.store.state import State

VERSION: Final = 8
MAGIC: Final = b"EVERSNAP"
SLOTS_A_PIECE: Final = CHUNK_SLOTS
RECORDS_A_PIECE: Final = 1 << 17


class SnapshotHead(msgspec.Struct):
    """What a snapshot is of; the first frame.

    Attributes
    ----------
    sequence, position
        Events folded when it began, and the journal offset from which to go on.
    known, records, hosts
        How many there were.
    tail
        URLs of the URL log's unfinished block.
    accounts
        Cash that is in no page's cell.
    notes
        Numbers that whoever looks at the crawl from outside likes to know, such as the price.
    sites
        Digest of the names of the sites, which the accounts are in the order of.
    away, wished
        Hosts to be left alone, as in the state; an older version did not keep the latter.
    scheme
        How importance was learned when it began; never is a crawl switched while one is written.
    known_digest
        Digest of the known URLs' rows, which are in a file of their own; None where an older version made the snapshot.
    """

    version: int
    epoch: float
    sequence: int
    position: int
    known: int
    records: int
    tail: list[str]
    hosts: list[str]
    away: dict[int, float]
    visits: int
    changes: int
    wire_bytes: int
    archive_end: ArchiveEnd
    accounts: SavedAccounts = SavedAccounts()
    notes: dict[str, float] = {}
    sites: int = 0
    known_digest: int | None = None
    wished: dict[int, float] = {}
    scheme: Scheme = Scheme()


class OtherSitesError(StoreError):
    """Hosts are grouped into sites otherwise than when the snapshot was made, as by a newer public suffix list."""


class Piece(msgspec.Struct):
    """One piece: rows [start, start + count) of a column, copied when the journal stood at `sequence`."""

    column: str
    start: int
    count: int
    sequence: int
    data: bytes
    checksum: int


class Loaded(msgspec.Struct):
    """A whole snapshot that was read back."""

    name: str
    head: SnapshotHead
    pieces: list[Piece]


async def write(
    state: State,
    journal: Journal,
    disk: Disk,
    archive_end: ArchiveEnd,
    commit: Callable[[], Awaitable[None]],
    offload: Callable[..., Awaitable[Any]],
) -> str:
    """Write a snapshot, one piece at a time, and return its name.

    Parameters
    ----------
    commit
        Returns once every event so far is on the disk.
    offload
        Runs a function where it does not hold up the crawl, and returns its result.
    """
    head = SnapshotHead(
        VERSION, state.epoch, journal.sequence, journal.position, state.known.count, state.records.count,
        state.urls.tail(), list(state.hosts), dict(state.away), state.visits, state.changes, state.wire_bytes,
        archive_end, state.accounts.save(), dict(state.notes), _digest(state.sites), state.known.digest(),
        dict(state.wished), state.scheme,
    )  # fmt: skip
    frames = [MAGIC, packed(msgspec.msgpack.encode(head))]
    for column, start, array in _columns(state, head):
        copied = array.tobytes()
        frames.append(await offload(_pack, column, start, len(array), copied, journal.sequence))
    frames.append(END)
    state.urls.sync()
    state.known.flush()
    await commit()
    await offload(state.known.sync)
    name = stamped.stamped(stamped.SNAPSHOT, head.sequence)
    await offload(disk.replace, name, frames)
    stamped.forget_older(disk, stamped.SNAPSHOT)
    return name


def names(disk: Disk) -> list[str]:
    """Return the snapshots there are, newest first."""
    return stamped.names(disk, stamped.SNAPSHOT)


def load(disk: Disk) -> tuple[Loaded | None, list[str]]:
    """Return the newest whole snapshot, and a sentence for each that is damaged.

    Raises
    ------
    StoreError
        When a snapshot was made by a newer version.
    """
    troubles: list[str] = []
    for name in names(disk):
        try:
            return read(disk, name), troubles
        except (ValueError, msgspec.MsgspecError, zstandard.ZstdError) as error:
            troubles.append(f"snapshot {name} is damaged ({error}); an older one or the journal is used instead")
    return None, troubles


def restore(state: State, loaded: Loaded) -> None:
    """Fill `state` from a snapshot; it takes note of how far each piece of the cash column reaches.

    Raises
    ------
    OtherSitesError
        Its accounts are of other sites.
    StoreError
        The known URLs are not those that it was made with.
    """
    head = loaded.head
    if head.known_digest not in (None, state.known.digest()):
        raise StoreError(f"{KNOWN_FILE} is damaged: it does not hold what snapshot {loaded.name} was made with")
    state.table.rebuild(np.ascontiguousarray(state.known.rows(0, head.known)["key"]))
    state.become(head.scheme)
    state.records.resize(head.records)
    state.accounts.restore(head.accounts)
    state.notes = dict(head.notes)
    for name in head.hosts:
        state.add_host(name)
    if head.sites != _digest(state.sites):
        raise OtherSitesError(f"the sites of {loaded.name} are others now")
    state.away, state.wished = dict(head.away), dict(head.wished)
    state.visits, state.changes, state.wire_bytes = head.visits, head.changes, head.wire_bytes
    cash = [piece for piece in loaded.pieces if piece.column == "cash"]
    state.folded = [
        FoldedRecords(piece.start, piece.start + piece.count, piece.sequence)
        for piece in loaded.pieces
        if piece.column == "records"
    ]
    for piece in loaded.pieces:
        target = _column(state, piece.column)
        raw = zstandard.ZstdDecompressor().decompress(piece.data)
        target[piece.start : piece.start + piece.count] = np.frombuffer(raw, target.dtype).reshape(
            -1, *target.shape[1:]
        )
    counts = np.bincount(state.records.rows["outcome"][: head.records], minlength=1)
    state.outcomes.update({int(i): int(n) for i, n in enumerate(counts) if n and i})
    state.index_originals()
    state.find_lost()
    state.note_folders()
    copied = np.array([piece.sequence for piece in cash], np.uint64)
    state.cashbook.saved = Saved(head.known, copied, max((piece.count for piece in cash[:-1]), default=CHUNK_SLOTS))


def _columns(state: State, head: SnapshotHead) -> Iterator[tuple[str, int, NDArray[Any]]]:
    for column, total, size in (
        ("cash", head.known, SLOTS_A_PIECE),
        ("record", head.known, SLOTS_A_PIECE),
        ("records", head.records, RECORDS_A_PIECE),
        ("born", head.known if head.scheme.handout else 0, SLOTS_A_PIECE),
        ("kept", head.records if head.scheme.width else 0, RECORDS_A_PIECE),
    ):
        for start in range(0, total, size):
            yield column, start, _column(state, column)[start : min(start + size, total)]


def _column(state: State, column: str) -> NDArray[Any]:
    columns: dict[str, NDArray[Any]] = {
        "cash": state.table.cash,
        "record": state.table.record,
        "records": state.records.rows,
        "kept": state.records.kept,
        "born": state.born,
    }
    return columns[column]


def _pack(column: str, start: int, count: int, rows: bytes, sequence: int) -> bytes:
    data = zstandard.ZstdCompressor(level=1).compress(rows)
    return packed(msgspec.msgpack.encode(Piece(column, start, count, sequence, data, xxhash.xxh3_64_intdigest(data))))


def _digest(names: Iterable[str]) -> int:
    return xxhash.xxh3_64_intdigest("\n".join(names).encode())


def read(disk: Disk, name: str) -> Loaded:
    """Return one snapshot, whole.

    Raises
    ------
    ValueError, msgspec.MsgspecError, zstandard.ZstdError
        It is damaged.
    StoreError
        It was made by a newer version.
    """
    frames = pieces(disk.read(name, 0, disk.size(name)), MAGIC)
    head = msgspec.msgpack.decode(frames[0], type=SnapshotHead)
    if head.version > VERSION:
        raise StoreError(
            f"{name} was made by a newer evercrawl (format {head.version}, this one reads {VERSION}); upgrade evercrawl"
        )
    if head.version < VERSION:
        raise ValueError("it was made by an older evercrawl")
    return Loaded(name, head, [msgspec.msgpack.decode(frame, type=Piece) for frame in frames[1:]])
