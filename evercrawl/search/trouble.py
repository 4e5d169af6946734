"""The index library's failures, told as our own: what is damaged can be made again from the archive."""

import contextlib
from collections.abc import Generator
from pathlib import Path

from evercrawl.errors import NoRoomError, StoreError

_NO_ROOM = ("No space left on device", "StorageFull", "Disk quota exceeded", "File too large")
_BUSY = "LockBusy"


class IndexBusyError(StoreError):
    """Another process writes to the index, which is therefore not damaged."""


def remedy(directory: Path | None) -> str:
    """Return what to do about an index that cannot be used.

    >>> from pathlib import Path
    >>> remedy(Path("web/search"))
    'make it again with `evercrawl reindex --dir web`'
    """
    return f"make it again with `evercrawl reindex --dir {directory.parent if directory else 'DIR'}`"


@contextlib.contextmanager
def told(directory: Path | None, doing: str) -> Generator[None]:
    """Turn what goes wrong inside into a `StoreError` that says what to do next.

    Parameters
    ----------
    directory
        Of the index; None where it is in memory.
    doing
        What is being done to it: "opened", "written to".

    Raises
    ------
    StoreError
        The index is damaged, or in use; `NoRoomError` where the disk is full.
    """
    try:
        yield
    except StoreError:
        raise
    except BaseException as error:
        if not isinstance(error, ValueError | OSError | RuntimeError | SystemError) and not _panicked(error):
            raise
        raise _in_words(error, directory, doing) from error


def _panicked(error: BaseException) -> bool:
    """Whether the library gave up on a damaged file; its exception is no `Exception`, and has no name to import."""
    return type(error).__name__ == "PanicException"


def _in_words(error: BaseException, directory: Path | None, doing: str) -> StoreError:
    reason, where = str(error), directory or "in memory"
    if any(sign in reason for sign in _NO_ROOM):
        return NoRoomError(f"no room for the search index {where}; make room there and start again")
    if _BUSY in reason:
        return IndexBusyError(f"the search index {where} is being written by another process; stop it first")
    return StoreError(f"the search index {where} cannot be {doing}: {reason}; {remedy(directory)}")
