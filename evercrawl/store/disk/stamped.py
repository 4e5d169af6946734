"""Files whose names say how many events of the journal they contain, such as `snapshot-00000000000003e8.bin`.

They consist of pieces, each with a checksum; their data could be rebuilt from the journal.
"""

from typing import Final

import xxhash

from evercrawl.store.disk.disk import Disk

_LENGTH_BYTES: Final = 8
_HEAD_BYTES: Final = 16

END: Final = bytes(_LENGTH_BYTES) + xxhash.xxh3_64_digest(b"")
"""End mark after the last piece, by which a file that lost its end is recognised."""


def packed(data: bytes) -> bytes:
    """Return a piece as stored in the file: its length, its checksum, and its data.

    >>> len(packed(b"three")), packed(b"") == END
    (21, True)
    """
    return len(data).to_bytes(_LENGTH_BYTES, "little") + xxhash.xxh3_64_digest(data) + data


def pieces(data: bytes, magic: bytes) -> list[memoryview]:
    """Return the pieces of a file that begins with `magic`; at least one.

    Raises
    ------
    ValueError
        The file is incomplete.

    Examples
    --------
    >>> [bytes(piece) for piece in pieces(b"MAGIC" + packed(b"one") + packed(b"two") + END, b"MAGIC")]
    [b'one', b'two']
    """
    whole, at, found = memoryview(data), len(magic), list[memoryview]()
    if bytes(whole[:at]) != magic:
        raise ValueError("it does not begin as such a file does")
    while True:
        size = int.from_bytes(whole[at : at + _LENGTH_BYTES], "little")
        begun, end = at + _HEAD_BYTES, at + _HEAD_BYTES + size
        piece = whole[begun:end]
        if len(whole) < end or xxhash.xxh3_64_digest(piece) != bytes(whole[at + _LENGTH_BYTES : begun]):
            raise ValueError(f"checksum at offset {at}")
        if not size:
            break
        found.append(piece)
        at = end
    if not found:
        raise ValueError("it is empty")
    return found


SNAPSHOT: Final = "snapshot"
LESSONS: Final = "lessons"
"""What a policy has learned; read and written by `evercrawl.model.policy.lessons_file`."""
LEARNED: Final = "learned"
"""Its rows: files of blocks, named by lessons; written by `evercrawl.model.policy.lessons_log`."""
KEPT: Final = 2
_BASE: Final = 16


def stamped(kind: str, sequence: int) -> str:
    """Return the name of the file that contains the first `sequence` events.

    >>> stamped("lessons", 1000)
    'lessons-00000000000003e8.bin'
    """
    return f"{kind}-{sequence:016x}.bin"


def stamp(name: str) -> int:
    """Return the number of events in a file, from its name.

    >>> stamp("lessons-00000000000003e8.bin")
    1000
    """
    return int(name.rpartition("-")[2].removesuffix(".bin"), _BASE)


def names(disk: Disk, kind: str) -> list[str]:
    """Return the names of the files of a kind, newest first."""
    return sorted((name for name in disk.names(f"{kind}-") if _is_stamped(name)), reverse=True)


def forget_older(disk: Disk, kind: str) -> None:
    """Delete all files of a kind except the newest two."""
    for name in names(disk, kind)[KEPT:]:
        disk.remove(name)


def forget_later(disk: Disk, kind: str, sequence: int) -> None:
    """Delete the files with more than `sequence` events, because later events with these numbers would differ."""
    for name in names(disk, kind):
        if stamp(name) > sequence:
            disk.remove(name)


def _is_stamped(name: str) -> bool:
    try:
        return stamped(name.rpartition("-")[0], stamp(name)) == name
    except ValueError:
        return False
