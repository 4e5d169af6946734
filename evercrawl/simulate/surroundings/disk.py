"""A disk in memory that forgets what was not synced, fills up, and loses its power in the middle of a call."""

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
    """The files of one made-up directory; keeps the contract of `evercrawl.store.disk.disk.RealDisk`.

    One process has one of these. When `before` raises `Crash`, the call under way is cut short: a write in any byte,
    the others before or after they took effect. From then on the disk is *dead*: every call raises that `Crash` again,
    so nothing that a `finally` does reaches it. `kill` and `crash` say what the end of the process was, and `reopen`
    returns the disk that the next process finds. This one stays dead.

    Parameters
    ----------
    draw
        Decides what survives.
    capacity_bytes
        Room for all files together; None is without end.
    odds
        How likely each fate is of what was not synced.
    before
        As `RealDisk`'s: called with ("write" | "sync" | "rename" | "truncate" | "remove", name) ahead of each.
    directory
        As it stands in messages; there is no such directory.

    Attributes
    ----------
    capacity_bytes, before
        May be set at any time; the capacity is that of all who look at these files.

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

    # What every disk can do

    def append(self, name: str, data: bytes) -> int:
        """Add `data` at the end and return the offset where it starts; all of it, or nothing and `NoRoomError`."""
        with self._trouble("write", name, wanted=len(data)):
            content = self._file(name)
            start = len(content.data)
            self._write(content, name, data)
        return start

    def sync(self, name: str) -> None:
        """Return once all that was appended survives a power cut."""
        with self._trouble("sync", name):
            content = self._file(name)
            self._announce("sync", name, lambda: self._some(content.sync, lambda: self._sync_names(name)))
            content.sync()
            self._sync_names(name)

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`; fewer at the end of the file, none where there is no file."""
        with self._trouble("read", name):
            content = self._found(name)
            return bytes(content.data[offset : offset + size]) if content is not None else b""

    def size(self, name: str) -> int:
        """Return the size in bytes, 0 where there is no such file."""
        with self._trouble("read", name):
            content = self._found(name)
            return len(content.data) if content is not None else 0

    def truncate(self, name: str, size: int) -> None:
        """Cut the file to `size` bytes; a longer one than there is counts as a mistake of ours."""
        with self._trouble("truncate", name):
            content = self._file(name)
            assert size <= len(content.data), f"{name} holds {len(content.data)} bytes, not {size}"
            self._announce("truncate", name, lambda: self._some(lambda: content.truncate(size)))
            content.truncate(size)

    def replace(self, name: str, chunks: Iterable[bytes], *, private: bool = False) -> None:
        """Make the file consist of `chunks`; after a crash it is wholly the old one or wholly the new one."""
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
        """Return the names that begin with `prefix`, sorted; those of one folder deep among them."""
        with self._trouble("read", prefix or "."):
            return sorted(n for n in self._platter.files if n.startswith(prefix) and not n.endswith(TEMPORARY))

    def remove(self, name: str) -> None:
        """Delete the file, if there is one."""
        with self._trouble("remove", name):
            self._announce("remove", name, lambda: self._some(lambda: self._platter.files.pop(name, None)))
            self._platter.files.pop(name, None)

    def close(self) -> None:
        """Give back what is open; nothing is synced."""

    # What only a made-up one can

    @property
    def capacity_bytes(self) -> int | None:
        """Room for all files together; None is without end."""
        return self._platter.capacity_bytes

    @capacity_bytes.setter
    def capacity_bytes(self, value: int | None) -> None:
        self._platter.capacity_bytes = value

    @property
    def dead(self) -> bool:
        """Whether the process that had this disk is gone."""
        return self._dead is not None

    def room(self) -> int:
        """Return the bytes that may still be written."""
        return self._platter.room()

    def synced(self, name: str) -> int:
        """Return how many of the file's first bytes survive a power cut for certain."""
        content = self._platter.files.get(name)
        return content.kept if content is not None and self._platter.named(name) else 0

    def unsynced(self) -> list[str]:
        """Return the names of the files that a power cut might leave otherwise than they are, sorted."""
        return self._platter.unsynced()

    def flip(self, name: str, offset: int, bit: int = 0) -> None:
        """Turn one bit over, as a failing disk does, for good and without a word."""
        self._platter.files[name].data[offset] ^= 1 << bit

    def kill(self) -> None:
        """End the process as kill -9 does: what was written stays, synced or not."""
        self._die()

    def crash(self) -> None:
        """End the process by cutting the power: what was not synced is drawn."""
        self._die()
        self._platter.cut_power()

    def reopen(self, before: Callable[[str, str], None] | None = None) -> VirtualDisk:
        """Return the disk that the next process finds; this one is dead from now on."""
        self._die()
        return self._handle(before)

    def copy(self) -> VirtualDisk:
        """Return a disk of its own with the same files, all of them synced: to try what a start would do."""
        other = self._handle(None)
        other._platter = self._platter.copy()
        return other

    def reader(self) -> VirtualDisk:
        """Return the same files for reading only, as another process beside this one has them."""
        reader = self._handle(None)
        reader.read_only = True
        return reader

    def cut_off(self) -> VirtualDisk:
        """Return the disk that the next process finds, while this one goes on with a copy that nobody will see."""
        other = self._handle(None)
        self._platter = self._platter.copy()
        return other

    def beside(self) -> VirtualDisk:
        """Return the same files for another process, which writes to files of its own and outlives this one."""
        return self._handle(None)

    def _die(self) -> None:
        self._dead = self._dead or self.ends("the process that had this disk is gone")

    def _handle(self, before: Callable[[str, str], None] | None) -> VirtualDisk:
        other = type(self)(self._draw, before=before, directory=self.directory)
        other._platter = self._platter
        return other

    # Inside

    def _announce(self, operation: str, name: str, cut_short: Callable[[], object]) -> None:
        """Tell whoever wants to know; where it ends the process, do what a call that is cut short may have done."""
        if self.before is None:
            return
        try:
            self.before(operation, name)
        except self.ends as crash:
            self._dead = crash
            cut_short()
            raise

    def _some(self, *steps: Callable[[], object]) -> None:
        """Take the first few steps, or none, or all."""
        for step in steps[: self._draw.randint(0, len(steps))]:
            step()

    @contextlib.contextmanager
    def _trouble(self, action: str, name: str, wanted: int = 0) -> Generator[None]:
        """Refuse what the dead and readers may not; turn an OSError into a sentence."""
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
        """Remove, once, what a killed `replace` left behind."""
        if not self._swept:
            self._swept = True
            for name in [name for name in self._platter.files if name.endswith(TEMPORARY)]:
                del self._platter.files[name]
