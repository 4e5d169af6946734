"""Adds a secret to a crawl that has none; from its next start on, foreign texts are hashed under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from evercrawl.arrays.hasher import SECRET_BYTES
from evercrawl.errors import StoreError
from evercrawl.store.birth import FILE, FORMAT, write_birth
from evercrawl.store.repair.birth import read_birth

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.store.disk.disk import Disk


def give_secret(disk: Disk, random: Callable[[int], bytes]) -> bool:
    """Give a crawl a secret, if it has none; return whether it had none. No process may use the directory.

    The next start folds the journal from its beginning with new keys; snapshots and learned data of policies are
    discarded. Contents keep their digests until their pages are read again: then they are compared by the old digest,
    and get one under the secret.

    Raises
    ------
    StoreError
        The file crawl.json is damaged.
    """
    birth = read_birth(disk)
    if birth is None:
        raise StoreError(f"{FILE} is damaged; restore it with: evercrawl verify --repair")
    if birth.secret:
        return False
    write_birth(disk, msgspec.structs.replace(birth, format=FORMAT, secret=random(SECRET_BYTES).hex()))
    return True
