"""Starts, watches and ends the process that holds second copies on one disk of a cluster, for the coordinator."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from evercrawl.cluster.birth import FILE, next_life
from evercrawl.cluster.launching import Launcher
from evercrawl.cluster.patience import Patience
from evercrawl.cluster.wire import (
    BirthKept,
    BirthOlder,
    CopyAnswered,
    CopyAsked,
    CopyCheckAsked,
    CopyChecked,
    StopAsked,
    crowded,
    packed,
    read_frame,
)
from evercrawl.config import FILE_NAME
from evercrawl.errors import EvercrawlError
from evercrawl.store.keeper.messages import KeeperAnswer, KeeperDone, KeeperRefusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from evercrawl.cluster.disks import PartDisk
    from evercrawl.cluster.launching import PartProcess

AGAIN_S: Final = 1.0
"""Before a process is begun after one that ended; twice as long each time, while none answers anything."""
AGAIN_MOST_S: Final = 30.0
JOINED_S: Final = 120.0
"""For so long a process that was begun may take to join."""
SILENT_S: Final = 60.0
"""A process that was asked something and says nothing for so long is ended; one that is at it says so every 2 s."""
_END_S: Final = 5.0


class DiskLauncher(Launcher, Protocol):
    """Begins processes on machines, each of which has a disk."""

    def disks(self) -> Mapping[str, PartDisk]:
        """Return the disks that are there, by their ids."""
        ...

    def keep(self, disk: str, life: int) -> PartProcess:
        """Begin a process that holds second copies on a disk that is there."""
        ...


class KeeperProcess:
    """The process that holds copies on one disk, as long as that is there; another one is begun after it.

    Parameters
    ----------
    directory, disk, launcher
        Of the crawl; which disk; where that is.
    hear, found
        Told each answer, and the disk that it comes from; told whether copies there can be opened.
    tell, clock
        Told in a sentence what is wrong; tells the time (s), by a clock that is not set.

    Attributes
    ----------
    older
        How many processes had been begun by the `cluster.json` that it holds, where that is newer; else 0.
    """

    def __init__(
        self,
        directory: Path,
        disk: str,
        launcher: DiskLauncher,
        hear: Callable[[str, CopyAnswered], None],
        found: Callable[[CopyChecked], None],
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._directory, self._disk, self._launcher = directory, disk, launcher
        self._hear, self._found, self._tell = hear, found, tell
        self._marks: list[tuple[int, int, int]] | None = None  # of the files that the keeper was told last
        self.older = 0
        self._writer: asyncio.StreamWriter | None = None
        self._task: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._patience: Patience | None = None
        self._asked = set[tuple[int, int]]()  # questions that it was not heard to answer
        self._begin_at, self._again_s, self._trouble, self._ends = 0.0, AGAIN_S, "", False
        self._refused = dict[int, tuple[float, float]]()  # of partitions: since when it refuses, and when it last did
        self._absent = dict[int, float]()  # partitions whose questions were lost, for there was no process, since when

    def turn(self, paused_s: float) -> None:
        """Begin a process where there is none, and end one that was asked something and says nothing.

        Parameters
        ----------
        paused_s
            For how long nobody listened to it since the last turn.
        """
        self.tell_birth()
        now = time.monotonic()
        if self._task is None and now >= self._begin_at and self._disk in self._launcher.disks():
            process = self._launcher.keep(self._disk, next_life(self._directory))
            self._task = asyncio.ensure_future(self._attend(process))
        if self._patience is not None and self._listening is not None:
            self._patience.missed(paused_s, now)
            if self._asked and self._patience.silent_s(now) >= SILENT_S:
                self._say("it has not answered for a minute")
                self._listening.cancel()

    async def _attend(self, process: PartProcess) -> None:
        over = asyncio.ensure_future(process.ended())
        try:
            line = await asyncio.wait_for(process.connected(), JOINED_S)
            if line is not None:
                reader, self._writer = line
                self._patience, self._marks = Patience(time.monotonic()), None
                self._absent.clear()
                self.tell_birth()
                self._listening = asyncio.ensure_future(self._listen(reader))
                await asyncio.wait([over, self._listening], return_when=asyncio.FIRST_COMPLETED)
            if not self._ends and (self._listening is None or not self._listening.cancelled()):
                error = self._listening.exception() if self._listening is not None and self._listening.done() else None
                ended = over.result() if over.done() else "its line is cut"
                self._say(f"{type(error).__name__}: {error}" if error is not None else ended)
        except (EvercrawlError, TimeoutError) as error:
            self._say(str(error) or "it did not join")
        finally:
            if self._listening is not None:
                self._listening.cancel()
            if self._writer is not None:
                self._writer.transport.abort()  # what it has not read by now it never will
            process.kill()
            over.cancel()
            self._writer = self._task = self._listening = self._patience = None
            self._asked.clear()
            self._begin_at = time.monotonic() + self._again_s
            self._again_s = min(2 * self._again_s, AGAIN_MOST_S)

    def _say(self, trouble: str) -> None:
        """Tell people what is wrong, unless it is what was told last."""
        if trouble != self._trouble:
            self._trouble = trouble
            self._tell(f"the process with second copies on the disk {self._disk} is begun again: {trouble}")

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while (frame := await read_frame(reader)) is not None:
            if self._patience is not None:
                self._patience.heard(time.monotonic())
            if isinstance(frame, CopyAnswered) and frame.data:
                self._asked.discard((frame.number, frame.id))
                self._again_s = AGAIN_S
                self._judge(frame)
                self._hear(self._disk, frame)
            elif isinstance(frame, CopyChecked):
                self._found(frame)
            elif isinstance(frame, BirthOlder):
                self.older = frame.lives

    def _judge(self, frame: CopyAnswered) -> None:
        """Take note of a refusal, or that something was written."""
        answer: KeeperAnswer = msgspec.msgpack.decode(frame.data, type=KeeperAnswer)
        if isinstance(answer, KeeperRefusal) and not answer.over:
            now = self._clock()
            self._refused[frame.number] = self._refused.get(frame.number, (now, now))[0], now
        elif isinstance(answer, KeeperDone):
            self._refused.pop(frame.number, None)
            self._trouble = ""

    def failing_s(self, number: int) -> float:
        """Return for how long a partition has asked it in vain: each time it refused, or there was no process."""
        since, last = self._refused.get(number, (0.0, 0.0))
        absent_s = self._clock() - self._absent[number] if number in self._absent else 0.0
        return max(last - since, absent_s)

    def forgive(self, number: int) -> None:
        """Count anew for how long it fails."""
        self._refused.pop(number, None)
        self._absent.pop(number, None)

    def write(self, frame: CopyAsked | CopyCheckAsked) -> bool:
        """Pass a question on; return whether there is a process, which has not much to read already."""
        self.tell_birth()
        if self._writer is None or self._patience is None:
            if isinstance(frame, CopyAsked):
                self._absent.setdefault(frame.number, self._clock())
            return False
        if crowded(self._writer):
            return False
        if isinstance(frame, CopyAsked):
            if not self._asked:
                self._patience.heard(time.monotonic())  # nothing was to be said before
            self._asked.add((frame.number, frame.id))
        self._writer.write(packed(frame))
        return True

    def tell_birth(self) -> None:
        """Have the keeper hold what the directory of all partitions says of itself, if that has changed."""
        files = [file for name in (FILE, FILE_NAME) if (file := self._directory / name).is_file()]
        marks = [(found.st_ino, found.st_mtime_ns, found.st_size) for found in (file.stat() for file in files)]
        if self._writer is not None and not self._writer.is_closing() and marks != self._marks:
            self._writer.write(packed(BirthKept({file.name: file.read_bytes() for file in files})))
            self._marks = marks

    async def close(self) -> None:
        """End it."""
        task = self._task
        self._begin_at, self._ends = float("inf"), True
        if task is None:
            return
        if self._writer is not None:
            self._writer.write(packed(StopAsked()))
            await asyncio.wait([task], timeout=_END_S)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
