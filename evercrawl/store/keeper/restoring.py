"""Restores a partition from its second copy, under a new life.

Second copies have no bodies: records that the journal names and the archive lacks are lost, and their pages are
fetched again.
"""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError, StoreError
from evercrawl.small_file import small
from evercrawl.store.birth import COPY, FILE
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.tail import find_end
from evercrawl.store.keeper.copy import JOURNAL, PIECE_BYTES, STATE_FILE, CopyState, state_of, write_state

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.store.disk.disk import Disk

LINE_FILE: Final = "line.json"
SPARE_BYTES: Final = 64 << 20
"""Space that must stay free where a partition is restored, because it continues there."""
BEGUN: Final = "restoring"
"""File that exists while a partition is being restored."""


def lacks_all(disk: Disk) -> bool:
    """Return whether a directory has nothing of a partition, or only the remains of an interrupted restore."""
    return not (disk.names("journal-") or disk.size(FILE) or disk.size(COPY)) or disk.size(BEGUN) > 0


def is_gone(directory: Path) -> bool:
    """Return whether a directory is missing, or has nothing of a partition."""
    if not directory.is_dir():
        return True
    with contextlib.closing(RealDisk(directory, read_only=True)) as disk:
        return lacks_all(disk)


def line_of(disk: Disk) -> int:
    """Return the life in which a partition was last restored from a copy; 0 if never.

    Raises
    ------
    StoreError
        The file with that number is damaged.
    """
    data = small(disk, LINE_FILE)
    try:
        return json_of(data, int) if data else 0
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        what = f"{LINE_FILE} is damaged ({error})"
        raise StoreError(f"{what}; move the directory away, and its second copy is opened") from error


def restore_copy(copy: Disk, target: Disk, line: int) -> int:
    """Restore a partition from its second copy into an empty directory; return how many bytes were copied.

    From the start, the copy refuses earlier lives; from the end, also later lives that use the old directory. An
    interrupted restore is started again by another call. Until one has ended, a later life may still use the old
    directory.

    Parameters
    ----------
    copy, target
        Disk of the copy; disk of the new partition.
    line
        Number of the life that starts there; it must be higher than all before.

    Raises
    ------
    ConfigError
        There is no copy, or it is incomplete.
    """
    state = state_of(copy)
    if state is None or not state.whole:
        raise ConfigError("the second copy is incomplete")
    if line <= state.owner.incarnation:
        what = "the second copy was written by a later process than this crawl knows of"
        raise ConfigError(f"{what}; put the cluster.json that is beside the copies into the crawl's directory")
    target.replace(BEGUN, [b"\n"])
    owner = msgspec.structs.replace(state.owner, incarnation=line)
    write_state(copy, CopyState(owner, state.session + 1, state.whole))
    copied = 0
    for name in copy.names(JOURNAL):
        size = copy.size(name)
        target.truncate(name, 0)
        for at in range(0, size, PIECE_BYTES):
            target.append(name, copy.read(name, at, PIECE_BYTES))
        target.sync(name)
        copied += size
    others = [name for name in copy.names() if not name.startswith(JOURNAL) and name not in (STATE_FILE, FILE, COPY)]
    for name in others:
        target.replace(name, [copy.read(name, 0, copy.size(name))], private=True)
    target.replace(LINE_FILE, [msgspec.json.encode(line)])
    for name in (FILE, COPY):  # last, because they make the directory a partition
        target.replace(name, [copy.read(name, 0, copy.size(name))], private=True)
    write_state(copy, CopyState(msgspec.structs.replace(owner, line=line), state.session + 1, state.whole))
    target.remove(BEGUN)
    return copied


def hindrance(place: Path, directory: Path, life: int) -> str:
    """Return why no partition can be restored from the copy in a folder; "" if one can. Reads the whole journal.

    Parameters
    ----------
    place, directory
        Folder of the copy; directory for the partition, on the same disk.
    life
        The life that last saw the copy complete.
    """
    try:
        if not place.is_dir():
            return "it is missing"
        with contextlib.closing(RealDisk(place, read_only=True)) as copy:
            state = state_of(copy)
            if state is None or not state.whole:
                return "it is incomplete"
            if state.owner.incarnation < life:
                return "it is outdated"
            find_end(copy)
            free, size = shutil.disk_usage(place).free, sum(copy.size(name) for name in copy.names())
        if (directory / BEGUN).is_file():  # copied files will be replaced
            free += sum(file.stat().st_size for file in directory.glob(f"{JOURNAL}*"))
    except (OSError, StoreError) as error:
        return str(error)
    return "" if free >= size + SPARE_BYTES else f"its disk has no room: {free} bytes are free, and {size} are needed"
