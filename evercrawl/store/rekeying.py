"""A secret for a crawl that was begun without one: from its next start on, what strangers choose is hashed under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from evercrawl.arrays.hasher import SECRET_BYTES
from evercrawl.errors import StoreError
from evercrawl.store.partition import FILE, FORMAT, write_birth
from evercrawl.store.repair.birth import read_birth

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.store.disk.disk import Disk


def give_secret(disk: Disk, random: Callable[[int], bytes]) -> bool:
    """Give a crawl a secret, if it has none; return whether it had none. No process may use the directory.

    The next start folds the journal from its beginning, by which all keys are made anew; snapshots and what policies
    learned are left aside. A content keeps the digest that it has until its page is read again: then it is compared
    by that digest, and has one under the secret from there on.

    Raises
    ------
    StoreError
        What the directory says of itself is damaged.
    """
    birth = read_birth(disk)
    if birth is None:
        raise StoreError(f"{FILE} is damaged; restore it with: evercrawl verify --repair")
    if birth.secret:
        return False
    write_birth(disk, msgspec.structs.replace(birth, format=FORMAT, secret=random(SECRET_BYTES).hex()))
    return True
