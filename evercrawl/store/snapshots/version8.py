"""Snapshots of version 8, which were single files; they can be read, and are no longer written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import numpy as np
import xxhash

from evercrawl.decoding import msgpack_of
from evercrawl.store.archive.pointer import ArchiveEnd
from evercrawl.store.cash.accounts import SITE, SavedAccounts
from evercrawl.store.disk.inflating import inflated
from evercrawl.store.host_instants import HostInstants
from evercrawl.store.scheme import Scheme
from evercrawl.store.snapshots.head import SnapshotHead

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

VERSION: Final = 8


class _Accounts(NamedTuple):
    virtual: float = 0.0
    total: float = 0.0
    each: float = 0.0
    active: int = 0
    sites: bytes = b""


class _Head(msgspec.Struct):
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
    accounts: _Accounts = _Accounts()
    notes: dict[str, float] = {}
    sites: int = 0
    known_digest: int = 0
    wished: dict[int, float] = {}
    scheme: Scheme = Scheme()


class Piece(msgspec.Struct):
    """Rows [start, start + count) of a column, copied when the journal was at `sequence`."""

    column: str
    start: int
    count: int
    sequence: int
    data: bytes
    checksum: int


class Older(NamedTuple):
    """The content of such a snapshot.

    Attributes
    ----------
    head, pieces
        Its header, and the pieces of the columns.
    """

    head: _Head
    pieces: list[Piece]

    @property
    def hosts(self) -> list[str]:
        """Return the names of all hosts."""
        return self.head.hosts

    def site_rows(self) -> NDArray[np.void]:
        """Return the rows of `SITE`."""
        return np.frombuffer(self.head.accounts.sites, SITE)

    def is_of(self, sites: Iterable[str]) -> bool:
        """Return whether the rows are of these sites, in this order."""
        return self.head.sites == xxhash.xxh3_64_intdigest("\n".join(sites).encode())

    def rows(self) -> Iterator[tuple[str, int, int, int, bytes]]:
        """Yield column, first row, count and sequence of each piece, and its rows as bytes."""
        for piece in self.pieces:
            raw = inflated(piece.data)
            yield piece.column, piece.start, piece.count, piece.sequence, raw


def read(found: Sequence[memoryview]) -> Older:
    """Return the content of a file's pieces.

    Raises
    ------
    ValueError, msgspec.MsgspecError
        It is damaged.
    """
    older = Older(msgpack_of(found[0], _Head), [msgpack_of(each, Piece) for each in found[1:]])
    for piece in older.pieces:
        if xxhash.xxh3_64_intdigest(piece.data) != piece.checksum:
            raise ValueError(f"the checksum of {piece.column} from {piece.start} on does not match")
    return older


def head_of(older: Older) -> SnapshotHead:
    """Return its header in the present format."""
    head, accounts = older.head, older.head.accounts
    return SnapshotHead(
        VERSION, head.epoch, head.sequence, head.position, head.known, head.records, len(head.hosts),
        len(older.site_rows()), head.tail, head.visits, head.changes, head.wire_bytes, head.archive_end,
        head.known_digest, SavedAccounts(*accounts[:4], known=len(older.site_rows())), head.notes,
        away=HostInstants(head.away).packed(), wished=HostInstants(head.wished).packed(), scheme=head.scheme,
    )  # fmt: skip
