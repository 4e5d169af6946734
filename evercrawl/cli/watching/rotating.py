"""A rotating file of lines; the last few full files are kept."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from evercrawl.errors import ConfigError

KEPT: Final = 5


class RotatingFile:
    r"""Lines, appended to a file; at `most_bytes` it becomes NAME.1, which becomes NAME.2, and so on to `KEPT`.

    If the disk refuses a line, only that line is lost; `dropped` counts these.

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

    def __init__(self, path: Path, most_bytes: int) -> None:
        self.path, self.dropped = path, 0
        self._most_bytes = most_bytes
        try:
            self._fd, self._size = self._opened()
        except OSError as error:
            raise ConfigError(f"--log {path} cannot be written: {error.strerror}; name another file") from error

    def write(self, line: str) -> None:
        """Append a line."""
        data = f"{line}\n".encode()
        try:
            if self._size and self._size + len(data) > self._most_bytes:
                self._rotate()
            self._size += os.write(self._fd, data)
        except OSError:
            self.dropped += 1

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            os.close(self._fd)

    def _opened(self) -> tuple[int, int]:
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
        return fd, os.fstat(fd).st_size

    def _rotate(self) -> None:
        for number in range(KEPT - 1, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                self._numbered(number).replace(self._numbered(number + 1))
        self.path.replace(self._numbered(1))
        before = self._fd
        self._fd, self._size = self._opened()
        os.close(before)

    def _numbered(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")
