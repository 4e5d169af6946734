"""Snapshots by blocks: what they cost, what of them is kept, and what older and damaged ones come to."""

import asyncio
import random
import shutil
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.codec import encode_slots
from evercrawl.store.journal.events import DATE_TRUE, HAS_LINKS, Discovery, Found, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.snapshots import blocklog, snapshot
from evercrawl.store.snapshots.blocklog import BlockLog, ColumnSize
from evercrawl.store.snapshots.frames import frames, numbers
from evercrawl.types import Outcome
from tests.helpers.small_blocks import small_blocks

EPOCH = 1.7e9
OLDER = Path(__file__).parents[1] / "data" / "version8"


def opened(folder: Path, **options: object) -> Partition:
    return Partition(folder, random.Random(1).randbytes, now=EPOCH, site=lambda name: name.partition(".")[2], **options)


def filled(folder: Path, pages: int) -> Partition:
    """Return a crawl that knows so many pages on a hundred hosts, and has read all of them once."""
    made = opened(folder)
    state, new = made.state, list[str]()
    urls = [f"http://h{i % 100}.s{i % 100}.example/{i}" for i in range(pages)]
    fresh = state.hasher.keys(urls)
    state.table.intern(fresh)
    found = Discovery(0, urls, [state.host_number(url.split("/")[2], new) for url in urls], 0, new)
    state.admit(found, EPOCH, fresh)
    made.remember(Found(EPOCH, found))
    for slot in range(pages):
        visit(made, slot)
    return made


def visit(made: Partition, slot: int, visits: int = 1) -> None:
    targets = encode_slots(np.array([slot + 1], np.uint32))
    digest = (slot * 2654435761 + visits * 40503) % (1 << 60) + 1
    made.remember(Visit(slot, slot % 100, EPOCH + slot, Outcome.OK, 200, HAS_LINKS, visits, digest=digest,
                        simhash=digest, targets=targets))  # fmt: skip


def save(made: Partition) -> int:
    """Write a snapshot; return the bytes of all files of blocks."""

    async def commit() -> None:
        made.flush()
        made.journal.write(made.journal.seal())

    async def offload(function, *arguments: object) -> object:
        return function(*arguments)

    asyncio.run(made.snapshot(commit, offload))
    return sum(made.disk.size(name) for name in made.disk.names("blocks-"))


def test_the_second_snapshot_costs_what_changed(tmp_path):
    with closing(filled(tmp_path, 20_000)) as made:
        whole = save(made)
        for slot in range(500, 510):
            visit(made, slot, 2)
        assert save(made) - whole < whole / 50


def same(one: Partition, other: Partition) -> None:
    mine, theirs = one.state, other.state
    assert (list(mine.hosts), list(mine.sites)) == (list(theirs.hosts), list(theirs.sites))
    assert mine.records.rows[: mine.records.count].tolist() == theirs.records.rows[: theirs.records.count].tolist()
    for column, count in (("cash", mine.known.count), ("record", mine.known.count)):
        assert getattr(mine.table, column)[:count].tolist() == getattr(theirs.table, column)[:count].tolist()
    sites = slice(mine.accounts.count)
    assert mine.accounts.sites[sites].tolist() == theirs.accounts.sites[sites].tolist()
    assert mine.site_of[: len(mine.hosts)].tolist() == theirs.site_of[: len(theirs.hosts)].tolist()
    assert (mine.away, mine.wished, mine.visits) == (theirs.away, theirs.wished, theirs.visits)


def test_what_is_written_to_while_due_blocks_are_looked_for_is_not_counted_twice(tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    monkeypatch.setattr(blocklog, "MANY_BLOCKS", 0)
    with closing(filled(tmp_path, 300)) as made:
        during, last = iter(range(200)), 0

        async def offload(function, *arguments: object) -> object:
            found = function(*arguments)
            if getattr(function, "__name__", "") == "due":
                for slot in (next(during), next(during), last - 100):
                    made.remember(
                        Visit(slot, slot % 100, EPOCH + 900, Outcome.ERROR, 503, DATE_TRUE, 2, retry_at=EPOCH + 1e4)
                    )
            return found

        async def commit() -> None:
            made.flush()
            made.journal.write(made.journal.seal())

        for slot in range(290, 300):
            last = slot
            made.remember(Visit(slot - 100, slot % 100, EPOCH + 800, Outcome.ERROR, 503, DATE_TRUE, 2))
            visit(made, slot, 2)
            asyncio.run(made.snapshot(commit, offload))
        assert next(during) == 20, "it was looked for beside the loop"
        with (
            closing(opened(tmp_path, writable=False)) as again,
            closing(opened(tmp_path, writable=False, fold_all=True)) as folded,
        ):
            assert again.repairs == []
            same(again, made)
            same(again, folded)


@pytest.mark.parametrize("rules", [0, 7])
def test_files_stay_few_and_in_proportion_through_many_runs(tmp_path, monkeypatch, rules):
    """Ten runs with some snapshots each: what is of no use any more is deleted, and a start has the same as before."""
    small_blocks(monkeypatch)
    with closing(filled(tmp_path, 300)) as made:
        save(made)
    sizes, draw = [], random.Random(5)
    for _ in range(10):
        with closing(opened(tmp_path, site_rules=rules)) as made:
            assert made.repairs == []
            for _ in range(6):
                for slot in draw.sample(range(made.state.records.count or 1), min(made.state.records.count, 9)):
                    visit(made, slot, int(made.state.records.rows["visits"][made.state.record_of(slot)]) + 1)
                sizes.append(save(made))
            with (
                closing(opened(tmp_path, writable=False)) as again,
                closing(opened(tmp_path, writable=False, fold_all=True)) as folded,
            ):
                assert again.repairs == []
                same(again, made)
                same(again, folded)
    assert max(sizes[20:]) < 5 * sizes[0]


def test_one_of_version_8_is_read(tmp_path):
    """The kept crawl was written by the version before; its last five visits are in the journal only."""
    folder = tmp_path / "crawl"
    shutil.copytree(OLDER, folder)
    with closing(opened(folder)) as made, closing(opened(folder, writable=False, fold_all=True)) as folded:
        assert made.repairs == []
        assert (made.state.visits, list(made.state.sites)) == (45, ["one.example", "two.example"])
        same(made, folded)
        assert made.state.away == {7 % 2: 1.8e9}
        save(made)
        with closing(opened(folder, writable=False)) as again:
            assert snapshot.read(again.disk, snapshot.names(again.disk)[0]).older is None
            same(again, folded)


def test_without_the_journal_one_of_version_8_still_says_so(tmp_path):
    """It is the snapshot that is read: what it holds is not folded from the journal again."""
    folder = tmp_path / "crawl"
    shutil.copytree(OLDER, folder)
    loaded, troubles = snapshot.load(RealDisk(folder))
    assert troubles == []
    assert (loaded.head.known, loaded.head.records, loaded.head.sequence) == (100, 40, 41)


@pytest.mark.parametrize("how", ["flip", "cut", "gone"])
def test_damaged_blocks_give_way_to_the_journal(tmp_path, how):
    with closing(filled(tmp_path, 300)) as made:
        save(made)
        path = tmp_path / made.disk.names("blocks-")[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(data if how == "flip" else data[: len(data) // 2])
    with closing(opened(tmp_path)) as again:
        assert any("damaged" in repair for repair in again.repairs)
        assert again.state.visits == 300
        save(again)
    with closing(opened(tmp_path)) as last:
        assert last.repairs == []


def test_what_a_kill_left_of_a_snapshot_is_nobodys(tmp_path):
    """Blocks that no manifest names: the next run begins a file of its own, and deletes them."""
    with closing(filled(tmp_path, 300)) as made:
        save(made)
    (torn,) = RealDisk(tmp_path).names("blocks-")
    with (tmp_path / torn).open("ab") as file:
        file.write(b"torn" * 99)
    (tmp_path / "blocks-00000009.bin").write_bytes(b"never named")
    with closing(opened(tmp_path)) as again:
        assert again.repairs == []
        visit(again, 3, 2)
        save(again)
        assert numbers(again.disk, "blocks") == [1, 10]


def test_a_log_cleans_its_oldest_file(tmp_path, monkeypatch):
    monkeypatch.setattr("evercrawl.store.snapshots.blocklog.SEGMENT_BYTES", 1000)
    monkeypatch.setattr("evercrawl.store.snapshots.blocklog.LEAST_BYTES", 200)
    log, sizes = BlockLog(RealDisk(tmp_path), "blocks"), {"cash": ColumnSize(100, 50)}
    draw, held = random.Random(1), {}
    for turn in range(60):
        changed = np.array(sorted(draw.sample(range(100), 5)), np.uint32)
        for block in log.due(sizes, {"cash": changed})["cash"].tolist():
            if block in changed or block not in held:
                held[block] = draw.randbytes(50)
            log.append("cash", np.array([block], np.uint32), held[block], turn)
        named = log.end(sizes)
        log.forget(named)
    files = numbers(RealDisk(tmp_path), "blocks")
    assert files[0] > 20
    assert len(files) < 30
    last = {int(frame.blocks[0]): frame for frame in frames(RealDisk(tmp_path), "blocks", named)}
    assert sorted(last) == list(range(100))
