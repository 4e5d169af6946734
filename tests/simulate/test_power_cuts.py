"""The store on a disk that loses its power: what was acknowledged is there, whole, and nothing contradicts it."""

import random
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.state import compare
from evercrawl.errors import NoRoomError, StoreError
from evercrawl.simulate.surroundings.clock import Crash, run_virtual
from evercrawl.simulate.surroundings.disk import VirtualDisk
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.archive.warc import ArchiveEntry
from evercrawl.store.journal.events import HAS_LINKS, Discovery, Event, Found, Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Exchange, Outcome, Request

NOW = 1.7e9
FOLDER = Path("/made-up")


class Life:
    """One process: opens the directory, checks what it finds, then does this and that until it ends."""

    def __init__(self, disk: VirtualDisk, draw: random.Random, acknowledged: list[Event]) -> None:
        self.disk, self.draw, self.acknowledged = disk, draw, acknowledged
        self.now = NOW + len(acknowledged)
        self.partition = Partition(
            FOLDER, draw.randbytes, now=self.now, disk=disk, segment_bytes=draw.choice([2000, 20_000])
        )
        self.sealed: deque[tuple[Any, list[Event]]] = deque()  # waits for room
        self.events = [event for _, _, event in self.partition.journal.replay()]
        assert self.events[: len(acknowledged)] == acknowledged
        acknowledged[:] = self.events  # whatever was found once is there from now on

    async def live(self) -> None:
        for _ in range(60):
            deed = self.draw.choices([self.know, self.visit, self.save, self.snapshot, self.index], [3, 9, 3, 1, 1])[0]
            try:
                await deed()
            except NoRoomError:
                self.disk.capacity_bytes = None

    async def know(self) -> None:
        state, new_hosts = self.partition.state, []
        number = self.partition.state.known.count
        urls = [f"http://host-{self.draw.randrange(9)}.example/{number + i}" for i in range(self.draw.randint(1, 30))]
        fresh = state.hasher.keys(urls)
        slots, _ = state.table.intern(fresh)
        first_host = len(state.hosts)
        hosts = [state.host_number(url.split("/")[2], new_hosts) for url in urls]
        found = Discovery(int(slots[0]), urls, hosts, first_host, new_hosts)
        state.admit(found, self.now, fresh)
        self.remember(Found(self.now, found))

    async def visit(self) -> None:
        state = self.partition.state
        if not state.known.count:
            return
        slot = self.draw.randrange(state.known.count)
        index = state.record_of(slot)
        visits = 1 if index is None else int(state.records.rows[index]["visits"]) + 1
        body = self.draw.randbytes(self.draw.randrange(1, 6000))
        head = b"HTTP/1.1 200 OK\r\n\r\n"
        exchange = Exchange(
            Request(state.urls.get(slot)), self.now, 0.1, 200, b"GET / HTTP/1.1\r\n\r\n", head, body, body
        )
        archived = tuple(self.partition.archive.append([ArchiveEntry(exchange)])[0])
        host = int(state.known.row(slot)["host"])
        digest = self.draw.getrandbits(60)
        visit = Visit(slot, host, self.now, Outcome.OK, 200, HAS_LINKS, visits, digest=digest, archive=archived)
        self.remember(visit)

    def remember(self, event: Event) -> None:
        self.now += 1.0
        self.events.append(event)
        self.partition.remember(event)

    async def save(self) -> None:
        self.partition.flush()
        self.sealed.append((self.partition.journal.seal(), list(self.events)))
        self.partition.archive.sync()
        while self.sealed:
            batch, events = self.sealed[0]
            self.partition.journal.write(batch)
            self.acknowledged[:] = events
            self.sealed.popleft()

    async def snapshot(self) -> None:
        async def offload(function, *arguments: object) -> object:
            return function(*arguments)

        await self.partition.snapshot(self.save, offload)

    async def index(self) -> None:
        await self.save()
        self.partition.index_archive()


def strike(disk: VirtualDisk, draw: random.Random) -> None:
    """See to it that one of the next operations ends the process, and that another finds no room."""
    left, full = draw.randrange(1, 150), draw.randrange(1, 400)

    def before(operation: str, name: str) -> None:
        nonlocal left, full
        left, full = left - 1, full - 1
        if left == 0:
            raise Crash(f"{operation} {name}")
        if full == 0:
            disk.capacity_bytes = 0

    disk.before = before


def lives(seed, count=6) -> tuple[int, int]:
    """Live a few lives; return how many events were acknowledged, and in how many openings something was mended."""
    draw, acknowledged, mended = random.Random(seed), [], 0
    disk = VirtualDisk(draw, directory=FOLDER)
    for _ in range(count):
        disk.capacity_bytes = None
        try:
            strike(disk, draw)
            life = Life(disk, draw, acknowledged)
            mended += bool(life.partition.repairs)
            run_virtual(life.live())
        except (Crash, NoRoomError):
            pass
        disk.crash() if draw.random() < 0.7 else disk.kill()
        disk = disk.reopen()
        disk.capacity_bytes = None
        if disk.names():
            sound(disk, acknowledged)
    return len(acknowledged), mended


def sound(disk: VirtualDisk, acknowledged: list[Event]) -> None:
    """Open the directory as the next start would, and hold what it knows against the fold of the whole journal."""
    copy = disk.copy()
    partition = Partition(FOLDER, random.Random(1).randbytes, now=NOW + 1e6, disk=copy)
    events = [event for _, _, event in partition.journal.replay()]
    assert events[: len(acknowledged)] == acknowledged
    folded = Partition(
        FOLDER, random.Random(1).randbytes, now=NOW + 1e6, disk=copy.reader(), writable=False, fold_all=True
    )
    found = Findings()
    compare(partition.state, folded.state, found)
    assert found.wrong == []
    slots = range(folded.state.known.count)
    urls = [url for event in events if isinstance(event, Found) for url in event.found.urls]
    assert partition.state.urls.get_many(slots) == folded.state.urls.get_many(slots) == urls
    named = [event.archive for event in events if isinstance(event, Visit)]
    assert len(named) == len(set(named))
    assert all(partition.archive.whole(Pointer(*archive)) for archive in named)


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_what_was_acknowledged_survives_whatever_happens(start):
    """A failure names the seed: `lives(seed)` repeats it."""
    mended = 0
    for seed in range(start, start + 10):
        try:
            _, times = lives(seed)
        except BaseException as error:
            pytest.fail(f"seed {seed}: {type(error).__name__}: {error}")
        mended += times
    assert mended > 5


def test_a_disk_that_forgets_what_was_synced_is_found_out():
    class Forgetful(VirtualDisk):
        def sync(self, name: str) -> None:
            self.size(name)

    disk = Forgetful(random.Random(1), directory=FOLDER)
    acknowledged = []
    life = Life(disk, random.Random(1), acknowledged)
    run_virtual(life.live())
    run_virtual(life.save())
    disk.crash()
    with pytest.raises((AssertionError, StoreError)):
        sound(disk.reopen(), acknowledged)
