"""Opens a partition from its second copy: the copy's bytes, under a life that nobody had before.

Bodies are in no second copy: when the partition is opened, what its journal names and the archive lacks is lost, and
fetched again.
"""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.tail import find_end
from evercrawl.store.keeper.copy import JOURNAL, PIECE_BYTES, STATE_FILE, CopyState, state_of, write_state
from evercrawl.store.partition import COPY, FILE

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.store.disk.disk import Disk

LINE_FILE: Final = "line.json"
SPARE_BYTES: Final = 64 << 20
"""So much is to stay free where a partition is opened: it goes on there."""
BEGUN: Final = "restoring"
"""A file that is there while a copy is being opened."""


def lacks_all(disk: Disk) -> bool:
    """Whether a directory has nothing of a partition, or what an opening of a copy that was broken off left there."""
    return not (disk.names("journal-") or disk.size(FILE) or disk.size(COPY)) or disk.size(BEGUN) > 0


def is_gone(directory: Path) -> bool:
    """Whether a directory is not there, or has nothing of a partition."""
    if not directory.is_dir():
        return True
    with contextlib.closing(RealDisk(directory, read_only=True)) as disk:
        return lacks_all(disk)


def line_of(disk: Disk) -> int:
    """Return the life in which a partition was opened from a copy last; 0 where it never was.

    Raises
    ------
    StoreError
        The file that says so is damaged.
    """
    data = disk.read(LINE_FILE, 0, disk.size(LINE_FILE))
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
        Where it is; where the partition is to be.
    line
        Number of the life that is opened there: higher than all before.

    Raises
    ------
    ConfigError
        There is no copy, or it has not everything that counts.
    """
    state = state_of(copy)
    if state is None or not state.whole:
        raise ConfigError("the second copy is not whole: not everything that counted had reached it")
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
    for name in (FILE, COPY):  # last: with them there is a partition
        target.replace(name, [copy.read(name, 0, copy.size(name))], private=True)
    write_state(copy, CopyState(msgspec.structs.replace(owner, line=line), state.session + 1, state.whole))
    target.remove(BEGUN)
    return copied


def hindrance(place: Path, directory: Path, life: int) -> str:
    """Return why no partition can be opened from the copy in a folder; "" where one can. The journal is read through.

    Parameters
    ----------
    place, directory
        Where the copy is; where the partition is to be, on the same disk.
    life
        The one that saw the copy whole last.
    """
    try:
        if not place.is_dir():
            return "it is not there"
        with contextlib.closing(RealDisk(place, read_only=True)) as copy:
            state = state_of(copy)
            if state is None or not state.whole:
                return "not everything that counted had reached it"
            if state.owner.incarnation < life:
                return "it is an older one"
            find_end(copy)
            free, size = shutil.disk_usage(place).free, sum(copy.size(name) for name in copy.names())
        if (directory / BEGUN).is_file():  # what was copied of it makes room
            free += sum(file.stat().st_size for file in directory.glob(f"{JOURNAL}*"))
    except (OSError, StoreError) as error:
        return str(error)
    return "" if free >= size + SPARE_BYTES else f"its disk has no room: {free} bytes are free, and {size} are needed"
