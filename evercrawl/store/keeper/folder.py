"""A second copy that is a folder of this machine: who may write it, what it has, and when it is not to be opened."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.keeper.copy import STATE_FILE, state_of, write_state

if TYPE_CHECKING:
    from collections.abc import Generator

    from evercrawl.store.disk.disk import Disk


NOTE: Final = "second-copy.json"
"""File of a partition that says where its second copy is."""


def note_place(disk: Disk, place: str) -> None:
    """Write down in a partition's directory where its second copy is: the path of a folder, or other words."""
    data = msgspec.json.encode(place)
    if disk.read(NOTE, 0, disk.size(NOTE)) != data:
        disk.replace(NOTE, [data])


def noted_place(disk: Disk) -> str:
    """Return where a partition's second copy is, as it was noted; "" where it never had one."""
    try:
        return json_of(disk.read(NOTE, 0, disk.size(NOTE)), str)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""


def made(directory: Path) -> None:
    """Make a folder in one that is there, for good: a power cut does not take it away with what was synced in it."""
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
    """Let no other process write a copy meanwhile: one that has lost its partition's directory may still run."""
    fd = os.open(f"{directory}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def is_held(directory: Path, life: int) -> bool:
    """Whether the copy in a folder is whole, and a life or a later one wrote it last; no where it cannot be read."""
    if not (directory / STATE_FILE).is_file():
        return False
    try:
        with contextlib.closing(RealDisk(directory, read_only=True)) as disk:
            state = state_of(disk)
    except (OSError, StoreError):
        return False
    return state is not None and state.whole and state.owner.incarnation >= life


def distrust(directory: Path) -> None:
    """Have the copy in a folder opened by nobody until it has caught up; do nothing where there is none.

    Raises
    ------
    OSError, StoreError
        That cannot be written there.
    """
    if not (directory / STATE_FILE).is_file():
        return
    with alone(directory), contextlib.closing(RealDisk(directory)) as disk:
        state = state_of(disk)
        if state is not None and state.whole:
            write_state(disk, msgspec.structs.replace(state, whole=False))
