"""A partition's connection to the keeper of its second copy on another machine.

Questions and answers pass through the coordinator, which does not decode them.
"""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from evercrawl.cluster.copies.folder_keeper import makes_whole
from evercrawl.cluster.wire import CopyAnswered, CopyAsked, CopyWhole, Frame
from evercrawl.store.keeper.messages import KeeperAnswer, KeeperQuestion

if TYPE_CHECKING:
    from collections.abc import Callable

ANSWERED_S: Final = 10.0
"""Time after which an unanswered question is repeated."""


class NodeKeeper:
    """Asks the keeper of a second copy on another machine; see `evercrawl.crawl.posting.carrier.KeeperLine`.

    Parameters
    ----------
    number, incarnation
        The partition's number, and its life, so that question numbers of two lives differ.
    place
        A description of where the copy is.
    write
        Sends a frame to the coordinator.

    Attributes
    ----------
    place
        A description of where the copy is.
    whole
        Whether the copy has been complete since this process began.
    """

    def __init__(self, number: int, incarnation: int, place: str, write: Callable[[Frame], None]) -> None:
        self.place, self.whole = place, False
        self._number, self._write, self._ids = number, write, count((incarnation << 32) + 1)
        self._asked: _Asked | None = None

    async def ask(self, question: KeeperQuestion) -> KeeperAnswer | None:
        """Return the answer; None if none arrives in time.

        If the next question is the same, a late answer to the first one counts: the keeper may take long to read a
        large copy, and does not read it again for a repeated question.
        """
        if self._asked is None or self._asked.question != question:
            self._asked = _Asked(question, next(self._ids), asyncio.get_running_loop().create_future())
        asked = self._asked
        if not asked.answered.done():
            self._write(CopyAsked(self._number, asked.id, msgspec.msgpack.encode(question)))
        try:
            async with asyncio.timeout(ANSWERED_S):
                data = await asyncio.shield(asked.answered)
        except TimeoutError:
            return None
        self._asked = None
        answer: KeeperAnswer = msgspec.msgpack.decode(data, type=KeeperAnswer)
        if not self.whole and makes_whole(question, answer):
            self.whole = True
            self._write(CopyWhole())  # before anything that leaves because of this answer
        return answer

    def hear(self, frame: CopyAnswered) -> None:
        """Receive an answer; drop it if nobody waits for it."""
        asked = self._asked
        if asked is not None and asked.id == frame.id and not asked.answered.done():
            asked.answered.set_result(frame.data)


class _Asked(NamedTuple):
    """A question without an answer so far, and its number."""

    question: KeeperQuestion
    id: int
    answered: asyncio.Future[bytes]
