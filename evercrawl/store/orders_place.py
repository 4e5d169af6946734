"""Which orders were given in this directory; those that came with it from elsewhere are not carried out by default.

Whoever makes or copies a directory can put orders into it, of which `crawl.toml` shows nothing: they can name files
whose content is then sent to a server. So the first order that is given in a place makes two files. One has a secret
and is never changed; the other has a digest of the secret, of that file's inode number and time of last change, of the
inode number of the file of orders, and of the offset from which on orders were given here. Copies have other numbers
and times, which the sender of a directory cannot know in advance; a renamed directory keeps them.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.store.disk.modes import PRIVATE
from evercrawl.store.disk.owner import hand_over
from evercrawl.store.disk.plain import read_piece

SECRET_FILE: Final = "orders-secret"
PLACE_FILE: Final = "orders-place.json"
UNKNOWN: Final = 1 << 62
"""Offset for a file of which nothing is known to have been written here: larger than any."""
_MOST_BYTES: Final = 1000


class OrdersPlace(msgspec.Struct, frozen=True):
    """The offset from which on a file of orders was written here, and the digest that shows it."""

    since: int
    mark: str


def given_since(orders: Path) -> int:
    """Return the offset from which on a file of orders was written in its directory; `UNKNOWN` if nowhere.

    Parameters
    ----------
    orders
        Path of the file; a missing one has been written here from the beginning.
    """
    try:
        os.lstat(orders)
    except OSError:
        return 0
    with contextlib.suppress(msgspec.MsgspecError, OSError):
        place = json_of(read_piece(orders.parent / PLACE_FILE, 0, _MOST_BYTES), OrdersPlace)
        if place.since >= 0 and hmac.compare_digest(place.mark.encode(), _mark(orders, place.since).encode()):
            return place.since
    return UNKNOWN


def vouch(orders: Path, since: int) -> None:
    """Record durably that orders from an offset on were, or will be, given here; the caller has a lock of the file.

    Raises
    ------
    OSError
        The files cannot be written.
    """
    _write(orders.parent / SECRET_FILE, secrets.token_hex(32).encode())
    place = OrdersPlace(since, _mark(orders, since))
    _write(orders.parent / PLACE_FILE, msgspec.json.encode(place))


def _mark(orders: Path, since: int) -> str:
    file = orders.parent / SECRET_FILE
    about, secret = file.lstat(), read_piece(file, 0, _MOST_BYTES)
    if not stat.S_ISREG(about.st_mode) or not secret:
        raise FileNotFoundError(file)
    told = f"{secret.hex()} {about.st_ino} {about.st_ctime_ns} {orders.lstat().st_ino} {since}"
    return hashlib.sha256(told.encode()).hexdigest()


def _write(path: Path, data: bytes) -> None:
    """Write a file of the crawl's owner anew."""
    path.unlink(missing_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)
    try:
        hand_over(fd, path.parent)
        os.write(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)
