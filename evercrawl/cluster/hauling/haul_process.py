"""A process on one machine that moves partitions, as seen by the coordinator."""

from __future__ import annotations

import asyncio
import contextlib
import time
from itertools import count
from typing import TYPE_CHECKING, Final

from evercrawl.cluster.wire import JOINED_S, SILENT_S, Frame, HaulAsked, HaulDone, StopAsked, packed, read_frame
from evercrawl.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.cluster.launching import PartProcess

LOOK_S: Final = 0.2
END_S: Final = 5.0


class HaulProcess:
    """Gives orders to one such process, and waits until they are executed.

    Parameters
    ----------
    process, disk
        The process, and the id of its machine's disk.

    Attributes
    ----------
    hear
        Receives every frame that is not the result of an order.
    """

    def __init__(self, process: PartProcess, disk: str) -> None:
        self._process, self._disk = process, disk
        self.hear: Callable[[Frame], object] = lambda frame: None
        self._ids, self._done = count(1), dict[int, asyncio.Future[HaulDone]]()
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None
        self._heard_at = 0.0

    async def join(self, see: Callable[[], None]) -> None:
        """Return once the process is connected; `see` is called meanwhile, and may raise.

        Raises
        ------
        StoreError
            The process did not join.
        """
        joining = asyncio.ensure_future(self._process.connected())
        until = time.monotonic() + JOINED_S
        try:
            while not joining.done() and time.monotonic() < until:
                await asyncio.wait([joining], timeout=LOOK_S)
                if not joining.done():  # else take the connection, so that it gets closed
                    see()
        finally:
            if not joining.done():
                joining.cancel()
        line = None if joining.cancelled() or not joining.done() else joining.result()
        if line is None:
            raise StoreError(
                f"no process could be started on the machine of the disk {self._disk}; can that machine be reached?"
            )
        reader, self._writer = line
        self._listening = asyncio.ensure_future(self._listen(reader))

    @property
    def over(self) -> asyncio.Task[None]:
        """The task that ends when the process can no longer be heard, once it has joined."""
        assert self._listening is not None, "it has joined"
        return self._listening

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while (frame := await read_frame(reader)) is not None:
            self._heard_at = time.monotonic()
            if not isinstance(frame, HaulDone):
                self.hear(frame)
            elif frame.id in self._done and not self._done[frame.id].done():
                self._done[frame.id].set_result(frame)

    async def do(self, what: str, number: int, words: list[str], see: Callable[[], None]) -> int:
        """Have an order executed; return its count. `see` is called meanwhile, and may raise.

        Raises
        ------
        StoreError
            The order failed, or the machine is gone.
        """
        assert self._writer is not None, "it has joined"
        assert self._listening is not None, "it has joined"
        asked, done = next(self._ids), asyncio.get_running_loop().create_future()
        self._done[asked], self._heard_at = done, time.monotonic()
        self.write(HaulAsked(asked, what, number, words))
        try:
            while not done.done():
                awaited: list[asyncio.Future[HaulDone] | asyncio.Task[None]] = [done, self._listening]
                await asyncio.wait(awaited, timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED)
                see()
                gone = self._listening.done() or time.monotonic() > self._heard_at + SILENT_S
                if gone and not done.done():
                    raise StoreError(f"the process on the machine of the disk {self._disk} ended or does not answer")
        finally:
            del self._done[asked]
        found: HaulDone = done.result()
        if found.trouble:
            raise StoreError(found.trouble)
        return found.count

    def write(self, frame: Frame) -> bool:
        """Send a frame; return whether the process is connected."""
        if self._writer is None or self._writer.is_closing() or self._listening is None or self._listening.done():
            return False
        self._writer.write(packed(frame))
        return True

    async def close(self) -> None:
        """End the process, which releases its locks."""
        self.write(StopAsked())
        if self._listening is not None:
            await asyncio.wait([self._listening], timeout=END_S)
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._writer is not None:
            self._writer.close()
        with contextlib.suppress(Exception):  # its machine may be gone
            self._process.kill()
