"""The interface through which the store accesses the files of a crawl directory, and its implementation.

Everything that survives a crash passes through a `Disk`, so that tests can replace it by a virtual disk that tears
writes.
"""

import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from evercrawl.errors import StoreError
from evercrawl.store.disk.modes import ORDINARY, PRIVATE, narrow, ordinary
from evercrawl.store.disk.moved import see_unmoved
from evercrawl.store.disk.plain import place_of, see_plain
from evercrawl.store.disk.trouble import in_words

TEMPORARY = ".tmp"  # a file being written by `replace`; never listed
OPEN_FILES = 128  # open descriptors; archives have thousands of segments, and `ulimit -n` is often 1024


class Disk(Protocol):
    """Named files that are appended to, synced and replaced; a missing file reads as an empty one.

    A name is a file name, or a folder and a file name ("archive/x.warc.gz"). One thread may append to a file while
    others read or sync it. Errors are raised as `StoreError` with the file and advice; `NoRoomError` if the disk is
    full.
    """

    def append(self, name: str, data: bytes) -> int:
        """Append all of `data` and return its offset; on `NoRoomError` nothing was appended."""
        ...

    def sync(self, name: str) -> None:
        """Return once everything appended will survive a power cut."""
        ...

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`; fewer at the end of the file."""
        ...

    def size(self, name: str) -> int:
        """Return the size in bytes; 0 if the file is missing."""
        ...

    def truncate(self, name: str, size: int) -> None:
        """Cut the file to `size` bytes."""
        ...

    def replace(self, name: str, chunks: Iterable[bytes], *, private: bool = False) -> None:
        """Replace the content of the file atomically; after a crash it is the old or the new one.

        Only its owner can read a `private` file.
        """
        ...

    def names(self, prefix: str = "") -> list[str]:
        """Return the names that begin with `prefix`, sorted."""
        ...

    def remove(self, name: str) -> None:
        """Delete the file, if there is one."""
        ...

    def close(self) -> None:
        """Close the open files, without syncing them."""
        ...


class _File:
    """A file descriptor that is closed with its last reference, so that threads can release it independently."""

    __slots__ = ("fd", "inode", "writable")

    def __init__(self, path: Path, writable: bool, mode: int = ORDINARY) -> None:
        self.fd = -1
        self.fd = os.open(path, (os.O_RDWR | os.O_CREAT if writable else os.O_RDONLY) | os.O_CLOEXEC, mode)
        if writable and mode != ORDINARY:
            narrow(path, mode)
        self.writable, self.inode = writable, os.fstat(self.fd).st_ino

    def __del__(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)


class RealDisk:
    """The files of `directory`, accessed through the operating system.

    Parameters
    ----------
    directory
        Must exist, and must not contain links to other places. Files are made in it, and in folders one level deep.
    read_only
        If True, every writing call raises `StoreError`, and files that another process replaces are reopened.
    before
        Called with ("write" | "sync" | "rename" | "truncate" | "remove", name) before each operation, for tests; an
        OSError that it raises is treated like one from the operating system.
    mode
        Returns the mode of each file that is written; nobody else may read it, even if it exists.

    Raises
    ------
    StoreError
        It contains a symbolic link, a pipe or a device.
    ConfigError
        Its partition was moved to another directory.
    """

    def __init__(
        self,
        directory: Path,
        *,
        read_only: bool = False,
        before: Callable[[str, str], None] | None = None,
        mode: Callable[[str], int] = ordinary,
    ) -> None:
        self.directory = Path(directory)
        self.read_only = read_only
        self._before, self._mode = before, mode
        self._open: OrderedDict[str, _File] = OrderedDict()
        self._lasting: set[str] = set()  # names whose directory entry has been synced
        self._ends: dict[str, int] = {}  # where the next append goes; bytes of a failed append do not count
        self._guard = threading.Lock()
        self._swept = False
        see_plain(self.directory)
        see_unmoved(self.directory)

    def append(self, name: str, data: bytes) -> int:
        """Append all of `data` and return its offset; on `NoRoomError` nothing was appended.

        Raises
        ------
        NoRoomError
            The disk, the quota or the file size limit is exhausted; the file is unchanged.
        StoreError
            The file cannot be written.
        """
        with self._trouble("write", name, wanted=len(data)):
            file = self._file(name, writable=True)
            start = self._end(name, file)
            try:
                self._announce("write", name)
                _write_all(file.fd, data, start)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.ftruncate(file.fd, start)
                raise
            self._ends[name] = start + len(data)
        return start

    def sync(self, name: str) -> None:
        """Return once everything appended will survive a power cut.

        Raises
        ------
        StoreError
            The file cannot be written; appends since the last sync may be lost. `NoRoomError` if the disk is full.
        """
        with self._trouble("sync", name):
            file = self._file(name, writable=True)
            self._announce("sync", name)
            os.fdatasync(file.fd)
            if name not in self._lasting:
                self._sync_directories(name)
                self._lasting.add(name)

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`; fewer at the end of the file, none if the file is missing."""
        with self._trouble("read", name):
            try:
                file = self._file(name, writable=False)
            except FileNotFoundError:
                return b""
            data = os.pread(file.fd, size, offset)
            while len(data) < size and (more := os.pread(file.fd, size - len(data), offset + len(data))):
                data += more
            return data

    def size(self, name: str) -> int:
        """Return the size in bytes; 0 if the file is missing."""
        with self._trouble("read", name):
            try:
                return self._path(name).stat().st_size
            except FileNotFoundError:
                return 0

    def truncate(self, name: str, size: int) -> None:
        """Cut the file to `size` bytes; asserts that it is not shorter."""
        with self._trouble("truncate", name):
            file = self._file(name, writable=True)
            assert size <= self._end(name, file), f"{name} holds {self._end(name, file)} bytes, not {size}"
            self._announce("truncate", name)
            os.ftruncate(file.fd, size)
            self._ends[name] = size

    def replace(self, name: str, chunks: Iterable[bytes], *, private: bool = False) -> None:
        """Replace the content of the file atomically; after a crash it is the old or the new one.

        Only its owner can read a `private` file, and nobody who could not read the old one.

        Raises
        ------
        NoRoomError
            There was no room for the new content; the old one stays.
        """
        path = self._path(name)
        temporary = path.with_name(path.name + TEMPORARY)
        with self._trouble("write", name):
            self._sweep()
            try:
                self._write_temporary(temporary, name, chunks, private=private)
                self._announce("rename", name)
                temporary.replace(path)
            except BaseException:
                with contextlib.suppress(OSError):
                    temporary.unlink(missing_ok=True)
                raise
            self._forget(name)
            self._sync_directories(name)

    def names(self, prefix: str = "") -> list[str]:
        """Return the names that begin with `prefix`, sorted, including those in folders."""
        folder, slash, _ = prefix.partition("/")
        with self._trouble("read", prefix or "."):
            found = list(self._walk(folder if slash else ""))
        return sorted(name for name in found if name.startswith(prefix) and not name.endswith(TEMPORARY))

    def remove(self, name: str) -> None:
        """Delete the file, if there is one."""
        with self._trouble("remove", name):
            self._announce("remove", name)
            self._forget(name)
            self._path(name).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the open files, without syncing them."""
        with self._guard:
            self._open.clear()

    def _path(self, name: str) -> Path:
        return place_of(self.directory, name)

    def _announce(self, operation: str, name: str) -> None:
        if self._before is not None:
            self._before(operation, name)

    @contextlib.contextmanager
    def _trouble(self, action: str, name: str, wanted: int = 0) -> Generator[None]:
        """Turn an OSError into a readable error; refuse to write if opened for reading only."""
        if self.read_only and action != "read":
            message = (
                f"{self.directory} was opened for reading only, so {name} cannot be changed; open it for writing first"
            )
            raise StoreError(message)
        try:
            yield
        except OSError as error:
            raise in_words(error, action, self.directory / name, wanted) from error

    def _end(self, name: str, file: _File) -> int:
        end = self._ends.get(name)
        return os.fstat(file.fd).st_size if end is None else end

    def _file(self, name: str, writable: bool) -> _File:
        """Return the open file; the least recently used one is closed if there are too many."""
        with self._guard:
            file = self._open.get(name)
            if file is None or (writable and not file.writable) or (self.read_only and self._replaced(name, file)):
                file = self._open_anew(name, writable)
            self._open.move_to_end(name)
            return file

    def _open_anew(self, name: str, writable: bool) -> _File:
        path = self._path(name)
        if writable and "/" in name:
            path.parent.mkdir(exist_ok=True)
        file = self._open[name] = _File(path, writable, self._mode(name) if writable else ORDINARY)
        if len(self._open) > OPEN_FILES:
            self._open.popitem(last=False)
        return file

    def _replaced(self, name: str, file: _File) -> bool:
        return self._path(name).stat().st_ino != file.inode

    def _forget(self, name: str) -> None:
        with self._guard:
            self._open.pop(name, None)
            self._ends.pop(name, None)
            self._lasting.discard(name)

    def _write_temporary(self, temporary: Path, name: str, chunks: Iterable[bytes], *, private: bool) -> None:
        temporary.unlink(missing_ok=True)
        if "/" in name:
            temporary.parent.mkdir(exist_ok=True)
        mode = PRIVATE if private else self._mode(name)
        with contextlib.suppress(FileNotFoundError):
            mode &= self._path(name).stat().st_mode | PRIVATE
        file, offset = _File(temporary, writable=True, mode=mode), 0
        for chunk in chunks:
            self._announce("write", name)
            _write_all(file.fd, chunk, offset)
            offset += len(chunk)
        self._announce("sync", name)
        os.fsync(file.fd)

    def _sync_directories(self, name: str) -> None:
        for directory in {self._path(name).parent, self.directory}:
            fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def _walk(self, folder: str) -> Iterator[str]:
        """Yield the names in the directory and its folders, or in the given folder."""
        if folder:
            with (
                contextlib.suppress(FileNotFoundError, NotADirectoryError),
                os.scandir(self.directory / folder) as entries,
            ):
                yield from (f"{folder}/{entry.name}" for entry in entries if entry.is_file())
            return
        with os.scandir(self.directory) as entries:
            for entry in entries:
                if entry.is_dir():
                    yield from self._walk(entry.name)
                else:
                    yield entry.name

    def _sweep(self) -> None:
        """Remove, once, the temporary files of a killed `replace`."""
        if not self._swept:
            self._swept = True
            for name in list(self._walk("")):
                if name.endswith(TEMPORARY):
                    (self.directory / name).unlink(missing_ok=True)


def _write_all(fd: int, data: bytes, offset: int) -> None:
    """Write all of `data` at `offset`, also if the system takes it in parts; a refusal raises its error."""
    done = os.pwrite(fd, data, offset)
    while done < len(data):
        done += os.pwrite(fd, memoryview(data)[done:], offset + done)
