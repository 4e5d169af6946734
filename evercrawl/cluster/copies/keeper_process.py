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
    JOINED_S,
    SILENT_S,
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
"""Delay before a process that ended is started again; it doubles while none answers anything."""
AGAIN_MOST_S: Final = 30.0
_END_S: Final = 5.0


class DiskLauncher(Launcher, Protocol):
    """Starts processes on machines, each of which has a disk."""

    def disks(self) -> Mapping[str, PartDisk]:
        """Return the reachable disks, by their ids."""
        ...

    def keep(self, disk: str, life: int) -> PartProcess:
        """Start a process that holds second copies on a reachable disk."""
        ...


class KeeperProcess:
    """The process that holds copies on one disk, while the disk is reachable; it is restarted when it ends.

    Parameters
    ----------
    directory, disk, launcher
        The crawl's directory, the id of the disk, and the launcher.
    hear, found
        Receives each answer with the id of the disk; receives whether copies there can be opened.
    tell, clock
        Receives a sentence about each problem; returns the time (s) by a clock that is never set.

    Attributes
    ----------
    older
        The number of started processes in the keeper's `cluster.json`, if that is newer than ours; else 0.
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
        self._marks: list[tuple[int, int, int]] | None = None  # of the files last sent to the keeper
        self.older = 0
        self._writer: asyncio.StreamWriter | None = None
        self._task: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._patience: Patience | None = None
        self._asked = set[tuple[int, int]]()  # questions without an answer so far
        self._begin_at, self._again_s, self._trouble, self._ends = 0.0, AGAIN_S, "", False
        self._refused = dict[int, tuple[float, float]]()  # by partition: first and last of its consecutive refusals
        self._absent = dict[int, float]()  # by partition: since when its questions were lost for lack of a process

    def turn(self, paused_s: float) -> None:
        """Start a process if there is none, and end one that does not answer.

        Parameters
        ----------
        paused_s
            For how long this process was not listening since the last turn.
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
                ended = over.result() if over.done() else "its connection is closed"
                self._say(f"{type(error).__name__}: {error}" if error is not None else ended)
        except (EvercrawlError, TimeoutError) as error:
            self._say(str(error) or "it did not join")
        finally:
            if self._listening is not None:
                self._listening.cancel()
            if self._writer is not None:
                self._writer.transport.abort()  # the process will not read what it has not read by now
            process.kill()
            over.cancel()
            self._writer = self._task = self._listening = self._patience = None
            self._asked.clear()
            self._begin_at = time.monotonic() + self._again_s
            self._again_s = min(2 * self._again_s, AGAIN_MOST_S)

    def _say(self, trouble: str) -> None:
        """Report a problem, unless it was the last one reported."""
        if trouble != self._trouble:
            self._trouble = trouble
            self._tell(f"the process with second copies on the disk {self._disk} is restarted: {trouble}")

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
        """Take note of a refusal or of a success."""
        answer: KeeperAnswer = msgspec.msgpack.decode(frame.data, type=KeeperAnswer)
        if isinstance(answer, KeeperRefusal) and not answer.over:
            now = self._clock()
            self._refused[frame.number] = self._refused.get(frame.number, (now, now))[0], now
        elif isinstance(answer, KeeperDone):
            self._refused.pop(frame.number, None)
            self._trouble = ""

    def failing_s(self, number: int) -> float:
        """Return for how long the keeper has failed a partition, by refusals alone or by having no process."""
        since, last = self._refused.get(number, (0.0, 0.0))
        absent_s = self._clock() - self._absent[number] if number in self._absent else 0.0
        return max(last - since, absent_s)

    def forgive(self, number: int) -> None:
        """Restart the measurement of `failing_s`."""
        self._refused.pop(number, None)
        self._absent.pop(number, None)

    def write(self, frame: CopyAsked | CopyCheckAsked) -> bool:
        """Pass a question on; return False if there is no process, or it has a long backlog."""
        self.tell_birth()
        if self._writer is None or self._patience is None:
            if isinstance(frame, CopyAsked):
                self._absent.setdefault(frame.number, self._clock())
            return False
        if crowded(self._writer):
            return False
        if isinstance(frame, CopyAsked):
            if not self._asked:
                self._patience.heard(time.monotonic())  # it had no reason to speak before
            self._asked.add((frame.number, frame.id))
        self._writer.write(packed(frame))
        return True

    def tell_birth(self) -> None:
        """Send the keeper `cluster.json` and the settings, if they have changed."""
        files = [file for name in (FILE, FILE_NAME) if (file := self._directory / name).is_file()]
        marks = [(found.st_ino, found.st_mtime_ns, found.st_size) for found in (file.stat() for file in files)]
        if self._writer is not None and not self._writer.is_closing() and marks != self._marks:
            self._writer.write(packed(BirthKept({file.name: file.read_bytes() for file in files})))
            self._marks = marks

    async def close(self) -> None:
        """End the process."""
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
