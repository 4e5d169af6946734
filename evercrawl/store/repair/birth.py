"""Restoration of crawl.json when both of its files are damaged or lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from evercrawl.arrays.hasher import SECRET_BYTES, Hasher
from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.small_file import small
from evercrawl.store.archive.cdxj import SEGMENT_SUFFIX
from evercrawl.store.birth import COPY, FILE, KEY, Birth
from evercrawl.store.journal.events import Switched
from evercrawl.store.journal.journal import Journal
from evercrawl.store.snapshots import snapshot

if TYPE_CHECKING:
    from evercrawl.store.disk.disk import Disk


def read_birth(disk: Disk) -> Birth | None:
    """Return the content of one of the two files; None if neither can be read."""
    for name in (FILE, COPY):
        try:
            return json_of(small(disk, name), Birth)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
    return None


def worked_out(disk: Disk) -> Birth | None:
    """Return the content as reconstructed from snapshots, journal and archive file names; None if that is impossible.

    A crawl that was switched to another scheme of importance cannot be reconstructed, because nothing else has its
    first scheme; nor can one whose secret is lost too.
    """
    loaded, _ = snapshot.load(disk)
    names = [name for name in disk.names("archive/evercrawl-") if name.endswith(SEGMENT_SUFFIX)]
    ids = {name.removesuffix(SEGMENT_SUFFIX).rpartition("-")[0].removeprefix("archive/evercrawl-") for name in names}
    if loaded is None or len(ids) != 1:
        return None
    try:
        if any(isinstance(event, Switched) for _, _, event in Journal.open(disk, writable=False).replay()):
            return None
    except StoreError:
        return None
    secret = _secret(disk, loaded.head.hashes)
    if secret is None:
        return None
    return Birth(2 if secret else 1, ids.pop(), loaded.head.epoch, loaded.head.scheme, secret=secret.hex())


def _secret(disk: Disk, hashes: int) -> bytes | None:
    """Return the secret under which a crawl's hashes have this mark; empty if it has none, None if it is lost."""
    if not hashes:
        return b""
    try:
        secret = bytes.fromhex(disk.read(KEY, 0, 2 * SECRET_BYTES).decode())
    except ValueError:
        return None
    return secret if len(secret) == SECRET_BYTES and Hasher(secret).mark == hashes else None
