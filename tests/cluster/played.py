"""Processes of partitions that say what they are told to say, for tests of whoever runs a crawl."""

import asyncio
import socket
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from evercrawl.cluster.birth import part_directories
from evercrawl.cluster.plan import PartPlan
from evercrawl.cluster.wire import (
    CeilingShared,
    Frame,
    LeaveAsked,
    Mailed,
    PagesAllowed,
    PartReport,
    packed,
    read_frame,
)


class Played:
    """A process of a partition that says what it is to, and keeps what it hears."""

    gone = True

    def __init__(self, plan: PartPlan) -> None:
        self.plan, self.number, self.ours = plan, plan.share.number, socket.socketpair()
        self.heard, self.killed = list[Frame](), asyncio.Event()
        self.hangs, self.used, self.reports, self.kept = False, 1.0, True, False
        self.joins_after_s, self.wants = 0.0, 5  # pages
        self.mails: int | None = None  # another partition
        self.says = list[Frame]()  # once
        self.conditions: dict[str, object] = {}  # of its reports
        self._talking = asyncio.ensure_future(self._talk())

    async def connected(self):
        await asyncio.sleep(self.joins_after_s)
        return await asyncio.open_connection(sock=self.ours[0])

    async def ended(self) -> str:
        await self.killed.wait()
        self._talking.cancel()
        return "killed"

    def kill(self) -> None:
        self.killed.set()

    async def _talk(self) -> None:
        reader, writer = await asyncio.open_connection(sock=self.ours[1])
        listening, ceiling = asyncio.ensure_future(self._listen(reader)), 1.0
        try:
            while True:
                if self.heard and not self.hangs:
                    while self.says:
                        writer.write(packed(self.says.pop()))
                    if self.mails is not None:
                        writer.write(packed(Mailed(self.mails, b"a letter")))
                    shares = [frame.part for frame in self.heard if isinstance(frame, CeilingShared)]
                    ceiling = shares[-1] if shares else ceiling
                    pages = [frame.visits for frame in self.heard if isinstance(frame, PagesAllowed)] or [0]
                    visits = self.wants if pages[-1] < 0 else min(self.wants, pages[-1])
                    writer.write(packed(LeaveAsked(time.monotonic())))
                    report = PartReport(
                        7, 0, 1, 3, visits, allowed=pages[-1], at_rest=visits == self.wants,
                        used=self.used * ceiling, ceiling=ceiling, pid=70 + self.number, kept=self.kept,
                    )  # fmt: skip
                    if self.reports:
                        writer.write(packed(msgspec.structs.replace(report, **self.conditions)))
                await asyncio.sleep(0.02)
        finally:
            listening.cancel()
            writer.close()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while (frame := await read_frame(reader)) is not None:
            await seen(lambda: not self.hangs)
            self.heard.append(frame)


class PlayedLauncher:
    """Begins played processes; `prepare` is told of each."""

    def __init__(self, directory: Path, prepare: Callable[[Played], None] = lambda _: None) -> None:
        self.directory_of_all, self.processes, self.prepare = directory, list[Played](), prepare
        self.lives, self.looks = list[int](), 0

    def look(self) -> None:
        self.looks += 1

    def missing(self, number: int) -> str:
        return ""

    def directory(self, number: int) -> Path:
        return part_directories(self.directory_of_all)[number]

    def where(self, number: int) -> str:
        return "box"

    def launch(self, plan: PartPlan) -> Played:
        plan.directory.mkdir(exist_ok=True)
        if not (plan.directory / "crawl.json").exists():
            (plan.directory / "crawl.json").write_text("{}")  # as far as anybody looks, it has a crawl
        self.lives.append(plan.incarnation)
        self.processes.append(Played(plan))
        self.prepare(self.processes[-1])
        return self.processes[-1]


async def seen(what: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not what():  # noqa: ASYNC110 - it is the process beside that changes
            await asyncio.sleep(0.01)
