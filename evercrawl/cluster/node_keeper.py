"""Second copies on the disks of other machines: a partition's line to its keeper there, and the keeper's process.

Questions and answers go through the coordinator, as everything between partitions does. It is not in their secret: it
carries them as bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from evercrawl.cluster.birth import FILE, ClusterBirth, part_directory, read_birth
from evercrawl.cluster.folder_keeper import FolderKeeper, makes_whole
from evercrawl.cluster.wire import (
    BirthKept,
    BirthOlder,
    CopyAnswered,
    CopyAsked,
    CopyFound,
    CopyLooked,
    CopyWhole,
    Frame,
    StopAsked,
    packed,
    read_frame,
)
from evercrawl.config import FILE_NAME
from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.keeper.folder import made
from evercrawl.store.keeper.messages import KeeperAnswer, KeeperQuestion
from evercrawl.store.keeper.restoring import hindrance

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping
    from pathlib import Path

ANSWERED_S: Final = 10.0
"""For so long an answer is waited for; then the same is asked again."""
ALIVE_S: Final = 2.0
"""How often the process of a keeper says that it is still at it, while somebody waits for an answer."""


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


def hold_birth(copies: Path, files: Mapping[str, bytes]) -> int:
    """Write beside the copies what the directory of all partitions says of itself, so that a crawl can go on from it.

    Returns
    -------
    int
        0; where what is held is newer, how many processes had been begun then: nothing is written.

    Raises
    ------
    OSError, StoreError
        It cannot be written.
    """
    made(copies)
    with contextlib.suppress(StoreError):  # there is none yet, or it is damaged
        held, sent = read_birth(copies), json_of(files[FILE], ClusterBirth)
        if held.id == sent.id and held.lives > sent.lives:
            return held.lives
    with contextlib.closing(RealDisk(copies)) as disk:
        for name in (FILE, FILE_NAME):
            if name in files:
                disk.replace(name, [files[name]], private=True)
    return 0


async def keep_copies(copies: Path, line: socket.socket) -> None:
    """Hold the second copies of partitions in a folder for whoever asks over `line`, until that says stop, or ends."""
    reader, writer = await asyncio.open_connection(sock=line)
    keepers, tasks = dict[int, FolderKeeper](), dict[tuple[int, int], asyncio.Task[None]]()
    last = dict[int, CopyAnswered]()  # of each partition: what is asked again is not done again

    def say(answered: CopyAnswered) -> None:
        if not writer.is_closing():
            writer.write(packed(answered))

    async def answer(frame: CopyAsked) -> None:
        if frame.number not in keepers:
            keepers[frame.number] = FolderKeeper(part_directory(copies, frame.number))
        question: KeeperQuestion = msgspec.msgpack.decode(frame.data, type=KeeperQuestion)
        answered = await keepers[frame.number].ask(question)
        last[frame.number] = CopyAnswered(frame.number, frame.id, msgspec.msgpack.encode(answered))
        say(last[frame.number])

    def take(frame: CopyAsked) -> None:
        asked = frame.number, frame.id
        if frame.number in last and last[frame.number].id == frame.id:
            say(last[frame.number])
        elif asked not in tasks:
            tasks[asked] = asyncio.ensure_future(answer(frame))
            tasks[asked].add_done_callback(lambda _: tasks.pop(asked, None))

    async def live() -> None:
        while True:
            await asyncio.sleep(ALIVE_S)
            if tasks:
                say(CopyAnswered(*next(iter(tasks)), b""))

    looked = dict[tuple[int, int], asyncio.Task[None]]()  # by number and id: the same is not looked through twice

    async def look(frame: CopyLooked) -> None:
        place, directory = part_directory(copies, frame.number), part_directory(copies.parent, frame.number)
        why = await asyncio.get_running_loop().run_in_executor(None, hindrance, place, directory, frame.life)
        if not writer.is_closing():
            writer.write(packed(CopyFound(frame.number, frame.id, why)))

    owed: BirthKept | None = None  # while it cannot be written, copies cannot either, and say so

    living = asyncio.ensure_future(live())
    try:
        while (frame := await read_frame(reader)) is not None and not isinstance(frame, StopAsked):
            owed = frame if isinstance(frame, BirthKept) else owed
            if owed is not None:  # before anything is written that is newer
                with contextlib.suppress(OSError, StoreError):
                    older = await asyncio.get_running_loop().run_in_executor(None, hold_birth, copies, owed.files)
                    owed = None
                    if older:
                        writer.write(packed(BirthOlder(older)))
            if isinstance(frame, CopyAsked):
                take(frame)
            elif isinstance(frame, CopyLooked) and (frame.number, frame.id) not in looked:
                looked[frame.number, frame.id] = asyncio.ensure_future(look(frame))
    finally:
        for looking in (living, *looked.values()):
            looking.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)  # what is being written is written to its end
        for keeper in keepers.values():
            keeper.close()
        writer.close()
        with contextlib.suppress(OSError):  # the coordinator is gone
            await writer.wait_closed()
