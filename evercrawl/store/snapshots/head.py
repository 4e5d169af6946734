"""What a snapshot says of itself: how far the journal was folded, how much of each column there is, and where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import zstandard

from evercrawl.errors import StoreError
from evercrawl.store.archive.pointer import ArchiveEnd
from evercrawl.store.cash.accounts import SavedAccounts
from evercrawl.store.scheme import Scheme
from evercrawl.store.snapshots.frames import BlockSegment
from evercrawl.store.steering import Steered

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION: Final = 9
MAGIC: Final = b"EVERSNAP"
KIND: Final = "blocks"
"""What the names of the files with the columns' blocks begin with."""
DAMAGED: Final = (ValueError, KeyError, msgspec.MsgspecError, zstandard.ZstdError)
"""What reading a damaged snapshot raises."""
_INSTANTS: Final = np.dtype([("host", "<u4"), ("at", "<f8")])


class SnapshotHead(msgspec.Struct):
    """What a snapshot is of.

    Attributes
    ----------
    sequence, position
        Events folded when it began, and the journal offset from which to go on.
    known, records, hosts, sites
        How many there were.
    tail
        URLs of the URL log's unfinished block.
    accounts
        Cash that is in no page's cell, without the sites' rows, which are a column.
    notes
        Numbers that whoever looks at the crawl from outside likes to know, such as the price.
    site_rules
        By which rules hosts were grouped into sites; where they are others now, the names of the sites are compared.
    away, wished
        Hosts to be left alone, as in the state, packed by `packed_instants`.
    scheme
        How importance was learned when it began; never is a crawl switched while one is written.
    known_digest
        Digest of the known URLs' rows, which are in a file of their own.
    bits
        Of each column, how large its blocks are, as a power of two.
    segments
        The files with the blocks, in order.
    steered
        What orders and rules of the scope had made of the crawl.
    hashes
        What tells the hashes of the crawl from those under other secrets; see `Hasher.mark`.
    post
        What passed between this partition and others, where there are any; see `PostBook.save`.
    marked_by
        Which rule says of what kind the addresses of unread pages are; see `table.folders`.
    render_gains
        What rendering pages had brought, by site; see `RenderGains.save`.
    """

    version: int
    epoch: float
    sequence: int
    position: int
    known: int
    records: int
    hosts: int
    sites: int
    tail: list[str]
    visits: int
    changes: int
    wire_bytes: int
    archive_end: ArchiveEnd
    known_digest: int
    accounts: SavedAccounts = SavedAccounts()
    notes: dict[str, float] = {}
    site_rules: int = 0
    away: bytes = b""
    wished: bytes = b""
    scheme: Scheme = Scheme()
    bits: dict[str, int] = {}
    segments: list[BlockSegment] = []
    steered: Steered = msgspec.field(default_factory=Steered)
    hashes: int = 0
    post: bytes | msgspec.UnsetType = msgspec.UNSET
    marked_by: int = 0
    render_gains: bytes = b""


class OtherHashesError(StoreError):
    """URLs had other keys when the snapshot was made."""


class OtherSitesError(StoreError):
    """Hosts are grouped into sites otherwise than when the snapshot was made, as by a newer public suffix list."""


def packed_instants(instants: Mapping[int, float]) -> bytes:
    """Return instants by host as bytes.

    >>> unpacked_instants(packed_instants({7: 1.5, 2: 0.25}))
    {7: 1.5, 2: 0.25}
    """
    rows = np.empty(len(instants), _INSTANTS)
    rows["host"] = np.fromiter(instants, np.uint32, len(instants))
    rows["at"] = np.fromiter(instants.values(), np.float64, len(instants))
    return rows.tobytes()


def unpacked_instants(data: bytes) -> dict[int, float]:
    """Return what `packed_instants` packed."""
    rows = np.frombuffer(data, _INSTANTS)
    return dict(zip(rows["host"].tolist(), rows["at"].tolist(), strict=True))
