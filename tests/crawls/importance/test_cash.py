"""Cash in crawls of webs with everything that moves it: redirects, copies, canonical URLs, pages that go and come back,
links that change, answers of 304; through restarts, and crashes at every operation on the disk."""

import random
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from soak import in_soak

from evercrawl.ask.verify.verify import verify
from evercrawl.catalog import find
from evercrawl.importance import windows
from evercrawl.importance.base import Links
from evercrawl.model.policy.schemes import scheme_of, stored
from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import JOINS, KEEP, LEAVES, Visit
from evercrawl.store.records.records import MEMBER
from evercrawl.store.table.table import NO_RECORD, ROOT
from evercrawl.types import NO_SLOT, Outcome

HOSTS = tuple(f"http://{name}.example" for name in ("a", "www.b", "news.b", "c"))
SEEDS = [f"{HOSTS[0]}/", f"{HOSTS[3]}/start"]
SETTLED_S = 120.0  # after the start; then nothing changes any more
SCHEMES = {"push": stored("push", 0.1)} | {
    f"aopic, {name}": stored("aopic", 0.1, name) for name in find(windows, windows.Window)
}
USUAL = ("push", "aopic, two_windows")
SETTINGS = {"snapshot_every_s": 7.0, "latency_s": lambda _: 0.1, "scope": "any", "delay_s": 0.2, "refresh_after_s": 5.0,
            "segment_bytes": 40_000}  # fmt: skip


class Web:
    """A few sites whose pages are now this, now that, until everything settles; drawn from a seed."""

    def __init__(self, world, seed: int, began_at: float) -> None:
        self.world, self.seed, self.began_at = world, seed, began_at
        self.urls = [f"{host}{path}" for host in HOSTS for path in ("/", "/1", "/2", "/3", "/4")] + [SEEDS[1]]
        for url in self.urls:
            world.pages[url] = lambda headers, at, url=url: self.answer(url, headers, at)

    def answer(self, url: str, headers: dict[str, str], at: float):
        turn = int(min(at - self.began_at, SETTLED_S) // 20)
        draw = random.Random(f"{self.seed} {url} {turn if random.Random(f'{self.seed} {url}').random() < 0.7 else 0}")
        kind = draw.choice("pppppprtgkce") if url not in SEEDS else "p"
        others = draw.sample(self.urls, draw.randrange(1, 6))
        if kind == "r":
            return Answer(301, {"Location": others[0]})
        if kind == "t":
            return Answer(302, {"Location": others[0]})
        if kind == "g":
            return Answer(404, {}, b"gone")
        if kind == "e":
            return Answer(403, {}, b"no")
        if kind == "k":
            return self.world.html("/1", "/2", text="the same everywhere")
        head = f'<link rel="canonical" href="{others[0]}">' if kind == "c" else ""
        tag = f'"{crc32(repr((kind, others)).encode())}"'
        if headers.get("if-none-match") == tag:
            return Answer(304, {"ETag": tag})
        return self.world.html(*others, text=f"{url} {others}", head=head, ETag=tag)


@pytest.fixture
def crawl(run):
    """Return a function that lets a crawl of such a web go on."""

    def begin(seed: int, limits: Limits, scheme: str = "push", **more: Any) -> Any:
        world = run.World()
        Web(world, seed, 1_700_000_000.0)
        return run(world, SEEDS, limits, scheme=SCHEMES[scheme], **SETTINGS | more)

    begin.run = run
    return begin


def laws(run) -> None:
    """Hold a directory that nobody writes to against all laws; verify knows them."""
    found = verify(run.directory)
    assert found.wrong == []
    assert found.measured["cash in all"] < 1e-9
    run.same()


@pytest.mark.parametrize(
    ("scheme", "seed"),
    [
        *((name, 0) for name in USUAL),
        *in_soak(*((name, 0) for name in SCHEMES if name not in USUAL)),
        *in_soak(*((name, 1) for name in USUAL)),
    ],
)
def test_the_laws_hold_through_everything_that_moves_cash(crawl, seed, scheme):
    kinds = set()
    for _ in range(3):
        ran = crawl(seed, Limits(seconds=50), scheme)
        laws(crawl.run)
    for event in ran.visits:
        kinds |= {Outcome(event.outcome)} | {flag for flag in (JOINS, LEAVES, KEEP) if event.flags & flag}
        kinds |= {304} if event.status == 304 else set()
    assert kinds >= {Outcome.OK, Outcome.REDIRECT, Outcome.GONE, JOINS, LEAVES, KEEP, 304}


@pytest.mark.parametrize(("scheme", "first"), [(USUAL[0], 1), (USUAL[1], 2)])
def test_after_a_crash_at_any_operation_the_laws_hold(crawl, scheme, first):
    """One directory lives through half of them, and one through the others: each run dies two operations later."""
    run, dies_at = crawl.run, 0
    for dies_at in range(first, 80, 2):
        run.directory.mkdir(exist_ok=True)
        try:
            crawl(5, Limits(seconds=8), scheme, disk=run.DyingDisk(run.directory, dies_at), snapshot_every_s=1.0)
        except run.Crash:
            run.now += 5.0
        if (run.directory / "crawl.json").exists():
            for open_it in (run.folded, run.restored):
                partition = open_it()
                assert abs(partition.state.cashbook.owed()) < 1e-9
                partition.close()
    crawl(5, Limits(seconds=30), scheme)
    laws(run)


def exact(run) -> tuple[dict[str, float], dict[str, float]]:
    """Return what each page's importance is, and what it is by a solution of the links last read."""
    partition = run.folded()
    state, scheme = partition.state, scheme_of(SCHEMES["push"])
    count = state.known.count
    matrix, source, found, stuck = np.zeros((count, count)), np.zeros(count), np.zeros(count), np.zeros(count, bool)
    members = np.zeros(count, bool)
    hosts = state.known.rows()["host"]
    for slot in range(count):
        index = state.record_of(slot)
        if index is None:
            members[slot] = bool(state.table.record[slot] & NO_RECORD and state.table.record[slot] & ROOT)
            continue
        row = state.records.rows[index]
        members[slot], found[slot] = bool(row["flags"] & MEMBER), row["importance"]
        event = partition.journal.read(int(row["event"])) if row["event"] else None
        if row["outcome"] == Outcome.GONE or not isinstance(event, Visit):
            continue
        stuck[slot] = row["outcome"] == Outcome.ERROR
        if event.alias != NO_SLOT:
            matrix[slot, event.alias] = 1.0
            continue
        inside, outside = scheme.each(1.0, Links(out=event.out))
        for place, target in enumerate(decode_slots(event.targets).tolist()):
            away = event.external and event.external[place >> 3] >> (place & 7) & 1
            matrix[slot, target] = outside if away else inside
    sites = state.site_of[hosts]
    for site in np.unique(sites[members]):
        source[members & (sites == site)] = 1.0 / np.count_nonzero(members & (sites == site))
    given = found * stuck @ matrix  # by pages that are in trouble, and so have not passed on what they got since
    solved = np.linalg.solve(np.eye(count) - (matrix * ~stuck[:, None]).T, source + given)
    found += state.table.cash[:count] + source
    urls = state.urls.get_many(range(count))
    partition.close()
    return dict(zip(urls, found.tolist(), strict=True)), dict(zip(urls, solved.tolist(), strict=True))


@pytest.mark.parametrize("seed", [0])  # some 10 s each
def test_crashes_change_nothing_of_what_importance_comes_to(crawl, seed):
    """Once the web has settled, x + r is what a solution at once says, with crashes on the way as without."""
    run = crawl.run
    ends = []
    for crashes in (False, True):
        run.directory, run.now, run.runs = run.directory.parent / f"{crashes}", 1_700_000_000.0, 0
        run.read_robots_at.clear()
        run.directory.mkdir()
        for dies_at in range(15, 90, 15) if crashes else ():
            try:
                crawl(seed, Limits(seconds=25), disk=run.DyingDisk(run.directory, dies_at))
            except run.Crash:
                run.now += 5.0
        crawl(seed, Limits(seconds=1_700_000_000.0 + SETTLED_S + 330 - run.now))
        laws(run)
        found, solved = exact(run)
        assert found == pytest.approx(solved, rel=1e-5, abs=1e-6)
        ends.append(found)
    assert sorted(ends[0]) == sorted(ends[1])
