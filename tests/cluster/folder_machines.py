"""Machines of a cluster that are folders; what runs on them is the shipped code, in this process."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from evercrawl.cluster.birth import ClusterBirth
from evercrawl.cluster.copies.keeper_main import keep_copies
from evercrawl.cluster.disks import PartDisk, disk_here
from evercrawl.cluster.hauling.haul_main import haul
from tests.cluster.played import PlayedLauncher


class ProcessHere:
    """A process of a machine, in this one: what it does is given its end of a line."""

    gone = True

    def __init__(self, does: Callable[[socket.socket], Coroutine[Any, Any, None]]) -> None:
        self.ours, theirs = socket.socketpair()
        self.task = asyncio.ensure_future(does(theirs))
        self.writer: asyncio.StreamWriter | None = None

    async def connected(self):
        reader, self.writer = await asyncio.open_connection(sock=self.ours)
        return reader, self.writer

    async def ended(self) -> str:
        await asyncio.wait([self.task])
        return "ended"

    def kill(self) -> None:
        self.task.cancel()
        if self.writer is None:
            self.ours.close()

    async def cut(self) -> None:
        """Let the other end of its line be gone, and wait until it has ended."""
        if self.writer is not None:
            self.writer.transport.abort()
        await asyncio.wait([self.task])


class FolderMachines(PlayedLauncher):
    """Machines that are folders, of which some are there."""

    def __init__(self, folder: Path, birth: ClusterBirth, names: str) -> None:
        super().__init__(folder)
        self.birth, self.there, self.kept = birth, dict[str, PartDisk](), list[ProcessHere]()
        self.hauls = list[ProcessHere]()
        for name in names:
            self.add(folder / name)

    def add(self, root: Path) -> str:
        root.mkdir()
        disk = disk_here(root, "c")
        self.there[disk.id] = disk
        return disk.id

    def missing(self, number: int) -> str:
        return "" if self.birth.places[number] in self.there else f"partition {number} waits"

    def directory(self, number: int) -> Path:
        return self.there[self.birth.places[number]].part(number)

    def where(self, number: int) -> str:
        return "box" if self.missing(number) == "" else ""

    def disks(self) -> dict[str, PartDisk]:
        return self.there

    def keep(self, disk: str, life: int) -> ProcessHere:
        copies = self.there[disk].copy(0).parent
        copies.parent.mkdir(exist_ok=True)
        self.kept.append(ProcessHere(lambda line: keep_copies(copies, line)))
        return self.kept[-1]

    def haul(self, disk: str, life: int) -> ProcessHere:
        root = self.there[disk].root
        self.hauls.append(ProcessHere(lambda line: haul(root, line)))
        return self.hauls[-1]

    def address(self, disk: str) -> str:
        return self.there[disk].root.name
