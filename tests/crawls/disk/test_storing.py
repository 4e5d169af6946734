"""Commits and snapshots beside a crawl: never two at once, and a start from any of them is the fold of the journal."""

import asyncio
import threading
from collections import Counter

import pytest
from soak import in_soak

from evercrawl.crawl import storing
from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import MadeWeb
from evercrawl.store.disk import stamped
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.snapshots import snapshot
from tests.helpers.small_blocks import small_blocks

HOSTS = tuple(f"http://h{i}.example" for i in range(6))
SEEDS = [f"{origin}/" for origin in HOSTS]
NAMES = {f"h{i}.example": [f"8.8.4.{i + 1}"] for i in range(6)}
WEB = MadeWeb(seed=3, origins=HOSTS, pages=40, change_every_s=40.0, changing=3)


@pytest.fixture
def small_pieces(monkeypatch):
    small_blocks(monkeypatch)


class Slow:
    """Slow work that takes time, in which the crawl goes on; counts how many calls of a function overlap."""

    def __init__(self, lasts_s: float) -> None:
        self.lasts_s = lasts_s
        self.under_way: Counter[str] = Counter()
        self.most: Counter[str] = Counter()

    async def __call__(self, function, *arguments: object) -> object:
        name = getattr(function, "func", function).__name__  # a partial has the name of its function
        self.under_way[name] += 1
        self.most[name] = max(self.most[name], self.under_way[name])
        try:
            await asyncio.sleep(self.lasts_s)
            found = function(*arguments)
            await asyncio.sleep(self.lasts_s)
        finally:
            self.under_way[name] -= 1
        return found


def fetched_once(ran, web):
    return ran.pages == Counter({url: 1 for url, outcome in web.urls().items() if outcome != "refused"})


@pytest.mark.parametrize("lasts_s", [0.0, 0.02, 0.7, 30.0])
def test_slow_disks_neither_stop_the_crawl_nor_make_commits_overlap(run, small_pieces, lasts_s):
    slow = Slow(lasts_s)
    ran = run(run.World(WEB), SEEDS, names=NAMES, offload=slow, snapshot_every_s=5.0)
    assert fetched_once(ran, WEB)
    assert slow.most["_write"] == 1
    assert ran.network.log[-1].at - ran.network.log[0].at < 100
    run.same()


def test_commits_in_threads_while_snapshots_are_written(run, small_pieces):
    """Real threads, and syncs that take a while: what two writers at once would tear."""
    pause = threading.Event()

    def hook(operation, name) -> None:
        if operation == "sync":
            pause.wait(0.002)

    async def in_thread(function, *arguments: object) -> object:
        done: list[object] = []
        thread = threading.Thread(target=lambda: done.append(function(*arguments)))
        thread.start()
        while thread.is_alive():  # noqa: ASYNC110  the virtual clock knows no threads
            await asyncio.sleep(0.05)
        return done[0]

    ran = run(run.World(WEB), SEEDS, Limits(seconds=60), names=NAMES, offload=in_thread, hook=hook,
              snapshot_every_s=1.0, refresh_after_s=10.0)  # fmt: skip
    assert len(ran.visits) > 150
    run.same()


@pytest.mark.parametrize("lasts_s", [0.13, *in_soak(0.0)])
def test_a_start_from_every_snapshot_is_the_fold_of_the_journal(run, tmp_path, small_pieces, lasts_s, monkeypatch):
    """Pages change, fail and are refreshed while pieces are copied; each snapshot is kept and started from."""
    monkeypatch.setattr(stamped, "KEPT", 100)
    world = run.World(WEB, seed=5, trouble=0.1)
    ran = run(world, SEEDS, Limits(seconds=150), names=NAMES, offload=Slow(lasts_s), snapshot_every_s=12.0,
              refresh_after_s=30.0)  # fmt: skip
    assert ran.progress[-1].changed > 5
    folded = run.folded()
    names = snapshot.names(folded.disk)
    assert len(names) > 8
    for name in names:  # newest first: each is started from once, then removed
        run.same()
        restored = run.restored()
        assert restored.journal.sequence == folded.journal.sequence
        (run.directory / name).unlink()
    run.same()  # from the journal alone
    folded.close()


def test_a_damaged_snapshot_gives_way_to_the_older_and_that_to_the_journal(run):
    run(run.World(WEB), SEEDS, Limits(pages=60), names=NAMES, snapshot_every_s=5.0)
    newest, older = snapshot.names(RealDisk(run.directory))
    good = run.restored()
    for broken, damage in ((newest, "flip"), (older, "cut")):
        path = run.directory / broken
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(bytes(data) if damage == "flip" else bytes(data[: len(data) // 2]))
        restored = run.restored()
        assert any(broken in repair and "damaged" in repair for repair in restored.repairs)
        assert restored.state.visits == good.state.visits
        assert restored.state.known.count == good.state.known.count
    rest = run(run.World(WEB), [], names=NAMES)
    assert len(rest.repairs) == 2
    assert set(rest.pages) <= set(WEB.urls())
    snapshot.load(RealDisk(run.directory))
    run.same()


def test_an_empty_snapshot_and_a_strange_one_are_looked_past(run):
    run(run.World(WEB), SEEDS, Limits(pages=20), names=NAMES)
    for name, data in (("snapshot-ffffffffffffffff.bin", b""), ("snapshot-fffffffffffffffe.bin", b"PK\3\4" * 100)):
        (run.directory / name).write_bytes(data)
    restored = run.restored()
    assert len(restored.repairs) == 2
    assert restored.state.visits >= 20


def test_at_most_two_snapshots_are_kept_and_none_is_written_for_nothing(run):
    ran = run(run.World(WEB), SEEDS, Limits(seconds=120), names=NAMES, snapshot_every_s=5.0)
    assert len(snapshot.names(RealDisk(run.directory))) == stamped.KEPT
    before = {path.name: path.stat().st_mtime_ns for path in run.directory.glob("snapshot-*")}
    run(run.World(WEB), [], Limits(seconds=0.0), names=NAMES)
    assert {path.name: path.stat().st_mtime_ns for path in run.directory.glob("snapshot-*")} == before
    assert ran.summary.visits > 100


@pytest.mark.parametrize(
    ("left", "name"),
    [
        (0.0, "known.bin"),
        (0.5, "urls.log"),
        (0.5, "urls.idx"),
        *in_soak((0.5, "known.bin"), (0.0, "urls.log"), (0.0, "urls.idx")),
    ],
)
def test_a_derived_file_that_lost_its_end_is_made_again(run, name, left):
    first = run(run.World(WEB), SEEDS, Limits(pages=60), names=NAMES)
    path = run.directory / name
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * left)])
    rest = run(run.World(WEB), [], names=NAMES)
    assert any("rebuilt from the journal" in repair for repair in rest.repairs)
    assert set((first.pages + rest.pages).values()) == {1}
    assert path.read_bytes()[: len(data)] == data
    run.same()


def test_a_commit_follows_within_a_moment(run):
    """What was learned is on the disk 50 ms later, however quiet the crawl is."""
    world = run.World()
    world.pages["http://h0.example/"] = run.html()
    written = []

    async def look(one) -> None:
        while True:
            await asyncio.sleep(0.01)
            written.append((one.partition.journal.sequence, one.partition.journal.written))

    run(world, ["http://h0.example/"], Limits(seconds=30), names=NAMES, during=look)
    behind = [sequence > done for sequence, done in written]
    longest = max(len(part) for part in "".join("x" if b else " " for b in behind).split())
    assert longest * 0.01 <= storing.COMMIT_S + 0.03
    assert not behind[-1]


def test_many_events_do_not_wait_for_the_clock(run, monkeypatch):
    monkeypatch.setattr(storing, "COMMIT_S", 1e6)
    monkeypatch.setattr(storing, "COMMIT_EVENTS", 10)
    most = []

    async def look(one) -> None:
        while True:
            await asyncio.sleep(0.5)
            most.append(one.partition.journal.sequence - one.partition.journal.written)

    ran = run(run.World(WEB), SEEDS, Limits(pages=100), names=NAMES, during=look)
    assert ran.summary.visits == 100
    assert max(most) < 25
