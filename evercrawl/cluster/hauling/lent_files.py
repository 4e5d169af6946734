"""The files of a partition on another machine, read through the coordinator, as for a backup of the whole crawl."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from evercrawl import __version__
from evercrawl.ask.parts_line import FILES, PartsAsked, PartsDialogue, StoppedError
from evercrawl.cluster.hauling.remote_files import RemoteFiles
from evercrawl.cluster.wire import JOINED_S, SILENT_S, FilesAsked, FilesTold, Frame
from evercrawl.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evercrawl.cluster.hauling.haul_process import HaulProcess


class LentFiles:
    """The coordinator's side: questions about files are passed on to a process on the partition's machine.

    Parameters
    ----------
    process
        The process, which serves the files of one partition.
    over
        Called once they are read no more.
    """

    def __init__(self, process: HaulProcess, over: Callable[[], None]) -> None:
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
        """End the process."""
        self._over()
        await self._process.close()


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
