"""A partition that moves between machines that are folders: what holds its process, and orders to it."""

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec

from evercrawl.cluster.birth import read_birth
from evercrawl.cluster.coordinator import Coordinator
from evercrawl.cluster.copies.node_copies import NodeCopies
from evercrawl.cluster.hauling.node_moves import NodeMoves
from evercrawl.cluster.moving.order import FILE, PartMove, read_move
from evercrawl.cluster.moving.part_moves import PartMoves
from evercrawl.config import Config
from evercrawl.model.stored.reader import opened
from evercrawl.progress import Limits
from evercrawl.store.disk.lock import Lock
from evercrawl.store.journal.events import Discovery, Found
from evercrawl.store.partition import Partition
from tests.cluster.folder_machines import FolderMachines
from tests.cluster.played import seen


def visit(directory: Path) -> None:
    """Let a partition find one more URL."""
    partition = Partition(directory, os.urandom, now=1000.0)
    number = partition.state.known.count
    known = partition.hasher.keys([f"http://{number}.example/"])
    partition.state.table.intern(known)
    found = Discovery(number, [f"http://{number}.example/"], [number], number, [f"{number}.example"])
    partition.state.admit(found, 1000.0, known)
    partition.remember(Found(1000.0, found))
    partition.journal.write(partition.journal.seal())
    partition.close()


def visits(directory: Path) -> int:
    """Return how many URLs a partition knows."""
    with contextlib.closing(opened(directory)) as partition:
        return sum(isinstance(event, Found) for _, _, event in partition.journal.replay())


class Crawling:
    """Holds the processes of partitions, which make a visit whenever they are begun and whenever they end."""

    def __init__(self, machines: FolderMachines) -> None:
        self.machines, self.made, self.runs, self.order = machines, 1, True, list[str]()
        self.reports = True
        self.lock: Lock | None = None

    def begin(self) -> None:
        directory = self.machines.directory(0)
        assert visits(directory) == self.made, "nothing is lost"
        visit(directory)
        self.made += 1
        self.lock = Lock.take(directory, "evercrawl crawl", 1e9)
        self.order.append(f"begun on {directory.parent.name}")

    async def rest(self, number: int) -> None:
        if self.lock is not None:
            self.lock.release()
            self.lock = None
        if self.machines.missing(0) == "":
            visit(self.machines.directory(0))
            self.made += 1
        self.order.append("ended")

    async def resume(self, number: int) -> None:
        if self.machines.missing(0) == "":
            self.begin()

    def well(self, number: int) -> bool:
        return self.reports


def fill(part: Path) -> None:
    """Put a file of each kind into a directory."""
    (part / "search" / "pages").mkdir(parents=True)
    (part / "search" / "pages" / ".managed.json").write_text("[1]")
    (part / "derived").mkdir()
    (part / "derived" / "links.bin").write_bytes(b"x" * 3000)
    (part / "cookies.json").write_text("{}")
    (part / "orders.jsonl").write_text("{}\n")
    with contextlib.closing(sqlite3.connect(part / "requisites.sqlite")) as made:
        made.execute("create table one (two)")
        made.execute("insert into one values (3)")
        made.commit()


def ids(machines: FolderMachines) -> dict[str, str]:
    return {disk.root.name: disk.id for disk in machines.there.values()}


def moves_of(
    directory: Path, machines: FolderMachines, holds: Crawling, said: list[str]
) -> tuple[PartMoves, NodeMoves]:
    now = [0.0]

    def clock() -> float:
        now[0] += 100.0
        return now[0]

    transfer = NodeMoves(directory, machines.birth, machines, said.append, clock)
    return PartMoves(directory, holds, said.append, transfer), transfer


@contextlib.asynccontextmanager
async def coordinated(
    directory: Path,
    machines: FolderMachines,
    tell: Callable[[str], None] = print,
    settings: Config = Config(),  # noqa: B008 - it never changes
    **moved: Any,
) -> AsyncIterator[Coordinator]:
    """Run a crawl by a coordinator, once all processes of its two partitions have heard something."""
    stop, birth = asyncio.Event(), machines.birth
    copies = NodeCopies(directory, birth, machines, tell)
    moves = NodeMoves(directory, birth, machines, tell, kept=settings.durable == "keeper", **moved)
    one = Coordinator(
        directory, birth, settings, (), Limits(), lambda said: tell(said.message), machines, copies, moves
    )
    running = asyncio.ensure_future(one.run(stop))
    try:
        await seen(lambda: running.done() or (len(machines.processes) > 1 and all(p.heard for p in machines.processes)))
        yield one
    finally:
        stop.set()
        await running


def order(directory: Path, number: int, goal: str) -> None:
    (directory / FILE).write_bytes(msgspec.json.encode(PartMove("a", number, goal)))


async def over(moves: PartMoves, directory: Path) -> PartMove:
    """Return what became of an order."""
    async with asyncio.timeout(10):
        while (move := read_move(directory)) is None or not move.done:
            moves.turn()
            await asyncio.sleep(0.002)
    await asyncio.sleep(0)
    return move


async def settled(moves: PartMoves, directory: Path) -> None:
    """Return once no old directory is to be set aside."""
    async with asyncio.timeout(10):
        while read_birth(directory).vacated:
            moves.turn()
            await asyncio.sleep(0.002)
