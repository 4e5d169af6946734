"""Output files that a user asked for; each appears under its name only when complete."""

import contextlib
import errno
import os
from collections.abc import Generator
from pathlib import Path
from typing import Final

from evercrawl.errors import NoRoomError, StoreError
from evercrawl.store.disk.trouble import in_words

TEMPORARY: Final = ".part"  # added to the name while a file is being written
_REMEDY: Final = {
    errno.EACCES: "give this user access to it, or name another file",
    errno.EPERM: "give this user access to it, or name another file",
    errno.ENOENT: "make its folder first, or name another file",
    errno.EISDIR: "it is a folder; name a file",
}


@contextlib.contextmanager
def atomic_file(path: Path) -> Generator[Path]:
    """Yield a name to write to; the file appears as `path` if no error occurs.

    Special files, such as pipes, are written to directly.

    Raises
    ------
    StoreError
        It cannot be written; `NoRoomError` if the disk is full.
    """
    target = path.resolve()  # a link stays, and points to the new content
    direct = target.exists() and not target.is_file()
    temporary = target if direct else target.with_name(target.name + TEMPORARY)
    try:
        yield temporary
        if not direct:
            temporary.replace(target)
    except OSError as error:
        raise _in_words(error, path) from error
    finally:
        if not direct:
            with contextlib.suppress(OSError):  # if nothing can be written, nothing is left over either
                temporary.unlink()


def placed(path: Path) -> None:
    """Check that a file can be written, before the work whose result it will hold.

    Raises
    ------
    StoreError
        The folder is missing or not accessible, or the path is a folder.
    """
    target = path.resolve()
    wrong = (
        (errno.EISDIR, target.is_dir()),
        (errno.ENOENT, not target.parent.is_dir()),
        (errno.EACCES, not os.access(target if target.exists() else target.parent, os.W_OK)),
    )
    number = next((number for number, there in wrong if there), None)
    if number is not None:
        raise _in_words(OSError(number, os.strerror(number)), path)


def _in_words(error: OSError, path: Path) -> StoreError:
    reason = os.strerror(error.errno) if error.errno else str(error)
    if isinstance(in_words(error, "write", path), NoRoomError):
        return NoRoomError(f"no room to write {path}: {reason}; make room there, or name another file")
    return StoreError(f"cannot write {path}: {reason}; {_REMEDY.get(error.errno or 0, 'name another file')}")
