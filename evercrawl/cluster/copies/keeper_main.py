"""The process on a machine of a cluster that holds second copies on its disk and answers partitions' questions."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import msgspec

from evercrawl.cluster.birth import FILE, ClusterBirth, part_directory, read_birth
from evercrawl.cluster.copies.folder_keeper import FolderKeeper
from evercrawl.cluster.wire import (
    ALIVE_S,
    BirthKept,
    BirthOlder,
    CopyAnswered,
    CopyAsked,
    CopyCheckAsked,
    CopyChecked,
    StopAsked,
    packed,
    read_frame,
)
from evercrawl.config import FILE_NAME
from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.keeper.folder import made
from evercrawl.store.keeper.messages import KeeperQuestion, KeeperRefusal
from evercrawl.store.keeper.restoring import hindrance

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from pathlib import Path


def hold_birth(copies: Path, files: Mapping[str, bytes]) -> int:
    """Write `cluster.json` and the settings beside the copies, so that a crawl can continue from there.

    Returns
    -------
    int
        0; if the `cluster.json` there is newer, its number of started processes, and nothing is written.

    Raises
    ------
    OSError, StoreError
        The files cannot be written.
    """
    made(copies)
    with contextlib.suppress(StoreError):  # there is no file yet, or it is damaged
        held, sent = read_birth(copies), json_of(files[FILE], ClusterBirth)
        if held.id == sent.id and held.lives > sent.lives:
            return held.lives
    with contextlib.closing(RealDisk(copies)) as disk:
        for name in (FILE, FILE_NAME):
            if name in files:
                disk.replace(name, [files[name]], private=True)
    return 0


async def keep_copies(copies: Path, line: socket.socket) -> None:
    """Hold second copies in a folder for the coordinator at `line`, until it asks to stop or disconnects."""
    reader, writer = await asyncio.open_connection(sock=line)
    keepers, tasks = dict[int, FolderKeeper](), dict[tuple[int, int], asyncio.Task[None]]()
    last = dict[int, CopyAnswered]()  # by partition; a repeated question is answered from here

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

    looked = dict[tuple[int, int], asyncio.Task[None]]()  # by number and id; a repeated check is not run twice

    async def look(frame: CopyCheckAsked) -> None:
        place, directory = part_directory(copies, frame.number), part_directory(copies.parent, frame.number)
        why = await asyncio.get_running_loop().run_in_executor(None, hindrance, place, directory, frame.life)
        if not writer.is_closing():
            writer.write(packed(CopyChecked(frame.number, frame.id, why)))

    owed: BirthKept | None = None
    trouble = ""  # why the birth cannot be written; then no copy is written either

    living = asyncio.ensure_future(live())
    try:
        while (frame := await read_frame(reader)) is not None and not isinstance(frame, StopAsked):
            owed = frame if isinstance(frame, BirthKept) else owed
            if owed is not None:  # before anything newer is written
                try:
                    older = await asyncio.get_running_loop().run_in_executor(None, hold_birth, copies, owed.files)
                    owed, trouble = None, ""
                    if older:
                        writer.write(packed(BirthOlder(older)))
                except (OSError, StoreError) as error:
                    trouble = f"{FILE} cannot be written beside the copies: {error}"
            if isinstance(frame, CopyAsked) and owed is not None:
                say(CopyAnswered(frame.number, frame.id, msgspec.msgpack.encode(KeeperRefusal(trouble))))
            elif isinstance(frame, CopyAsked):
                take(frame)
            elif isinstance(frame, CopyCheckAsked) and (frame.number, frame.id) not in looked:
                looked[frame.number, frame.id] = asyncio.ensure_future(look(frame))
    finally:
        for looking in (living, *looked.values()):
            looking.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)  # let pending writes finish
        for keeper in keepers.values():
            keeper.close()
        writer.close()
        with contextlib.suppress(OSError):  # the coordinator is gone
            await writer.wait_closed()
