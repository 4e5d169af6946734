"""A rotating file of lines; the last few full files are kept."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evercrawl.errors import ConfigError

KEPT: Final = 5


class RotatingFile:
    r"""Lines, appended to a file; at `most_bytes` it becomes NAME.1, which becomes NAME.2, and so on to `KEPT`.

    If the disk refuses a line, or a part of it, only that line is lost; `dropped` counts these. If the file cannot be
    renamed, lines are appended to it beyond `most_bytes`, and the next attempt is made after as many bytes again.
    Devices and pipes are never renamed.

    Parameters
    ----------
    path, most_bytes
        The file, and the size at which a new one begins. Behind a symbolic link the target is renamed.
    failed
        Called with a sentence when the file cannot be renamed or reopened, or a line is lost, once until it succeeds.

    Raises
    ------
    ConfigError
        The file cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> file = RotatingFile(Path(tempfile.mkdtemp()) / "a.log", most_bytes=10)
    >>> for line in ("one", "two", "three"):
    ...     file.write(line)
    >>> file.path.read_text(), file.path.with_name("a.log.1").read_text()
    ('three\n', 'one\ntwo\n')
    """

    def __init__(self, path: Path, most_bytes: int, failed: Callable[[str], None] = lambda _: None) -> None:
        self.path, self.dropped = path, 0
        self._most_bytes, self._full_bytes = most_bytes, most_bytes
        self._failed, self._failing, self._asked = failed, False, False
        self._losing = self._torn = False
        try:
            self._fd, self._size = self._opened()
        except OSError as error:
            raise ConfigError(f"--log {path} cannot be written: {error.strerror}; name another file") from error

    def write(self, line: str) -> None:
        """Append a line."""
        data = f"{line}\n".encode()
        if self._torn:
            data = b"\n" + data
        self.refresh()
        if self._size and self._size + len(data) > self._full_bytes:
            self._rotate()
        written, why = 0, "the disk is full"
        try:
            written = os.write(self._fd, data)
        except OSError as error:
            why = error.strerror or str(error)
        self._size += written
        if written:  # so that the next line does not continue a partial one
            self._torn = written < len(data)
        self._note(lost=written < len(data), why=why)

    def _note(self, *, lost: bool, why: str) -> None:
        """Count a lost line, and report only the first one until a line is written again."""
        self.dropped += lost
        if lost and not self._losing:
            self._failed(f"the log {self.path} loses lines: {why}")
        self._losing = lost

    def reopen_soon(self) -> None:
        """Reopen the file by its name before the next line, because it was renamed; a signal handler may call this."""
        self._asked = True

    def refresh(self) -> None:
        """Reopen the file if that was requested."""
        if self._asked:
            self._asked = False
            self._attempt("reopened", self._reopen)

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            os.close(self._fd)

    def _opened(self) -> tuple[int, int]:
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
        return fd, os.fstat(fd).st_size

    def _rotate(self) -> None:
        if stat.S_ISREG(os.fstat(self._fd).st_mode):
            self._attempt("renamed at --log-size", self._rename)

    def _attempt(self, what: str, work: Callable[[], None]) -> None:
        """Do the work; if it fails, continue with the open file."""
        try:
            work()
        except OSError as error:
            self._full_bytes = self._size + self._most_bytes
            if not self._failing:
                self._failing = True
                self._failed(
                    f"the log {self.path} cannot be {what}: {error.strerror}; lines are appended to the old file"
                )
        else:
            self._full_bytes, self._failing = self._most_bytes, False

    def _rename(self) -> None:
        full = self.path.resolve()  # /dev/stdout, for instance, is a link that must stay
        if full.exists():  # else the last attempt renamed it, and could not open a new one
            for number in range(KEPT - 1, 0, -1):
                with contextlib.suppress(FileNotFoundError):
                    _numbered(full, number).replace(_numbered(full, number + 1))
            full.replace(_numbered(full, 1))
        self._reopen()

    def _reopen(self) -> None:
        before = self._fd
        self._fd, self._size = self._opened()
        os.close(before)


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")
