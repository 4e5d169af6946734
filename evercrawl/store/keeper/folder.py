"""A second copy that is a folder of this machine: who may write it, what it has, and when it is not to be opened."""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

import msgspec

from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.keeper.copy import STATE_FILE, state_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


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
            disk.replace(STATE_FILE, [msgspec.json.encode(msgspec.structs.replace(state, whole=False))], private=True)
