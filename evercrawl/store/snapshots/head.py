"""The header of a snapshot: the position in the journal, and the sizes and files of all columns."""

from __future__ import annotations

from typing import Final

import msgspec
import zstandard

from evercrawl.errors import StoreError
from evercrawl.store.archive.pointer import ArchiveEnd
from evercrawl.store.cash.accounts import SavedAccounts
from evercrawl.store.scheme import Scheme
from evercrawl.store.snapshots.frames import BlockSegment
from evercrawl.store.steering import Steered

VERSION: Final = 9
MAGIC: Final = b"EVERSNAP"
KIND: Final = "blocks"
"""Prefix of the names of files with columns' blocks."""
DAMAGED: Final = (ValueError, KeyError, msgspec.MsgspecError, zstandard.ZstdError)
"""The exceptions that reading a damaged snapshot raises."""


class SnapshotHead(msgspec.Struct):
    """The header of a snapshot.

    Attributes
    ----------
    sequence, position
        Number of events folded when it began, and the journal offset at which to continue.
    known, records, hosts, sites
        Numbers of known URLs, records, hosts and sites.
    tail
        URLs in the URL log's incomplete block.
    accounts
        Cash outside pages' cells, without the sites' rows, which are a column.
    notes
        Numbers for outside readers, such as the price.
    site_rules
        The rules that grouped hosts into sites; if they differ now, the names of the sites are compared.
    away, wished
        Hosts to be left alone, as in the state, by `HostInstants.packed`.
    scheme
        The scheme of importance; a crawl is never switched while a snapshot is written.
    known_digest
        Digest of the rows of known URLs, which are in a separate file.
    bits
        The block size of each column, as a power of two.
    segments
        The files of blocks, in order.
    steered
        The result of orders and scope rules.
    hashes
        Mark of the secret under which the crawl hashes; see `Hasher.mark`.
    post
        The exchange between this partition and others, if there are any; see `PostBook.save`.
    marked_by
        Version of the rule for kinds of addresses of unread pages; see `table.folders`.
    render_gains
        What rendering has brought, by site; see `RenderGains.save`.
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
    """The snapshot has keys of URLs under another secret."""


class OtherSitesError(StoreError):
    """The snapshot groups hosts into sites differently, for example by an older public suffix list."""
