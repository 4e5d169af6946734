"""Files that are read whole: one of a stranger may be as large as a disk, so each kind has a size that none passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from evercrawl.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["LIST_BYTES", "SMALL_BYTES", "read_small", "small"]

SMALL_BYTES: Final = 1 << 20
"""Of a file that says what a directory is."""
LIST_BYTES: Final = 64 << 20
"""Of a file that has a list: URLs, cookies, files that were copied."""


class _Files(Protocol):
    """A disk, as far as it is read here."""

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`; fewer at the end of the file."""
        ...


def read_small(path: Path, most: int = SMALL_BYTES) -> bytes:
    """Return what a file has.

    Raises
    ------
    OSError
        It cannot be read, as by `Path.read_bytes`.
    StoreError
        It has more than `most` bytes.
    """
    with path.open("rb") as file:
        return _bounded(file.read(most + 1), most, path)


def small(disk: _Files, name: str, most: int = SMALL_BYTES) -> bytes:
    """Return what a file of a disk has; nothing where there is none.

    Raises
    ------
    StoreError
        It cannot be read, or has more than `most` bytes.
    """
    return _bounded(disk.read(name, 0, most + 1), most, name)


def _bounded(data: bytes, most: int, name: object) -> bytes:
    if len(data) > most:
        raise StoreError(
            f"{name} is larger than the {most >> 20} MiB that such a file ever has; restore it from a copy, or see "
            "what it is and remove it"
        )
    return data
