"""Second copies on the disks of other machines: a partition's line to its keeper there, and the keeper's process.

Questions and answers go through the coordinator, as everything between partitions does. It is not in their secret: it
carries them as bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
from itertools import count
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.cluster.birth import FILE, ClusterBirth, part_directory, read_birth
from evercrawl.cluster.folder_keeper import FolderKeeper
from evercrawl.cluster.wire import (
    BirthKept,
    BirthOlder,
    CopyAnswered,
    CopyAsked,
    CopyFound,
    CopyLooked,
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
from evercrawl.store.keeper.messages import KeeperAnswer, KeeperDone, KeeperQuestion, KeeperStep
from evercrawl.store.keeper.restoring import hindrance

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping
    from pathlib import Path

ANSWERED_S: Final = 10.0
"""For so long an answer is waited for; then the same is asked again."""


class NodeKeeper:
    """Asks the keeper of a second copy on another machine; see `evercrawl.crawl.posting.carrier.KeeperLine`.

    Parameters
    ----------
    number, place
        Which partition; where the copy is, in words.
    write
        Sends a frame to the coordinator.

    Attributes
    ----------
    place
        Where it is, in words.
    whole
        Whether it has had all that counts since this process began.
    """

    def __init__(self, number: int, place: str, write: Callable[[Frame], None]) -> None:
        self.place, self.whole = place, False
        self._number, self._write, self._ids = number, write, count(1)
        self._awaited: tuple[int, asyncio.Future[bytes]] | None = None

    async def ask(self, question: KeeperQuestion) -> KeeperAnswer | None:
        """Return the answer; None where none comes."""
        asked, answered = next(self._ids), asyncio.get_running_loop().create_future()
        self._awaited = asked, answered
        self._write(CopyAsked(self._number, asked, msgspec.msgpack.encode(question)))
        try:
            async with asyncio.timeout(ANSWERED_S):
                answer: KeeperAnswer = msgspec.msgpack.decode(await answered, type=KeeperAnswer)
        except TimeoutError:
            return None
        if isinstance(question, KeeperStep) and isinstance(answer, KeeperDone) and answer.upto == question.number:
            self.whole = self.whole or question.whole
        return answer

    def hear(self, frame: CopyAnswered) -> None:
        """Take an answer in; one that is waited for no more is dropped."""
        if self._awaited is not None and self._awaited[0] == frame.id and not self._awaited[1].done():
            self._awaited[1].set_result(frame.data)


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
    keepers, tasks = dict[int, FolderKeeper](), set[asyncio.Task[None]]()

    async def answer(frame: CopyAsked) -> None:
        if frame.number not in keepers:
            keepers[frame.number] = FolderKeeper(part_directory(copies, frame.number))
        question: KeeperQuestion = msgspec.msgpack.decode(frame.data, type=KeeperQuestion)
        answered = await keepers[frame.number].ask(question)
        if not writer.is_closing():
            writer.write(packed(CopyAnswered(frame.number, frame.id, msgspec.msgpack.encode(answered))))

    looked = dict[tuple[int, int], asyncio.Task[None]]()  # by number and id: the same is not looked through twice

    async def look(frame: CopyLooked) -> None:
        place, directory = part_directory(copies, frame.number), part_directory(copies.parent, frame.number)
        why = await asyncio.get_running_loop().run_in_executor(None, hindrance, place, directory, frame.life)
        if not writer.is_closing():
            writer.write(packed(CopyFound(frame.number, frame.id, why)))

    owed: BirthKept | None = None  # while it cannot be written, copies cannot either, and say so

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
                task = asyncio.ensure_future(answer(frame))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            elif isinstance(frame, CopyLooked) and (frame.number, frame.id) not in looked:
                looked[frame.number, frame.id] = asyncio.ensure_future(look(frame))
    finally:
        for looking in looked.values():
            looking.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)  # what is being written is written to its end
        for keeper in keepers.values():
            keeper.close()
        writer.close()
        with contextlib.suppress(OSError):  # the coordinator is gone
            await writer.wait_closed()
