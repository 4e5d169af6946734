"""The process that runs a crawl on machines that are folders, as far as backups go: a thread that lends files."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from pathlib import Path

from evercrawl.ask.parts_line import PartsAnswer, PartState
from evercrawl.cluster.asking import PartsLine
from evercrawl.cluster.hauling.lent_files import LentFiles
from evercrawl.cluster.hauling.node_moves import NodeMoves
from evercrawl.cluster.wire import FilesAsked, FilesTold
from tests.cluster.folder_machines import FolderMachines


class LendingLine:
    """Answers in a thread; `asked` is called there with each question about files, before it is passed on."""

    def __init__(
        self, directory: Path, machines: FolderMachines, asked: Callable[[int, FilesAsked], None] = lambda *_: None
    ) -> None:
        self.directory, self.machines, self.asked = directory, machines, asked
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))

    async def _run(self) -> None:
        self.moves = NodeMoves(self.directory, self.machines.birth, self.machines, print)
        line = PartsLine(self.directory, self._states, self._nothing, self._lend)
        self.loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        await line.open()
        self._ready.set()
        await self._end.wait()
        await line.close()
        await self.moves.end()

    def _states(self) -> list[PartState]:
        return [PartState(number, self.machines.where(number)) for number in range(self.machines.birth.parts)]

    async def _nothing(self, number: int, name: str, parameters: bytes, patience_s: float) -> PartsAnswer:
        return PartsAnswer(b"", "it answers nothing")

    async def _lend(self, number: int) -> "Watched":
        return Watched(await self.moves.lent(number), lambda asked: self.asked(number, asked))

    def end(self) -> None:
        """Let the crawl end."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: the crawl has ended before
            self.loop.call_soon_threadsafe(self._end.set)

    def __enter__(self) -> "LendingLine":
        self._thread.start()
        assert self._ready.wait(5)
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._thread.join(10)
        assert not self._thread.is_alive()


class Watched:
    """Files that are lent, and whoever wants to know what is asked of them."""

    def __init__(self, lent: LentFiles, asked: Callable[[FilesAsked], None]) -> None:
        self._lent, self._asked = lent, asked

    async def told(self, asked: FilesAsked) -> FilesTold:
        self._asked(asked)
        return await self._lent.told(asked)

    async def close(self) -> None:
        await self._lent.close()
