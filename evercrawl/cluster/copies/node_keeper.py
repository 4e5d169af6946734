"""A partition's line to the keeper of its second copy on another machine.

Questions and answers go through the coordinator, as everything between partitions does. It does not decode them.
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
"""For so long an answer is waited for; then the same is asked again."""


class NodeKeeper:
    """Asks the keeper of a second copy on another machine; see `evercrawl.crawl.posting.carrier.KeeperLine`.

    Parameters
    ----------
    number, incarnation
        Which partition, and which life of it: no two lives ask by the same numbers.
    place
        Where the copy is, in words.
    write
        Sends a frame to the coordinator.

    Attributes
    ----------
    place
        Where it is, in words.
    whole
        Whether it has had all that counts since this process began.
    """

    def __init__(self, number: int, incarnation: int, place: str, write: Callable[[Frame], None]) -> None:
        self.place, self.whole = place, False
        self._number, self._write, self._ids = number, write, count((incarnation << 32) + 1)
        self._asked: _Asked | None = None

    async def ask(self, question: KeeperQuestion) -> KeeperAnswer | None:
        """Return the answer; None where none comes in time.

        If the same is asked again next, an answer to the first question counts, whenever it comes: a large copy takes
        the keeper long to read, and it does not read it again for that.
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
        """Take an answer in; one that is waited for no more is dropped."""
        asked = self._asked
        if asked is not None and asked.id == frame.id and not asked.answered.done():
            asked.answered.set_result(frame.data)


class _Asked(NamedTuple):
    """A question that was not answered yet, under its number."""

    question: KeeperQuestion
    id: int
    answered: asyncio.Future[bytes]
