"""Cash as a fold: whatever happens, whenever it is saved, none is made or lost, and a replay has it to the last bit."""

import asyncio
import random
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.store.cash.transfers import Moved, pack, pack_numbers, rounded, unpack
from evercrawl.store.journal.codec import encode_slots
from evercrawl.store.journal.events import (
    HAS_LINKS,
    JOINS,
    KEEP,
    LEAVES,
    MEMBER,
    UNCHANGED,
    Discovery,
    Found,
    Lost,
    Passed,
    Switched,
    Visit,
)
from evercrawl.store.partition import Partition
from evercrawl.store.records.records import MEMBER as IS_MEMBER
from evercrawl.store.scheme import Scheme
from evercrawl.store.table.table import NO_RECORD, ROOT
from evercrawl.types import NO_SLOT, Outcome
from tests.helpers.small_blocks import small_blocks

BEGAN_AT = 1_700_000_000.0
SITES = 5


def site(host: str) -> str:
    return host.split(".", 1)[1]


class Anything:
    """A crawl to which anything happens that an event can say, with amounts that no scheme would think of."""

    def __init__(self, directory: Path, seed: int, *, handout: bool) -> None:
        self.directory, self.draw, self.begun = directory, random.Random(seed), Scheme("any", handout, 1.0, width=2)
        self.partition = self.opened()
        self.know(NO_SLOT, 1 + self.draw.randrange(3), depth=0)

    def opened(self, **how: bool) -> Partition:
        return Partition(self.directory, random.Random(1).randbytes, now=BEGAN_AT, site=site,
                         scheme=self.begun, **how)  # fmt: skip

    @property
    def handout(self) -> bool:
        return self.partition.state.scheme.handout

    def know(self, source: int, count: int, depth: int = 2) -> None:
        found = self.discover(source, count, depth)
        self.partition.remember(Found(BEGAN_AT, found))

    def discover(self, source: int, count: int, depth: int) -> Discovery:
        state, new_hosts = self.partition.state, list[str]()
        first, first_host, draw = state.known.count, len(state.hosts), self.draw
        hosts = [f"{draw.choice('ab')}.{draw.randrange(SITES)}.example" for _ in range(count)]
        urls = [f"http://{host}/{first + i}" for i, host in enumerate(hosts)]
        front = f"http://{hosts[0]}/"
        if state.find_one(front) == NO_SLOT:
            urls[0] = front
        fresh = state.hasher.keys(urls)
        state.table.intern(fresh)
        found = Discovery(first, urls, [state.host_number(host, new_hosts) for host in hosts], first_host, new_hosts,
                          source, depth)  # fmt: skip
        state.admit(found, BEGAN_AT, fresh)
        return found

    def step(self, *, may_lose: bool = False) -> None:
        """Let something happen.

        While a crawl is opened only, and never while a snapshot is written, a page is lost or the scheme another.
        """
        draw, state = self.draw, self.partition.state
        slot = draw.randrange(state.known.count)
        if may_lose and draw.random() < 0.1:
            self.partition.remember(Lost(slot, 0, BEGAN_AT, (0, 0, 1), "test"))
            return
        if may_lose and draw.random() < 0.05:
            trusted = draw.choice([(), ("1.example", "3.example")])
            scheme = Scheme("other", draw.random() < 0.5, 1.0, width=draw.randrange(3), trusted=trusted)
            self.partition.remember(Switched(BEGAN_AT, scheme))
            return
        if draw.random() < 0.1 and state.record_of(slot) is not None:
            self.pass_on(slot)
        self.visit(slot)

    def pass_on(self, slot: int) -> None:
        state = self.partition.state
        row = state.records.rows[state.record_of(slot)]
        moved = self.moved(slot, was=bool(row["flags"] & IS_MEMBER), back=False)
        self.partition.remember(Passed(slot, BEGAN_AT, int(row["event"]), pack(moved), self.kept()))

    def kept(self) -> bytes:
        return pack_numbers([self.draw.random() for _ in range(self.partition.state.scheme.width)])

    def visit(self, slot: int) -> None:
        draw, state = self.draw, self.partition.state
        cell = int(state.table.record[slot])
        index = state.lost.get(slot) if cell & NO_RECORD else cell
        row = state.records.rows[index] if index is not None else None
        was = bool(row["flags"] & IS_MEMBER) if row is not None else bool(cell & ROOT)
        before = int(row["event"]) if row is not None else 0
        new = draw.random() < 0.3
        found = self.discover(slot, draw.randrange(1, 6), 3) if new else None
        flags = HAS_LINKS if found or not before or draw.random() < 0.6 else UNCHANGED | KEEP
        stays = draw.random() < 0.7
        flags |= (MEMBER if stays else 0) | (JOINS if stays and not was else LEAVES if was and not stays else 0)
        links = self.links(slot) if flags & HAS_LINKS else {}
        transfer = b"" if draw.random() < 0.2 else pack(self.moved(slot, was=was, back=bool(before)))
        takes = bool(transfer) and (unpack(transfer).takes_back or not flags & HAS_LINKS)
        event = Visit(
            slot, int(state.known.row(slot)["host"]), BEGAN_AT, draw.choice([Outcome.OK, Outcome.GONE]), 200, flags,
            visits=1 if cell & NO_RECORD else int(row["visits"]) + 1, digest=slot + 1, found=found, transfer=transfer,
            links=before if takes else 0, kept=self.kept() if transfer else b"", **links,
        )  # fmt: skip
        self.partition.remember(event)

    def links(self, slot: int) -> dict[str, object]:
        known = self.partition.state.known.count
        targets = sorted(set(self.draw.choices(range(known), k=self.draw.randrange(12))) - {slot})
        bits = np.packbits(np.array([self.draw.random() < 0.3 for _ in targets], np.bool_), bitorder="little").tobytes()
        alias = self.draw.randrange(known) if self.draw.random() < 0.1 else NO_SLOT
        return {"targets": encode_slots(np.array(targets, np.uint32)), "external": bits, "out": len(targets),
                "alias": alias}  # fmt: skip

    def moved(self, slot: int, *, was: bool, back: bool) -> Moved:
        """Return any amounts; where there is cash of 1 in all, a page gives no more than it has."""
        draw, state = self.draw, self.partition.state
        cash = float(state.table.cash[slot])
        if was:
            cash += state.accounts.share(int(state.site_of[int(state.known.row(slot)["host"])]))
        own = rounded(max(cash, 0.0) if self.handout else draw.uniform(-0.2, 0.2))
        low, high = (0.0, own / 12) if self.handout else (-0.1, 0.1)
        amounts = [rounded(draw.uniform(low, high)) for _ in range(4)]
        return Moved(draw.uniform(0, 9), 0.0, own, *amounts[: 4 if back and not self.handout else 2])

    def save(self) -> None:
        self.partition.flush()
        self.partition.journal.write(self.partition.journal.seal())

    def snapshot(self, between: int = 0) -> None:
        """Write a snapshot; so many steps are taken after each piece."""

        async def commit() -> None:
            self.save()

        async def offload(function: Callable[..., object], *arguments: object) -> object:
            if function.__name__ == "append":
                for _ in range(between):
                    self.step()
            return function(*arguments)

        asyncio.run(self.partition.snapshot(commit, offload))

    def restart(self) -> None:
        self.save()
        self.partition.close()
        self.partition = self.opened()
        assert self.partition.repairs == []


def same(one: Partition, other: Partition, *, exactly: bool) -> None:
    known, records = one.state.known.count, one.state.records.count
    assert (known, records) == (other.state.known.count, other.state.records.count)
    cells, others = one.state.table.cash[:known], other.state.table.cash[:known]
    if exactly:
        assert one.state.accounts.save() == other.state.accounts.save()
    if exactly or not one.state.accounts.handout:
        assert cells.tobytes() == others.tobytes()
    assert cells.tolist() == pytest.approx(others.tolist(), rel=1e-5, abs=1e-6)
    assert one.state.accounts.held() == pytest.approx(other.state.accounts.held(), abs=1e-5)
    mine, theirs = (state.accounts.sites["members"][: state.accounts.count] for state in (one.state, other.state))
    assert mine.tolist() == theirs.tolist()
    rows, others = one.state.records.rows[:records], other.state.records.rows[:records]
    assert all((rows[name] == others[name]).all() for name in rows.dtype.names)
    assert one.state.lost == other.state.lost
    assert one.state.scheme == other.state.scheme
    assert one.state.records.kept[:records].tolist() == other.state.records.kept[:records].tolist()
    assert one.state.accounts.total == pytest.approx(other.state.accounts.total)
    assert +one.state.outcomes == +other.state.outcomes


@pytest.mark.parametrize("handout", [False, True])
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 1 << 32), steps=st.lists(st.sampled_from("....s.r"), max_size=25))
def test_nothing_is_made_or_lost(handout, seed, steps):
    """`.`: some events; `s`: a snapshot, while they go on; `r`: a restart from it."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        crawl = Anything(Path(folder), seed, handout=handout)
        for step in steps:
            if step == "s":
                crawl.snapshot(between=crawl.draw.randrange(3))
            elif step == "r":
                crawl.restart()
            else:
                for _ in range(4):
                    crawl.step(may_lose=True)
                    assert abs(crawl.partition.state.cashbook.owed()) < 1e-9
        crawl.save()
        with (
            closing(crawl.partition) as live,
            closing(crawl.opened(writable=False, fold_all=True)) as folded,
            closing(crawl.opened(writable=False)) as restored,
        ):
            assert restored.repairs == []
            assert abs(folded.state.cashbook.owed()) < 1e-9
            assert abs(restored.state.cashbook.owed()) < 1e-9
            same(live, folded, exactly="r" not in steps or "s" not in steps)
            same(restored, folded, exactly=False)


def test_within_a_batch_what_is_found_later_has_no_part_in_what_went_before(tmp_path):
    """Slots are given to all new URLs of a batch before the first of its events is folded."""
    crawl = Anything(tmp_path, 1, handout=True)
    state = crawl.partition.state
    first, second = (crawl.discover(0, 1, 0) for _ in range(2))
    for found in (first, second):
        event = Visit(0, 0, BEGAN_AT, Outcome.OK, 200, HAS_LINKS, 1 + (found is second), found=found,
                      transfer=pack(Moved(0.0, 0.0, 0.25, 0.0, 0.0)))  # fmt: skip
        crawl.partition.remember(event)
    crawl.save()
    folded = crawl.opened(writable=False, fold_all=True)
    same(crawl.partition, folded, exactly=True)
    assert state.accounts.share(int(state.site_of[first.hosts[0]])) > 0
    folded.close()
    crawl.partition.close()
