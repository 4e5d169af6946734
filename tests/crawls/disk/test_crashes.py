"""A crash at the n-th operation on the disk, for every n: the next start goes on to the undisturbed end."""

import random
from collections import Counter

import pytest
from soak import in_soak

from evercrawl.catalog import find
from evercrawl.importance import windows
from evercrawl.model.policy.schemes import stored
from evercrawl.simulate.surroundings.clock import Crash
from evercrawl.simulate.worlds.made_web import MadeWeb
from evercrawl.store.disk.disk import TEMPORARY, RealDisk
from evercrawl.types import Outcome

HOSTS = ("http://a.example", "http://b.example")
SEEDS = [f"{origin}/" for origin in HOSTS]
NAMES = {"a.example": ["8.8.4.1"], "b.example": ["8.8.4.2"]}
WEB = MadeWeb(seed=3, origins=HOSTS, pages=4, changing=0)
SETTINGS = {"names": NAMES, "snapshot_every_s": 4.0, "segment_bytes": 12_000, "latency_s": lambda _: 0.1}


class DyingDisk(RealDisk):
    """Dies at the n-th operation: some of what was to be written may be there, or all; after that nothing works.

    With `power`, what was not synced is gone with it, or some of its end.
    """

    def __init__(self, directory, dies_at: int, *, power: bool = False) -> None:
        super().__init__(directory)
        self.dies_at, self.power = dies_at, power
        self.operations: list[tuple[str, str]] = []
        self.synced: dict[str, int] = {}
        self.draw = random.Random(dies_at)

    def append(self, name, data):
        if self.dies("append", name):
            super().append(name, data[: self.draw.choice([0, len(data) // 2, len(data) - 1, len(data)])])
            self.die()
        self.synced.setdefault(name, self.size(name))
        return super().append(name, data)

    def sync(self, name):
        if self.dies("sync", name):
            self.die()
        self.synced[name] = self.size(name)  # the medium itself is not waited for: `power` says what it would have kept

    def truncate(self, name, size):
        if self.dies("truncate", name):
            self.die()
        super().truncate(name, size)

    def replace(self, name, chunks, *, private=False):
        chunks = list(chunks)
        if self.dies("replace", name):
            data = b"".join(chunks)
            if self.draw.random() < 0.5:
                super().replace(name, chunks, private=private)
            else:
                path = self.directory / (name + TEMPORARY)
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(data[: self.draw.randrange(len(data) + 1)])
            self.die()
        super().replace(name, chunks, private=private)

    def remove(self, name):
        if self.dies("remove", name):
            self.die()
        super().remove(name)

    def dies(self, operation: str, name: str) -> bool:
        if len(self.operations) >= self.dies_at > 0:
            raise Crash
        self.operations.append((operation, name))
        return len(self.operations) == self.dies_at

    def die(self) -> None:
        if self.power:
            for name, size in self.synced.items():
                super().truncate(name, self.draw.randint(min(size, self.size(name)), self.size(name)))
        raise Crash


def outcomes(run):
    """Return what became of each page, with how many visits; of the copies, either may be the original."""
    found = {url: (Outcome(outcome).label, visits) for url, (outcome, visits) in run.outcomes().items()}
    for origin in HOSTS:
        assert {found[f"{origin}/p/1"][0], found[f"{origin}/copy"][0]} == {"ok", "duplicate"}
        found[f"{origin}/p/1"] = found[f"{origin}/copy"] = ("copy", 1)
    return found


def visited(run) -> set[str]:
    if not (run.directory / "crawl.json").exists():
        return set()
    return {url for url, (_, visits) in run.outcomes().items() if visits}


SCHEMES = [stored("push", 0.1), *(stored("aopic", 0.1, name) for name in find(windows, windows.Window))]


def scheme(number: int):
    """Return one of all schemes and windows."""
    return SCHEMES[number % len(SCHEMES)]


def crawl_and_die(run, dies_at: int, *, power: bool, number: int = 0) -> list[tuple[str, str]]:
    """Crawl until the disk dies; what was acknowledged must be there. Return its operations."""
    disk = DyingDisk(run.directory, dies_at, power=power)
    crawls = []
    try:
        run(run.World(WEB), SEEDS, disk=disk, during=crawls.append, scheme=scheme(number), **SETTINGS)
    except Crash:
        run.now += 5.0
        if (run.directory / "crawl.json").exists():
            folded = run.folded()
            assert folded.journal.sequence >= max((one.partition.journal.written for one in crawls), default=0)
            folded.close()
    return disk.operations


def go_on(run, wanted, number: int) -> None:
    """Start again, now and then with another scheme, crawl to the end, and hold the end against the undisturbed one."""
    done = visited(run)
    switch = scheme(number // 3) if number % 3 == 0 else None
    rest = run(run.World(WEB), SEEDS, scheme=scheme(number), switch=switch, **SETTINGS)
    assert not rest.pages.keys() & done
    assert outcomes(run) == wanted
    assert Counter(run.archived()) == Counter({url for url, (what, _) in wanted.items() if what != "refused"})
    run.same()


def anew(run, name: str) -> None:
    run.directory, run.now, run.runs = run.directory.parent / name, 1.7e9, 0
    run.read_robots_at.clear()
    run.directory.mkdir()


@pytest.mark.parametrize(("power", "again", "first"), [(True, 0, 2), *in_soak((False, 0, 1), (True, 12, 3))])
def test_a_crash_at_any_operation_loses_and_doubles_nothing(run, power, again, first):
    """With `again`, the start after the crash crashes too, within so many operations.

    Every third operation each, so that each of them is one at which the program ends, the power goes, or both do.
    """
    anew(run, "undisturbed")
    operations = crawl_and_die(run, 0, power=False)
    wanted = outcomes(run)
    assert {operation for operation, _ in operations} == {"append", "sync", "replace", "remove"}
    for number, dies_at in enumerate(range(first, len(operations) + 1, 3), first):
        anew(run, f"{dies_at}")
        crawl_and_die(run, dies_at, power=power, number=number)
        if again:
            crawl_and_die(run, 1 + dies_at % again, power=power, number=number)
        go_on(run, wanted, number)
