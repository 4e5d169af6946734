"""An in-memory disk that loses unsynced data, fills up, and can lose power in the middle of a call."""

from __future__ import annotations

import contextlib
import errno
import os
import random
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import ClassVar

from evercrawl.errors import StoreError
from evercrawl.simulate.surroundings.clock import Crash
from evercrawl.simulate.surroundings.platter import FileBytes, Odds, Platter
from evercrawl.store.disk.disk import TEMPORARY
from evercrawl.store.disk.trouble import in_words


class VirtualDisk:
    """The files of one simulated directory, with the contract of `evercrawl.store.disk.disk.RealDisk`.

    Each process has its own. When `before` raises `Crash`, the current call is interrupted: a write at any byte,
    other calls before or after they took effect. From then on the disk is *dead*: every call raises that `Crash`
    again, so `finally` blocks cannot change it. `kill` and `crash` define how the process ended, and `reopen` returns
    the disk for the next process. This one stays dead.

    Parameters
    ----------
    draw
        Random source that decides what survives.
    capacity_bytes
        Capacity for all files together; None for unlimited.
    odds
        Probability of each fate of unsynced data.
    before
        As `RealDisk`'s: called with ("write" | "sync" | "rename" | "truncate" | "remove", name) ahead of each.
    directory
        Name used in messages; there is no such directory.

    Attributes
    ----------
    capacity_bytes, before
        May be set at any time; all views of these files share the capacity.

    Examples
    --------
    >>> import random
    >>> disk = VirtualDisk(random.Random(1), odds=Odds(lose=1.0))
    >>> disk.append("f", b"safe")
    0
    >>> disk.sync("f")
    >>> disk.append("f", b" and lost")
    4
    >>> disk.crash()
    >>> disk = disk.reopen()
    >>> disk.read("f", 0, 99)
    b'safe'
    """

    ends: ClassVar[type[BaseException]] = Crash
    """What every call raises once the process is gone."""

    def __init__(
        self,
        draw: random.Random,
        *,
        capacity_bytes: int | None = None,
        odds: Odds | None = None,
        before: Callable[[str, str], None] | None = None,
        directory: Path = Path("/made-up"),
    ) -> None:
        self._draw = draw
        self._platter = Platter(draw, odds or Odds(), capacity_bytes)
        self.before = before
        self.directory = directory
        self.read_only = False
        self._dead: BaseException | None = None
        self._swept = False

    # The disk protocol

    def append(self, name: str, data: bytes) -> int:
        """Append `data` and return its offset; all of it, or nothing and `NoRoomError`."""
        with self._trouble("write", name, wanted=len(data)):
            content = self._file(name)
            start = len(content.data)
            self._write(content, name, data)
        return start

    def sync(self, name: str) -> None:
        """Return once everything appended survives a power cut."""
        with self._trouble("sync", name):
            content = self._file(name)
            self._announce("sync", name, lambda: self._some(content.sync, lambda: self._sync_names(name)))
            content.sync()
            self._sync_names(name)

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`; fewer at the end of the file, none if it does not exist."""
        with self._trouble("read", name):
            content = self._found(name)
            return bytes(content.data[offset : offset + size]) if content is not None else b""

    def size(self, name: str) -> int:
        """Return the size in bytes, 0 if there is no such file."""
        with self._trouble("read", name):
            content = self._found(name)
            return len(content.data) if content is not None else 0

    def truncate(self, name: str, size: int) -> None:
        """Cut the file to `size` bytes; a size beyond its end is an internal error."""
        with self._trouble("truncate", name):
            content = self._file(name)
            assert size <= len(content.data), f"{name} holds {len(content.data)} bytes, not {size}"
            self._announce("truncate", name, lambda: self._some(lambda: content.truncate(size)))
            content.truncate(size)

    def replace(self, name: str, chunks: Iterable[bytes], *, private: bool = False) -> None:
        """Replace the file's contents by `chunks` atomically, even in a crash."""
        temporary = name + TEMPORARY
        with self._trouble("write", name):
            self._sweep()
            try:
                content = self._write_temporary(temporary, name, chunks)
                self._announce("rename", name, lambda: self._some(lambda: self._rename(temporary, name, content)))
            except self.ends:
                raise
            except BaseException:
                self._platter.files.pop(temporary, None)
                raise
            self._rename(temporary, name, content)
            self._sync_names(name)

    def names(self, prefix: str = "") -> list[str]:
        """Return the names that begin with `prefix`, sorted, including those one folder deep."""
        with self._trouble("read", prefix or "."):
            return sorted(n for n in self._platter.files if n.startswith(prefix) and not n.endswith(TEMPORARY))

    def remove(self, name: str) -> None:
        """Delete the file, if it exists."""
        with self._trouble("remove", name):
            self._announce("remove", name, lambda: self._some(lambda: self._platter.files.pop(name, None)))
            self._platter.files.pop(name, None)

    def close(self) -> None:
        """Close open files without syncing."""

    # Only for simulation

    @property
    def capacity_bytes(self) -> int | None:
        """Capacity for all files together; None for unlimited."""
        return self._platter.capacity_bytes

    @capacity_bytes.setter
    def capacity_bytes(self, value: int | None) -> None:
        self._platter.capacity_bytes = value

    @property
    def dead(self) -> bool:
        """Whether the process of this disk is gone."""
        return self._dead is not None

    def room(self) -> int:
        """Return the free space in bytes."""
        return self._platter.room()

    def synced(self, name: str) -> int:
        """Return how many of the file's first bytes are certain to survive a power cut."""
        content = self._platter.files.get(name)
        return content.kept if content is not None and self._platter.named(name) else 0

    def unsynced(self) -> list[str]:
        """Return the names of the files that a power cut might change, sorted."""
        return self._platter.unsynced()

    def flip(self, name: str, offset: int, bit: int = 0) -> None:
        """Flip one bit permanently and silently, as a failing disk does."""
        self._platter.files[name].data[offset] ^= 1 << bit

    def kill(self) -> None:
        """End the process as by kill -9: everything written stays, synced or not."""
        self._die()

    def crash(self) -> None:
        """End the process by a power cut: the fate of unsynced data is random."""
        self._die()
        self._platter.cut_power()

    def reopen(self, before: Callable[[str, str], None] | None = None) -> VirtualDisk:
        """Return the disk for the next process; this one is dead from now on."""
        self._die()
        return self._handle(before)

    def copy(self) -> VirtualDisk:
        """Return an independent disk with the same files, all synced, to try out a start."""
        other = self._handle(None)
        other._platter = self._platter.copy()
        return other

    def reader(self) -> VirtualDisk:
        """Return a read-only view of the same files, as another process has."""
        reader = self._handle(None)
        reader.read_only = True
        return reader

    def cut_off(self) -> VirtualDisk:
        """Return the disk for the next process, while this one continues on a copy that nobody will see."""
        other = self._handle(None)
        self._platter = self._platter.copy()
        return other

    def beside(self) -> VirtualDisk:
        """Return the same files for another process, which writes its own files and outlives this one."""
        return self._handle(None)

    def _die(self) -> None:
        self._dead = self._dead or self.ends("the process that had this disk is gone")

    def _handle(self, before: Callable[[str, str], None] | None) -> VirtualDisk:
        other = type(self)(self._draw, before=before, directory=self.directory)
        other._platter = self._platter
        return other

    # Inside

    def _announce(self, operation: str, name: str, cut_short: Callable[[], object]) -> None:
        """Call `before`; if it ends the process, apply a random part of the interrupted call."""
        if self.before is None:
            return
        try:
            self.before(operation, name)
        except self.ends as crash:
            self._dead = crash
            cut_short()
            raise

    def _some(self, *steps: Callable[[], object]) -> None:
        """Perform the first few steps, or none, or all."""
        for step in steps[: self._draw.randint(0, len(steps))]:
            step()

    @contextlib.contextmanager
    def _trouble(self, action: str, name: str, wanted: int = 0) -> Generator[None]:
        """Refuse calls by dead processes and readers; turn an OSError into a message."""
        if self._dead is not None:
            raise self.ends(*self._dead.args)
        if self.read_only and action != "read":
            message = (
                f"{self.directory} was opened for reading only, so {name} cannot be changed; open it for writing first"
            )
            raise StoreError(message)
        try:
            yield
        except OSError as error:
            raise in_words(error, action, self.directory / name, wanted, self.room) from error

    def _found(self, name: str) -> FileBytes | None:
        content = self._platter.files.get(name)
        if content is None and name.rpartition("/")[0] in self._platter.files:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return content

    def _file(self, name: str) -> FileBytes:
        content = self._platter.files.get(name)
        return content if content is not None else self._made(name)

    def _made(self, name: str) -> FileBytes:
        folder, _, _ = name.rpartition("/")
        assert name.count("/") + 1 == len([part for part in name.split("/") if part[:1] not in ("", ".")]) <= 2, name
        if folder in self._platter.files:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        content = self._platter.files[name] = FileBytes()
        return content

    def _write(self, content: FileBytes, name: str, data: bytes) -> None:
        self._announce("write", name, lambda: content.data.extend(data[: self._draw.randint(0, len(data))]))
        if self._platter.capacity_bytes is not None and len(data) > self.room():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        content.data += data

    def _write_temporary(self, temporary: str, name: str, chunks: Iterable[bytes]) -> FileBytes:
        self._platter.files.pop(temporary, None)
        content = self._made(temporary)
        for chunk in chunks:
            self._write(content, name, chunk)
        self._announce("sync", name, lambda: self._some(content.sync))
        content.sync()
        return content

    def _rename(self, temporary: str, name: str, content: FileBytes) -> None:
        content.renamed = True
        self._platter.files[name] = self._platter.files.pop(temporary)

    def _sync_names(self, name: str) -> None:
        folder = name.rpartition("/")[0]
        self._platter.sync_names(folder)
        if folder:
            self._platter.sync_names("")

    def _sweep(self) -> None:
        """Remove, once, the leftovers of a killed `replace`."""
        if not self._swept:
            self._swept = True
            for name in [name for name in self._platter.files if name.endswith(TEMPORARY)]:
                del self._platter.files[name]
