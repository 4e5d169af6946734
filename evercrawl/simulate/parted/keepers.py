"""Simulated keepers of second copies: messages are lost, delayed and duplicated, and disks lose power."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from evercrawl.simulate.parted.mortal import Killed, MortalDisk
from evercrawl.store.keeper.copy import KeeperCopy, state_of
from evercrawl.store.keeper.messages import KeeperAnswer, KeeperQuestion
from evercrawl.store.keeper.restoring import restore_copy

if TYPE_CHECKING:
    from evercrawl.simulate.parted.mail import Roads

WAITED_S = 2.0
LATE_S = 3.0


class MadeKeeper:
    """The keeper of one partition, and the connection to it.

    Parameters
    ----------
    number
        The partition's number.
    draw
        Random source for the fate of each message.
    roads
        Returns the present state of the network.

    Attributes
    ----------
    place
        Its location, in words.
    away
        Whether it is unreachable.
    """

    def __init__(self, number: int, draw: random.Random, roads: Callable[[], Roads]) -> None:
        self.place, self.away = f"/made-up/kept/part-{number}", False
        self._draw, self._roads = draw, roads
        self._disk = MortalDisk(random.Random(f"keeper {number} {draw.random()}"), directory=Path(self.place))
        self._copy = KeeperCopy(self._disk)

    async def ask(self, question: KeeperQuestion) -> KeeperAnswer | None:
        """Deliver a request and its response, if they get through."""
        data, roads, loop = msgspec.msgpack.encode(question), self._roads(), asyncio.get_running_loop()
        answered: asyncio.Future[KeeperAnswer] = loop.create_future()
        for _ in range(2 if self._draw.random() < roads.doubled else 1):
            if self._draw.random() >= roads.lost:
                loop.call_later(self._draw.uniform(0.0, min(roads.delay_s, LATE_S)), self._arrive, data, answered)
        try:
            return await asyncio.wait_for(answered, WAITED_S)
        except TimeoutError:
            return None

    def _arrive(self, data: bytes, answered: asyncio.Future[KeeperAnswer]) -> None:
        if self.away:
            return
        question: KeeperQuestion = msgspec.msgpack.decode(data, type=KeeperQuestion)
        try:
            answer = self._copy.answer(question)
        except Killed:  # power loss during a write; it comes back
            self._reopen()
            return
        if not answered.done() and self._draw.random() >= self._roads().lost:
            answered.set_result(msgspec.msgpack.decode(msgspec.msgpack.encode(answer), type=KeeperAnswer))

    def strike(self) -> None:
        """Cut its power during one of its next disk operations."""
        left = self._draw.randrange(1, 9)

        def before(operation: str, name: str) -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                raise Killed(operation, name)

        self._disk.before = before

    def _reopen(self) -> None:
        self._disk.crash()
        self._disk = self._disk.reopen()  # type: ignore[assignment]
        self._copy = KeeperCopy(self._disk)

    @property
    def whole(self) -> bool:
        """Whether a partition could be opened from the copy."""
        state = state_of(self._disk)
        return state is not None and state.whole

    def restored(self, draw: random.Random, directory: Path, line: int) -> MortalDisk:
        """Return a new disk with the partition restored from the copy."""
        self._reopen()  # a copy is opened in the state that a power cut leaves
        disk = MortalDisk(draw, directory=directory)
        restore_copy(self._disk, disk, line)
        return disk
