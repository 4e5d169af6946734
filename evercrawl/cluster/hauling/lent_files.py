"""The files of a partition on another machine, read through the coordinator, as for a backup of the whole crawl."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl import __version__
from evercrawl.ask.parts_line import FILES, PartsAsked, PartsDialogue, StoppedError
from evercrawl.cluster.hauling.haul_process import HaulProcess
from evercrawl.cluster.hauling.remote_files import RemoteFiles
from evercrawl.cluster.wire import JOINED_S, SILENT_S, FilesAsked, FilesTold, Frame
from evercrawl.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path


WAITS_S: Final = 60.0
"""Time for which a process that served files waits for another partition of its disk to be read."""


def _nothing() -> None:
    """Do nothing: no condition can stop the work."""


class LentFiles:
    """The coordinator's side: questions about files are passed on to a process on the partition's machine.

    Parameters
    ----------
    process
        The process, which serves the files of one partition.
    over
        Called when the files are closed, with whether no question is pending.
    """

    def __init__(self, process: HaulProcess, over: Callable[[bool], Awaitable[None]]) -> None:
        self._process, self._over = process, over
        self._awaited: tuple[int, asyncio.Future[FilesTold]] | None = None
        process.hear = self._hear

    async def told(self, asked: FilesAsked) -> FilesTold:
        """Return the answer to a question, or why there is none."""
        answer: asyncio.Future[FilesTold] = asyncio.get_running_loop().create_future()
        self._awaited = asked.id, answer
        if self._process.write(asked):
            awaited: list[asyncio.Future[FilesTold] | asyncio.Task[None]] = [answer, self._process.over]
            await asyncio.wait(awaited, timeout=SILENT_S, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        return FilesTold(asked.id, b"", "the process on its machine ended or does not answer")

    def _hear(self, frame: Frame) -> None:
        if isinstance(frame, FilesTold) and self._awaited is not None and self._awaited[0] == frame.id:
            _, answer = self._awaited
            if not answer.done():
                answer.set_result(frame)

    async def close(self) -> None:
        """Close the files."""
        await self._over(self._awaited is None or self._awaited[1].done())


class FileLenders:
    """The processes that serve files: after use, each waits a while for the next partition of its disk.

    Parameters
    ----------
    begin
        Starts a process on the machine of a disk.
    clock
        Returns the time (s) by a clock that is never set.
    """

    def __init__(self, begin: Callable[[str], HaulProcess], clock: Callable[[], float]) -> None:
        self._begin, self._clock = begin, clock
        self._reads = Counter[tuple[int, str]]()
        self._waiting = dict[str, tuple[HaulProcess, float]]()

    def reads(self, number: int, disk: str) -> bool:
        """Return whether the files of a partition on a disk are being read."""
        return self._reads[number, disk] > 0

    async def lent(self, number: int, disk: str) -> LentFiles:
        """Return the files of a partition on a disk.

        Raises
        ------
        StoreError
            They cannot be read; the message says why.
        """
        process, _ = self._waiting.pop(disk, (None, 0.0))
        begun = None if process is None or process.over.done() else process
        self._reads[number, disk] += 1
        try:
            if begun is None:
                begun = self._begin(disk)
                await begun.join(_nothing)
            await begun.do("lend", number, [], _nothing)
        except BaseException:
            self._reads[number, disk] -= 1
            if begun is not None:
                await begun.close()
            raise
        lends = begun

        async def over(answered: bool) -> None:
            self._reads[number, disk] -= 1
            if answered and not lends.over.done() and disk not in self._waiting:
                self._waiting[disk] = lends, self._clock() + WAITS_S
            else:  # an answer that comes late must not be taken for that of a later question
                await lends.close()

        return LentFiles(lends, over)

    def due(self) -> bool:
        """Return whether all processes that wait have waited long enough."""
        return bool(self._waiting) and all(self._clock() >= until for _, until in self._waiting.values())

    async def close(self) -> None:
        """End the processes that wait."""
        waiting, self._waiting = self._waiting, {}
        await asyncio.gather(*(process.close() for process, _ in waiting.values()))


class FilesAfar(RemoteFiles):
    """The files of a partition on another machine, for a process beside the running crawl.

    Parameters
    ----------
    directory, number
        The crawl's directory, and number of the partition.

    Raises
    ------
    StoreError
        They cannot be read; the message says why.
    """

    def __init__(self, directory: Path, number: int) -> None:
        super().__init__(self._send)
        patience_s = JOINED_S + SILENT_S
        try:
            self._line = PartsDialogue(directory, patience_s)
        except StoppedError as error:
            raise StoreError("its machine is reached only through the running crawl, and that does not run") from error
        try:
            self._line.ask(PartsAsked(__version__, number, FILES, b"", patience_s), int)
        except BaseException:
            self._line.close()
            raise

    def _send(self, asked: FilesAsked) -> None:
        self.hear(FilesTold(asked.id, msgspec.msgpack.encode(self._line.ask(asked, msgspec.Raw))))

    def close(self) -> None:
        """Close the connection, which ends the process on the other machine."""
        self._line.close()
