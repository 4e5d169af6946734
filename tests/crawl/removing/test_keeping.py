"""Old versions leave the archive; what is newest stays, and verify finds nothing wrong."""

import asyncio
import contextlib
import os
import random
import sqlite3

import pytest

from evercrawl.ask.changes.past import content_at, page_history
from evercrawl.ask.orders.give import give
from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config
from evercrawl.crawl import session
from evercrawl.crawl.removing import between_runs
from evercrawl.crawl.removing import keeping as crawl_keeping
from evercrawl.crawl.removing.between_runs import KEEP
from evercrawl.crawl.removing.forgetting import opened_to_forget
from evercrawl.crawl.removing.keeping import due, keep_less, on_disk
from evercrawl.errors import NotHeldError
from evercrawl.model.stored.derived.derived import Derived
from evercrawl.model.stored.reader import opened
from evercrawl.progress import Limits, Progress
from evercrawl.store import keeping
from evercrawl.store.archive.warc_read import walk
from evercrawl.store.backups.backup import backup
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.orders import CrawlOrder
from tests.helpers.hand_made import SITE, HandMade

DAY_S = 86_400.0


class KilledError(Exception):
    """The process ends here."""


def noise(name: str) -> str:
    """Words that do not compress."""
    return (
        " ".join(random.Random(name).randbytes(20).hex() for _ in range(1)) + random.Random(name).randbytes(9000).hex()
    )


@pytest.fixture
def directory(tmp_path):
    """Two pages with six versions each, a day apart; one that never changed, and one that is gone."""
    made = HandMade(tmp_path / "crawl")
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/c", "/d"))
    for day in range(6):
        for name in "ab":
            made.visit(f"{SITE}/{name}", made.page(name, text=noise(f"{name} {day}")))
        made.visit(f"{SITE}/c", made.page("c", text="always the same"))
        made.visit(f"{SITE}/d", made.page("d", text=noise("d")) if day == 0 else b"", 200 if day == 0 else 404)
        made.now += DAY_S
    made.save()
    made.partition.close()
    made.directory.joinpath("now").write_text(str(made.now))
    return made.directory


def now(directory) -> float:
    return float((directory / "now").read_text())


def held(directory, name: str) -> list[bool]:
    """Return of each version, the newest first, whether it is there."""
    crawl = opened(directory)
    derived = Derived(crawl).current()
    try:
        found = list[bool]()
        versions = page_history(crawl, derived, f"{SITE}/{name}").versions
        for version in versions:
            try:
                content_at(crawl, derived, f"{SITE}/{name}", version.at)
                found.append(True)
            except NotHeldError as error:
                found.append("keep_versions" not in str(error))
        assert [version.held for version in versions] == found
        return found
    finally:
        derived.close()
        crawl.close()


def fine(directory) -> None:
    found = verify(directory)
    assert found.fine, found.wrong
    disk = RealDisk(directory, read_only=True)
    for name in disk.names("archive/"):
        if name.endswith(".warc.gz"):  # every reader gets from the first byte to the last
            assert sum(one.length for one in walk(disk, name)) == disk.size(name)
    disk.close()


@pytest.mark.parametrize(
    ("settings", "versions"),
    [
        ({"keep_versions": 2}, [True] * 2 + [False] * 4),
        ({"keep_versions": 1}, [True] + [False] * 5),
        ({"keep_days": 2.5}, [True] * 2 + [False] * 4),
        ({"keep_days": 0.001}, [True] + [False] * 5),
        ({"keep_days": 4.5, "keep_versions": 3}, [True] * 3 + [False] * 3),
        ({"keep_days": 100.0, "keep_versions": 9}, [True] * 6),
    ],
)
def test_older_versions_go_and_the_newest_stays(directory, settings, versions):
    before = on_disk(directory)
    found = keep_less(directory, Config(**settings), now(directory))
    assert held(directory, "a") == held(directory, "b") == versions
    assert held(directory, "c") == [True]
    assert held(directory, "d") == [True]  # what it was before it was gone
    fine(directory)
    assert bool(found.records) == (False in versions)
    assert keep_less(directory, Config(**settings), now(directory)).records == 0
    if versions.count(False) > 3:
        assert found.disk_bytes < before - 2 * 4 * 4096
    fine(directory)


def test_the_oldest_go_until_there_is_room(directory):
    whole = on_disk(directory)
    found = keep_less(directory, Config(keep_bytes=whole // 2), now(directory))
    kept = held(directory, "a")
    assert 1 < kept.count(True) < 6
    assert kept == sorted(kept, reverse=True)
    assert found.disk_bytes < 0.75 * whole
    assert keep_less(directory, Config(keep_bytes=1), now(directory)).disk_bytes > 1  # the newest are never removed
    assert held(directory, "a") == held(directory, "b") == [True] + [False] * 5
    fine(directory)


@pytest.mark.parametrize("where", ["_stored", "overwrite", "punch", "halfway"])
def test_a_kill_leaves_nothing_wrong_and_the_next_time_ends_it(directory, monkeypatch, where):
    def killed(*_: object, **__: object) -> None:
        raise KilledError

    written = list[int]()

    def halfway(directory, name, offset, data, *, sync=True) -> None:
        fd = os.open(directory / name, os.O_RDWR)
        os.pwrite(fd, data[: len(data) // 2], offset)
        os.close(fd)
        written.append(offset)
        raise KilledError

    with monkeypatch.context() as patched:
        if where == "halfway":
            patched.setattr(keeping, "patch", halfway)
        else:
            patched.setattr(crawl_keeping if where == "_stored" else keeping, where, killed)
        with pytest.raises(KilledError):
            keep_less(directory, Config(keep_versions=2), now(directory))
    assert verify(directory).fine
    assert held(directory, "c") == [True]
    keep_less(directory, Config(keep_versions=2), now(directory))
    assert held(directory, "a") == [True] * 2 + [False] * 4
    assert not (directory / keeping.PLAN).exists()
    fine(directory)


def test_it_is_due_once_a_day_and_sooner_where_there_is_no_room(directory):
    config = Config(keep_versions=2, keep_bytes=1)
    assert not due(directory, Config(), now(directory))
    assert due(directory, config, now(directory))
    keep_less(directory, config, now(directory))
    at = (directory / crawl_keeping.STAMP).stat().st_mtime
    assert not due(directory, config, at + 60.0)
    assert due(directory, config, at + 3_700.0)
    assert due(directory, Config(keep_versions=2), at + 60.0), "by other settings"
    keep_less(directory, Config(keep_versions=2), now(directory))
    at = (directory / crawl_keeping.STAMP).stat().st_mtime
    assert not due(directory, Config(keep_versions=2), at + 3_700.0)
    assert due(directory, Config(keep_versions=2), at + 90_000.0)
    assert KEEP == "keep"


def test_the_next_backup_has_nothing_that_was_removed_and_takes_no_more_room(directory, tmp_path):
    copy = tmp_path / "copy"
    backup(directory, copy, 0.0)
    whole = on_disk(copy)
    removed = keep_less(directory, Config(keep_versions=5), now(directory))
    assert removed.records == 2  # far before the end
    backup(directory, copy, 1.0)
    for file in directory.glob("archive/*"):
        assert (copy / "archive" / file.name).read_bytes() == file.read_bytes()
    fine(copy)
    if removed.disk_bytes < whole:  # the file system takes blocks back
        assert on_disk(copy) < whole
        assert keep_less(copy, Config(keep_bytes=removed.disk_bytes + 2 * 4096), now(directory)).records == 0


def test_a_removal_that_was_killed_is_ended_in_the_backup_too(directory, tmp_path, monkeypatch):
    def killed(*_: object, **__: object) -> None:
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(keeping, "patch", killed)
        with pytest.raises(KilledError):
            keep_less(directory, Config(keep_versions=2), now(directory))
    copy = tmp_path / "copy"
    backup(directory, copy, 0.0)
    opened_to_forget(copy).close()
    assert not (copy / keeping.PLAN).exists()
    fine(copy)
    backup(directory, copy, 1.0)  # which has the plan still
    assert (copy / keeping.PLAN).exists()


def test_a_backup_of_what_did_not_change_copies_nothing(directory, tmp_path):
    partition = opened_to_forget(directory)
    partition.index_archive()
    partition.close()
    assert list(directory.glob("archive/*.cdxj"))
    copy = tmp_path / "copy"
    assert backup(directory, copy, 0.0).copied_bytes
    assert backup(directory, copy, 1.0).copied_bytes == 0
    with contextlib.closing(sqlite3.connect(directory / "robots.sqlite")) as database:
        database.execute("PRAGMA journal_mode = wal")
        database.execute("CREATE TABLE rules (host TEXT)")
        database.commit()
        assert (directory / "robots.sqlite-wal").stat().st_size
        assert backup(directory, copy, 2.0).copied_bytes
        assert backup(directory, copy, 3.0).copied_bytes == 0
        database.execute("INSERT INTO rules VALUES ('a.example')")
        database.commit()
        assert backup(directory, copy, 4.0).copied_bytes
    (directory / "sitemaps.sqlite").write_bytes(b"no database" * 500)
    backup(directory, copy, 5.0)
    assert not list(copy.glob("*.new")) + list(copy.glob("sitemaps*"))
    assert not list(copy.glob("*-wal")) + list(copy.glob("*-shm"))
    with contextlib.closing(sqlite3.connect(copy / "robots.sqlite")) as database:
        assert database.execute("SELECT host FROM rules").fetchall() == [("a.example",)]


def test_an_order_holds_in_a_running_crawl_for_what_is_archived(directory, monkeypatch):
    monkeypatch.setattr(between_runs, "ORDERED_S", 0.01)
    assert held(directory, "a") == [True] * 6
    stop = asyncio.Event()

    def watch(_: Progress) -> None:
        if (directory / crawl_keeping.STAMP).exists():
            stop.set()

    give(directory, CrawlOrder("set", name="keep_versions", values=("2",)))
    config = Config(delay_s=0.0, exclude=("/",), index=False)  # so that nothing is requested
    asyncio.run(session.crawl(directory, config, (), Limits(seconds=20.0), watch, stop))
    assert held(directory, "a") == [True] * 2 + [False] * 4
    fine(directory)
