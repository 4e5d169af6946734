"""Moves of partitions while the crawl runs: most bytes are copied while one runs, the rest in a pause.

`move_part` writes an order into the crawl's directory. The process that runs the crawl executes the order; if none
runs, the caller does.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any, Final

import msgspec

from evercrawl.cluster.moving.folder_transfer import FolderTransfer
from evercrawl.cluster.moving.interfaces import UnplacedError
from evercrawl.cluster.moving.order import FILE, PartMove, outcome, read_move, write_move
from evercrawl.cluster.moving.transfer import LagsError, is_there
from evercrawl.errors import EvercrawlError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from evercrawl.cluster.asking import PartLoan
    from evercrawl.cluster.moving.interfaces import PartHolder, PartTransfer

LAG_BYTES: Final = 1 << 20
"""Maximum number of bytes left to copy while the partition is paused."""
ROUNDS: Final = 12
"""Maximum number of copies before a pause; fewer if they no longer get smaller."""
IN_VAIN: Final = 3
PAUSES: Final = 3
"""Number of pauses that may be broken off because something was removed just before."""
AGAIN_S: Final = 60.0
"""Interval after a failed move without an order until the next one."""


class PartMoves:
    """Executes orders to move partitions while the crawl runs.

    Parameters
    ----------
    directory
        The crawl's directory.
    holds
        Controls the processes.
    tell
        Receives a sentence about each result.
    transfer
        Copies partitions, and records where they are; None if they are on this machine.
    """

    def __init__(
        self, directory: Path, holds: PartHolder, tell: Callable[[str], None], transfer: PartTransfer | None = None
    ) -> None:
        self._directory, self._holds, self._tell = directory, holds, tell
        self._task: asyncio.Task[None] | None = None
        self._over, self._again_at = False, float("-inf")
        (directory / FILE).unlink(missing_ok=True)  # of an earlier run
        self._transfer: PartTransfer = FolderTransfer(directory, tell) if transfer is None else transfer

    def turn(self) -> None:
        """Start the requested work, or work that is due without an order."""
        if self._over or self._task is not None:
            return
        move: PartMove | Coroutine[Any, Any, None] | None = read_move(self._directory)
        if not isinstance(move, PartMove) or move.done:
            move = self._transfer.turn(self._holds, self._see) if time.monotonic() >= self._again_at else None
        if isinstance(move, PartMove):
            self._task = asyncio.ensure_future(self._carry_out(move))
        elif move is not None:
            self._task = asyncio.ensure_future(self._work(move))

    async def lent(self, number: int) -> PartLoan:
        """Return the files of a partition on another machine; see `PartTransfer`."""
        return await self._transfer.lent(number)

    def counts(self, number: int) -> None:
        """Take note that something of a partition counts now; see `PartTransfer`."""
        self._transfer.counts(number)

    def lost(self, number: int) -> bool:
        """Take note that a partition is no longer at its place; return whether it can go back to an old one."""
        return self._transfer.lost(number)

    def stop(self) -> None:
        """Start no more moves, and interrupt the current one."""
        self._over = True

    async def close(self) -> None:
        """Do the same, and return once no move is under way."""
        self.stop()
        if self._task is not None:
            await self._task
        await self._transfer.end()

    async def _work(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # the crawl continues
            self._tell(f"what a move had left to do failed: {type(error).__name__}: {error}")
        finally:
            self._task = None

    async def _carry_out(self, move: PartMove) -> None:
        try:
            placed = move
            try:
                placed = self._transfer.placed(move)
                moved = await self._moved(placed) if move.number >= 0 else msgspec.structs.replace(placed, done=True)
            except Exception as error:  # unforeseen errors too: the caller gets an answer, and the crawl continues
                known = isinstance(error, (EvercrawlError, OSError))
                why = str(error) if known else f"{type(error).__name__}: {error}"
                there = move.number >= 0 and not isinstance(error, UnplacedError)
                there = there and is_there(self._directory, move.number, placed.goal)
                moved = msgspec.structs.replace(placed, done=True, error="" if there else why)
            if move.id:
                self._write_down(moved)
            elif moved.error:
                self._again_at = time.monotonic() + AGAIN_S
            self._tell(outcome(moved))
        finally:
            self._task = None

    def _write_down(self, moved: PartMove) -> None:
        try:
            write_move(self._directory, moved)
        except StoreError as error:  # such as a full disk; the caller sees that the order is gone
            self._tell(f"the result of moving partition {moved.number} cannot be saved: {error}")
            with contextlib.suppress(OSError):
                (self._directory / FILE).unlink(missing_ok=True)
            self._over = self._over or (self._directory / FILE).exists()

    def _see(self) -> None:
        if self._over:
            raise StoreError("the crawl ended")

    async def _moved(self, move: PartMove) -> PartMove:
        copied, pauses = 0, 0
        try:
            await self._transfer.prepare(move, self._see)
            while True:
                copied += await self._caught_up(move)
                began, pauses = time.monotonic(), pauses + 1
                try:
                    rest, trouble = await self._paused(move)
                except LagsError:
                    if pauses == PAUSES:
                        raise
                    continue
                break
        finally:
            await self._transfer.end()
        if trouble:
            self._tell(trouble)
        return msgspec.structs.replace(move, done=True, copied_bytes=copied + rest, pause_s=time.monotonic() - began)

    async def _caught_up(self, move: PartMove) -> int:
        """Copy in rounds until little is left, or rounds no longer shrink; return the number of bytes copied."""
        copied, least, in_vain = 0, float("inf"), 0
        for _ in range(ROUNDS):
            written = await self._transfer.copy(move, self._see)
            copied += written
            self._see()
            in_vain = 0 if written < least / 2 else in_vain + 1
            least = min(least, written)
            if written < LAG_BYTES or in_vain == IN_VAIN:
                break
        return copied

    async def _paused(self, move: PartMove) -> tuple[int, str]:
        """End the process of a partition, let the transfer switch, and begin a process again."""
        placed, lags = True, False
        try:
            await self._holds.rest(move.number)
            return await self._transfer.finish(move, self._see)
        except UnplacedError:
            placed = False
            raise
        except LagsError:
            lags = True
            raise
        finally:
            if not lags:
                await self._transfer.end()
            if placed:
                await self._holds.resume(move.number)
