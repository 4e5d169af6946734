"""A second copy in a folder of this machine: who may write it, and when it must not be opened."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.small_file import small
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.keeper.copy import STATE_FILE, state_of, write_state
from evercrawl.store.post.ownership import Share
from evercrawl.store.repair.birth import read_birth

if TYPE_CHECKING:
    from collections.abc import Generator

    from evercrawl.store.birth import Birth
    from evercrawl.store.disk.disk import Disk

NOTE: Final = "second-copy.json"
"""File in a partition's directory with the place of its second copy."""


def note_place(disk: Disk, place: str) -> None:
    """Record the place of the second copy in a partition's directory: a path, or a description."""
    data = msgspec.json.encode(place)
    if small(disk, NOTE) != data:
        disk.replace(NOTE, [data])


def noted_place(disk: Disk) -> str:
    """Return the recorded place of a partition's second copy; "" if there never was one."""
    try:
        return json_of(small(disk, NOTE), str)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""


def made(directory: Path) -> None:
    """Create a folder durably in an existing one: a power cut removes neither it nor what is synced in it."""
    try:
        directory.mkdir()
    except FileExistsError:
        return
    fd = os.open(directory.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextlib.contextmanager
def alone(directory: Path) -> Generator[None]:
    """Exclude other processes from writing a copy: one that has lost its partition's directory may still run."""
    fd = os.open(f"{directory}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def is_held(directory: Path, life: int) -> bool:
    """Return whether the copy in a folder is readable, complete, and last written by `life` or later."""
    if not (directory / STATE_FILE).is_file():
        return False
    try:
        with contextlib.closing(RealDisk(directory, read_only=True)) as disk:
            state = state_of(disk)
    except (OSError, StoreError):
        return False
    return state is not None and state.whole and state.owner.incarnation >= life


def is_copy(directory: Path, birth: Birth) -> bool:
    """Whether a folder has the second copy of the partition that a birth is of: the copy has its secret, too.

    Raises
    ------
    OSError, StoreError
        It cannot be read.
    """
    if not (directory / STATE_FILE).is_file() or not isinstance(birth.share, Share):
        return False
    with contextlib.closing(RealDisk(directory, read_only=True)) as disk:
        state, there = state_of(disk), read_birth(disk)
    if state is None or there is None or (there.share, there.secret) != (birth.share, birth.secret):
        return False
    return (state.owner.cluster, state.owner.number) == (birth.share.cluster, birth.share.number)


def distrust(directory: Path) -> None:
    """Mark the copy in a folder as incomplete, so that nobody opens it until it has caught up; skip a missing copy.

    Whose copy it is has to be known: a folder that a file names may be anybody's.

    Raises
    ------
    OSError, StoreError
        The mark cannot be written.
    """
    if not (directory / STATE_FILE).is_file():
        return
    with alone(directory), contextlib.closing(RealDisk(directory)) as disk:
        state = state_of(disk)
        if state is not None and state.whole:
            write_state(disk, msgspec.structs.replace(state, whole=False))
