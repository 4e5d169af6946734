"""The process on a machine from or to which a partition moves, or from which it is backed up; it executes orders.

lend: serve the files of a partition; the answer is their size. lock: exclude other processes from them; unlock: no
longer. prepare: create the directory to which a partition moves, or continue with it, if the disk has room. copy:
update that directory; copy the rest: the same, unless something was removed since, so that it could take long.
finish: remove the mark of an unfinished copy. leave: set an old directory aside. clean: remove an unfinished copy.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from typing import TYPE_CHECKING

from evercrawl.cluster.birth import part_directory
from evercrawl.cluster.hauling.lending import Lending, taken
from evercrawl.cluster.hauling.remote_files import RemoteFiles
from evercrawl.cluster.moving.transfer import LAGS, bring_part, lags, mark_begun, marker
from evercrawl.cluster.moving.unfinished import remove_goal
from evercrawl.cluster.old_directory import move_away, set_aside
from evercrawl.cluster.wire import (
    ALIVE_S,
    FilesAsked,
    FilesTold,
    Frame,
    HaulAsked,
    HaulDone,
    StopAsked,
    packed,
    read_frame,
)
from evercrawl.errors import EvercrawlError, NoRoomError, StoreError
from evercrawl.store.backups.backup import BACKUP_FILE, MOVING
from evercrawl.store.disk.leaving import mark_leaving
from evercrawl.store.disk.moved import see_unmoved
from evercrawl.store.disk.trouble import in_words
from evercrawl.store.keeper.folder import made
from evercrawl.store.keeper.restoring import SPARE_BYTES

if TYPE_CHECKING:
    import socket
    from pathlib import Path


async def haul(root: Path, line: socket.socket) -> None:
    """Execute the orders that arrive over `line`, in the folder of this machine's partitions, until told to stop."""
    reader, writer = await asyncio.open_connection(sock=line)
    loop, tasks, busy = asyncio.get_running_loop(), set[asyncio.Task[None]](), set[int]()

    def say(frame: Frame) -> None:
        if not writer.is_closing():
            writer.write(packed(frame))

    def ask(asked: FilesAsked) -> None:
        loop.call_soon_threadsafe(say, asked)

    files = RemoteFiles(ask)
    hauling = _Hauling(root, files)

    async def do(frame: HaulAsked) -> None:
        busy.add(frame.id)
        try:
            say(HaulDone(frame.id, await loop.run_in_executor(None, hauling.do, frame)))
        except EvercrawlError as error:
            say(HaulDone(frame.id, trouble=str(error)))
        except OSError as error:
            say(HaulDone(frame.id, trouble=str(in_words(error, "write", root))))
        except Exception as error:  # unforeseen errors too: the caller gets an answer
            say(HaulDone(frame.id, trouble=f"{type(error).__name__}: {error}"))
        finally:
            busy.discard(frame.id)

    async def tell(frame: FilesAsked) -> None:
        try:
            say(FilesTold(frame.id, await loop.run_in_executor(None, hauling.told, frame)))
        except EvercrawlError as error:
            say(FilesTold(frame.id, b"", str(error)))
        except OSError as error:
            say(FilesTold(frame.id, b"", str(in_words(error, "read", root))))
        except Exception as error:  # as above
            say(FilesTold(frame.id, b"", f"{type(error).__name__}: {error}"))

    async def live() -> None:
        while True:
            await asyncio.sleep(ALIVE_S)
            if busy:
                say(HaulDone(0))

    living = asyncio.ensure_future(live())
    try:
        while (frame := await read_frame(reader)) is not None and not isinstance(frame, StopAsked):
            if isinstance(frame, FilesTold):
                files.hear(frame)
            elif isinstance(frame, (HaulAsked, FilesAsked)):
                task = asyncio.ensure_future(do(frame) if isinstance(frame, HaulAsked) else tell(frame))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
    finally:
        living.cancel()
        files.end()
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:  # also if it is cancelled meanwhile
            hauling.close()
            writer.close()
        with contextlib.suppress(OSError):  # the coordinator is gone
            await writer.wait_closed()


class _Hauling:
    """The work of one machine for moves; runs in threads."""

    def __init__(self, root: Path, files: RemoteFiles) -> None:
        self._root, self._files = root, files
        self._lending: Lending | None = None

    def told(self, asked: FilesAsked) -> bytes:
        if self._lending is None:
            raise StoreError("no files of this machine are being read")
        return self._lending.told(asked)

    def do(self, asked: HaulAsked) -> int:
        """Execute an order; return a count, such as the number of bytes."""
        goal = part_directory(self._root, asked.number)
        if asked.what == "lend":
            self.close()
            self._lending = Lending(self._root, asked.number)
            return self._lending.size()
        if asked.what == "lock" and self._lending is not None:
            self._lending.lock()
        elif asked.what == "prepare":
            *mark, life, size = asked.words
            _prepare(goal, mark, int(life), int(size))
        elif asked.what == "unlock" and self._lending is not None:
            self._lending.unlock()
        elif asked.what == "copy":
            return bring_part(self._files, asked.words[0], goal, lambda: None)
        elif asked.what == "copy the rest":  # in a pause
            rest = not lags(self._files, goal)
            return bring_part(self._files, asked.words[0], goal, lambda: None) if rest else LAGS
        elif asked.what == "finish":
            for name in (BACKUP_FILE, MOVING):
                (goal / name).unlink(missing_ok=True)
        elif asked.what == "clean":
            return int(remove_goal(goal, asked.words[0], asked.number))
        elif asked.what == "leave":
            set_aside(self._root, asked.number, asked.words[0], int(asked.words[1]))
        else:
            raise StoreError(f"the coordinator orders {asked.what!r}; install the same evercrawl on all machines")
        return 0

    def close(self) -> None:
        if self._lending is not None:
            self._lending.close()


def _prepare(goal: Path, mark: list[str], life: int, size: int) -> None:
    """Create the directory to which a partition moves; an interrupted copy of the same partition is continued.

    By `cluster.json` the partition is not here, so any other directory in its place is outdated and is moved away.
    Nothing is written if the disk has no room for the `size` bytes of the partition.
    """
    begun = goal.is_dir() and _begun(goal) == mark
    needed = max(size - taken(goal), 0) if begun else size
    if (free := shutil.disk_usage(goal if begun else goal.parent).free) < needed + SPARE_BYTES:
        raise NoRoomError(f"the disk of {goal} has no room: {free} bytes are free, and {needed} are needed")
    if not begun and goal.is_dir() and any(goal.iterdir()):
        move_away(goal, life)
    made(goal)
    mark_begun(goal, mark)
    mark_leaving(goal)


def _begun(goal: Path) -> list[str] | None:
    """Return the partition of the interrupted copy in a directory; None if there is no such copy."""
    try:
        see_unmoved(goal)
        return marker(goal)
    except (OSError, EvercrawlError):
        return None
