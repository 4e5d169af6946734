"""Translation of the index library's failures into our errors: a damaged index can be rebuilt from the archive."""

import contextlib
from collections.abc import Generator
from pathlib import Path

from evercrawl.errors import NoRoomError, StoreError

_NO_ROOM = ("No space left on device", "StorageFull", "Disk quota exceeded", "File too large")
_BUSY = "LockBusy"


class IndexBusyError(StoreError):
    """Another process is writing to the index, which is therefore not damaged."""


def remedy(directory: Path | None) -> str:
    """Return what to do about an unusable index.

    >>> from pathlib import Path
    >>> remedy(Path("web/search"))
    'make it again with `evercrawl reindex --dir web`'
    """
    return f"make it again with `evercrawl reindex --dir {directory.parent if directory else 'DIR'}`"


@contextlib.contextmanager
def told(directory: Path | None, doing: str) -> Generator[None]:
    """Convert failures inside the context into a `StoreError` that says what to do next.

    Parameters
    ----------
    directory
        The index's directory; None if it is in memory.
    doing
        The operation: "opened" or "written to".

    Raises
    ------
    StoreError
        The index is damaged, or in use; `NoRoomError` if the disk is full.
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
    """Return whether the library panicked on a damaged file; its exception is no `Exception` and not importable."""
    return type(error).__name__ == "PanicException"


def _in_words(error: BaseException, directory: Path | None, doing: str) -> StoreError:
    reason, where = str(error), directory or "in memory"
    if any(sign in reason for sign in _NO_ROOM):
        return NoRoomError(f"no room for the search index {where}; make room there and start again")
    if _BUSY in reason:
        return IndexBusyError(f"the search index {where} is being written by another process; stop it first")
    return StoreError(f"the search index {where} cannot be {doing}: {reason}; {remedy(directory)}")
