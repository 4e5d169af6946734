"""How far the index has come: one small file beside it, replaced as a whole after each commit."""

import os
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.errors import StoreError
from evercrawl.search.schema import VERSION
from evercrawl.search.trouble import remedy

FILE: Final = "index.json"
NOTHING: Final = -1


class Mark(msgspec.Struct, frozen=True):
    """What the file says.

    Attributes
    ----------
    at
        Sequence of the journal up to which the index has seen all events; -1 for none.
    version
        Of the index.
    """

    at: int = NOTHING
    version: int = VERSION


def read(directory: Path) -> Mark:
    """Return the mark of an index; one that says "nothing yet" where there is none.

    Raises
    ------
    StoreError
        It is damaged, or of another version.
    """
    path = directory / FILE
    try:
        mark = msgspec.json.decode(path.read_bytes(), type=Mark)
    except FileNotFoundError:
        return Mark()
    except msgspec.MsgspecError as error:
        raise StoreError(f"{path} is damaged ({error}); {remedy(directory)}") from error
    if mark.version != VERSION:
        raise StoreError(
            f"the search index {directory} is of version {mark.version}, and this program writes version {VERSION}; "
            f"{remedy(directory)}"
        )
    return mark


def write(directory: Path, mark: Mark) -> None:
    """Replace the mark; whoever reads finds the old one or the new one."""
    path, temporary = directory / FILE, directory / f"{FILE}.part"
    with temporary.open("wb") as file:
        file.write(msgspec.json.encode(mark) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def stamp(directory: Path) -> tuple[int, int]:
    """Return two numbers that are others once the mark was replaced; zeros where there is none."""
    try:
        found = (directory / FILE).stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_ino, found.st_mtime_ns
