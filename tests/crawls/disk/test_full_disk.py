"""A full disk, at each writer: fetching stops and says so; with room again it goes on, and nothing is lost."""

import errno
import os
from collections import Counter

import pytest

from evercrawl.crawl import loop, session
from evercrawl.errors import NoRoomError
from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import MadeWeb
from evercrawl.types import Outcome

HOSTS = tuple(f"http://h{i}.example" for i in range(4))
SEEDS = [f"{origin}/" for origin in HOSTS]
NAMES = {f"h{i}.example": [f"8.8.4.{i + 1}"] for i in range(4)}
WEB = MadeWeb(seed=3, origins=HOSTS, pages=20, changing=0)
ALL = Counter({url: 1 for url, outcome in WEB.urls().items() if outcome != "refused"})


@pytest.fixture(autouse=True)
def seldom(run, monkeypatch):
    """What happens at the disk is noticed without the report."""
    monkeypatch.setattr(loop, "REPORT_S", 0.93)


class Full:
    """No room for files whose name holds `part`, from `since_s` to `until_s` after the crawl began."""

    def __init__(self, part: str, since_s: float, until_s: float = float("inf")) -> None:
        self.part, self.since_s, self.until_s = part, since_s, until_s
        self.refused: list[float] = []

    def __call__(self, operation: str, name: str) -> None:
        import asyncio

        passed_s = asyncio.get_running_loop().time() - 1.7e9
        if operation == "write" and self.part in name and self.since_s <= passed_s < self.until_s:
            self.refused.append(passed_s)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def complete(run, *runs):  # noqa: ANN002
    """All pages were visited, none but those under way at an end twice, and archive and journal agree."""
    wanted = {url: what for url, what in WEB.urls().items() if what != "copy"}
    found = {url: Outcome(outcome).label for url, (outcome, _) in run.outcomes().items()}
    assert {url: found[url] for url in wanted} == wanted
    visits = Counter({url: visits for url, (outcome, visits) in run.outcomes().items() if outcome != Outcome.REFUSED})
    assert Counter(run.archived()) == visits
    asked = sum((ran.pages for ran in runs), Counter())
    assert all(visits[url] <= asked[url] for url in visits)
    run.same()
    return asked


@pytest.mark.parametrize("part", ["archive", "journal", "known", "urls", ""])
def test_fetching_stops_while_there_is_no_room_and_goes_on_after(run, part):
    full = Full(part, 10.0, 70.0)
    ran = run(run.World(WEB), SEEDS, names=NAMES, hook=full, disk_wait_s=600.0)
    assert ran.summary.reason == "idle"
    assert complete(run, ran) == ALL  # each page was asked for once: nothing was forgotten
    if part != "urls":  # blocks of URLs wait in memory
        assert full.refused
        before, after = full.refused[0] + 1, 70.0
        asked = [a.at - 1.7e9 for a in ran.network.log]
        assert not [at for at in asked if before < at < after]
        assert min(at for at in asked if at > after) < after + 3.0
        said = [progress for progress in ran.progress if before + 1 < progress.at - 1.7e9 < after - 1]
        assert all(progress.disk_full and "room" in progress.message for progress in said)
        assert len({progress.message for progress in said}) == 1  # although the sizes in it change from try to try
        assert not ran.progress[-1].disk_full
        assert not ran.progress[-1].message


@pytest.mark.parametrize("part", ["archive", "journal", "known", ""])
def test_a_disk_that_stays_full_ends_the_crawl_after_the_wait_and_a_restart_goes_on(run, part):
    full = Full(part, 10.0)
    ended = run(run.World(WEB), SEEDS, names=NAMES, hook=full, disk_wait_s=60.0, raises=False)
    assert isinstance(ended.error, NoRoomError)
    assert ended.error.exit_code == 4
    assert "make room" in str(ended.error)
    assert 60.0 <= ended.took_s - full.refused[0] < 63.0
    rest = run(run.World(WEB), [], names=NAMES)
    complete(run, ended, rest)


@pytest.mark.parametrize("part", ["archive", "journal", "known"])
def test_answers_that_come_in_while_the_disk_is_full_do_not_prolong_the_wait(run, part):
    full = Full(part, 10.0)
    ended = run(run.World(WEB), SEEDS, names=NAMES, hook=full, disk_wait_s=30.0, raises=False, latency_s=lambda _: 8.0,
                connections_per_host=4, delay_s=0.5, polite=False)  # fmt: skip
    assert isinstance(ended.error, NoRoomError)
    assert ended.took_s - full.refused[0] < 33.0
    rest = run(run.World(WEB), [], names=NAMES, polite=False)
    complete(run, ended, rest)


def test_no_room_for_a_snapshot_costs_the_snapshot(run):
    full = Full("snapshot", 0.0, 60.0)
    ran = run(run.World(WEB), SEEDS, Limits(seconds=50), names=NAMES, hook=full, snapshot_every_s=10.0, raises=False)
    assert isinstance(ran.error, NoRoomError)  # the one at the end
    assert ran.network.log[-1].at > 1.7e9 + 25
    assert len(full.refused) > 2
    rest = run(run.World(WEB), [], names=NAMES)
    assert complete(run, ran, rest) == ALL


def test_a_snapshot_that_found_no_room_is_written_at_the_end(run):
    full = Full("snapshot", 0.0, 45.0)
    ran = run(run.World(WEB), SEEDS, Limits(seconds=70), names=NAMES, hook=full, snapshot_every_s=40.0)
    assert len(list(run.directory.glob("snapshot-*"))) == 1
    assert ran.summary.reason == "seconds"


@pytest.mark.parametrize("part", ["archive", "journal", "known", "snapshot", "index", "cdxj"])
def test_no_room_at_the_end_ends_with_a_word_and_a_restart_mends(run, part):
    full = Full(part, 6.0)
    ran = run(run.World(WEB), SEEDS, Limits(seconds=6), names=NAMES, hook=full, raises=False)
    assert isinstance(ran.error, NoRoomError)
    rest = run(run.World(WEB), [], names=NAMES)
    complete(run, ran, rest)


def test_no_room_at_the_start_is_said_and_a_later_start_begins(run):
    for part in ("crawl.json", "journal", "known"):
        full = Full(part, 0.0)
        ran = run(run.World(WEB), SEEDS, names=NAMES, hook=full, raises=False, disk_wait_s=2.0)
        assert isinstance(ran.error, NoRoomError), part
        run.now = 1.7e9
    ran = run(run.World(WEB), SEEDS, names=NAMES)
    assert ran.pages == ALL


def test_settings_without_room_make_no_crawl(tmp_path, monkeypatch):
    import asyncio

    from evercrawl.config import Config
    from evercrawl.store.birth import is_crawl

    def no_room(config, directory) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(session, "save", no_room)
    with pytest.raises(NoRoomError, match=r"crawl\.toml"):
        asyncio.run(session.crawl(tmp_path, Config(), ["http://127.0.0.1/"], Limits(pages=1)))
    assert not is_crawl(tmp_path)
