"""Copies of a crawl directory: whole while the crawl runs, cheap the second time, and good to go on with."""

import asyncio
import contextlib
import errno
import json
import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.cli.main import main
from evercrawl.config import Config
from evercrawl.crawl import crawl
from evercrawl.crawl.removing.forgetting import forget
from evercrawl.errors import ConfigError, NoRoomError, StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.parse.sites import found_site
from evercrawl.progress import Limits
from evercrawl.simulate.surroundings.loopback import NETWORK
from evercrawl.store.backups import backup as backups
from evercrawl.store.backups.backup import BACKUP_FILE, backup
from evercrawl.store.backups.checks import CUT_BYTES
from evercrawl.store.birth import UNFINISHED, is_crawl
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import Lock
from evercrawl.store.forgetting import PLAN
from evercrawl.store.forgotten import FILES
from evercrawl.store.journal.journal import Journal
from evercrawl.store.keeping import REMOVED
from evercrawl.store.partition import Partition


def events(directory) -> int:
    return Journal.open(RealDisk(Path(directory), read_only=True), writable=False).sequence


def wait_for(come: Callable[[], bool]) -> None:
    """Wait until a crawl of real sockets has come so far; fail where it does not."""
    until = time.monotonic() + 30.0
    while not come():
        assert time.monotonic() < until, "the crawl beside the test does not go on"
        time.sleep(0.02)


def test_a_backup_is_the_crawl_and_a_second_one_costs_what_changed(crawled, site, tmp_path, capsys):
    target = tmp_path / "copy"
    assert main(["backup", str(target), "--dir", crawled, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["events"] == events(crawled) == events(target)
    assert first["copied_bytes"] > 10_000
    assert not verify(target).wrong
    assert stat.S_IMODE((target / "crawl.toml").stat().st_mode) == 0o600
    flags = ["--delay", "0", "--allow-net", NETWORK, "--pages", "5", "--quiet", "--refresh-after", "0.1s"]
    assert main(["crawl", "--dir", crawled, *flags, "--seconds", "20"]) == 0
    capsys.readouterr()
    assert main(["backup", str(target), "--dir", crawled, "--json"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["events"] == events(crawled) == events(target) > first["events"]
    assert not verify(target).wrong
    assert {path.name for path in target.glob("snapshot-*")} == {path.name for path in Path(crawled).glob("snapshot-*")}
    for source in (*Path(crawled).glob("journal-*"), *Path(crawled).glob("archive/*.gz")):
        assert (target / source.relative_to(crawled)).read_bytes() == source.read_bytes()


def test_a_restored_crawl_goes_on(crawled, tmp_path, capsys):
    target = tmp_path / "copy"
    backup(Path(crawled), target, time.time())
    before = events(target)
    flags = ["--delay", "0", "--allow-net", NETWORK, "--pages", "3", "--quiet", "--refresh-after", "0.1s"]
    assert main(["crawl", "--dir", str(target), *flags, "--seconds", "20"]) == 0
    assert events(target) > before
    assert not verify(target).wrong
    assert main(["search", "page", "--dir", str(target)]) in (0, 1)


def test_a_running_crawl_is_copied_again_and_again(site, beside, tmp_path):
    source, target, stop = tmp_path / "crawl", tmp_path / "copy", asyncio.Event()
    settings = Config(delay_s=0, allow_net=(NETWORK,), refresh_after_s=0.05, snapshot_every_s=1, connections_per_ip=8)
    running = asyncio.run_coroutine_threadsafe(
        crawl(source, settings, site.seeds, Limits(seconds=60), stop=stop), beside
    )
    try:
        wait_for(lambda: bool(list(source.glob("journal-*"))) and events(source) >= 5)
        seen = []
        for _ in range(4):
            least = events(source)
            made = backup(source, target, time.time())
            assert made.events >= least
            found = verify(target)
            assert not found.wrong, found.wrong
            seen.append(made.events)
            wait_for(lambda before=made.events: events(source) > before)
        assert seen == sorted(set(seen))
    finally:
        beside.call_soon_threadsafe(stop.set)
        running.result(60)


def broken_off(source: str, target: Path, most: int, monkeypatch) -> bool:
    """Make a backup of which the disk takes so many writes; return whether that was too few."""
    left, made = iter(range(most)), RealDisk.__init__

    def begin(disk, directory, **named: object) -> None:
        def before(operation: str, name: str) -> None:
            if next(left, None) is None:
                raise OSError(5, "broken off")

        made(disk, directory, **(named if named.get("read_only") else named | {"before": before}))

    with monkeypatch.context() as patch:
        patch.setattr(RealDisk, "__init__", begin)
        try:
            backup(Path(source), target, time.time())
        except StoreError:
            return True
    return False


def test_a_first_backup_that_is_broken_off_is_refused_and_finished_by_the_next(crawled, tmp_path, monkeypatch, capsys):
    for most in range(1, 60, 4):
        target = tmp_path / f"t{most}"
        if not broken_off(crawled, target, most, monkeypatch):
            break
        if not (target / UNFINISHED).exists():  # nothing was copied yet
            assert not is_crawl(target)
            continue
        held = {path: path.read_bytes() for path in target.rglob("*") if path.is_file() and path.name != "lock"}
        if (target / "crawl.json").exists():  # else it is taken for no crawl at all
            assert [sentence for sentence in verify(target).wrong if "a backup that was interrupted" in sentence]
            assert main(["verify", "--repair", "--yes", "--cut", "--dir", str(target)]) == 1
        if (target / "crawl.json").exists():
            assert main(["pause", "--dir", str(target)]) == 3
        assert main(["crawl", "http://example.org/", "--dir", str(target), "--quiet"]) == 3
        assert "a backup that was interrupted" in capsys.readouterr().err
        with pytest.raises(StoreError, match="a backup that was interrupted"):
            backup(target, tmp_path / "of it", time.time())
        assert {path: path.read_bytes() for path in held} == held
        assert backup(Path(crawled), target, time.time()).events == events(crawled)
        assert not verify(target).wrong
    assert most > 5


def test_a_later_backup_that_is_broken_off_opens_and_is_finished_by_the_next(crawled, site, tmp_path, monkeypatch):
    first = tmp_path / "first"
    backup(Path(crawled), first, time.time())
    flags = ["--delay", "0", "--allow-net", NETWORK, "--pages", "5", "--quiet", "--refresh-after", "0.1s"]
    assert main(["crawl", "--dir", crawled, *flags, "--seconds", "20"]) == 0
    for most in range(0, 60, 4):
        target = Path(shutil.copytree(first, tmp_path / f"t{most}"))
        broken = broken_off(crawled, target, most, monkeypatch)
        again = Partition(Path(shutil.copytree(target, tmp_path / f"o{most}")), os.urandom, now=2e9, site=found_site)
        assert again.state.visits
        again.close()
        assert backup(Path(crawled), target, time.time()).events == events(crawled)
        assert not verify(target).wrong
        if not broken:
            break
    assert most > 5


def test_a_later_backup_of_more_urls_that_is_broken_off_is_a_sound_crawl(site, tmp_path, monkeypatch):
    """The new snapshot names URLs, so their files are copied before it."""
    source, first = tmp_path / "source", tmp_path / "first"
    flags = ["--dir", str(source), "--delay", "0", "--allow-net", NETWORK, "--quiet", "--no-index"]
    assert main(["crawl", *site.seeds, *flags, "--pages", "2"]) == 0
    backup(source, first, time.time())
    assert main(["crawl", *flags, "--until-idle", "--seconds", "600"]) == 0
    for most in range(60):
        target = Path(shutil.copytree(first, tmp_path / f"t{most}"))
        broken = broken_off(str(source), target, most, monkeypatch)
        assert not verify(target).wrong, most
        shutil.rmtree(target)
        if not broken:
            break
    assert most > 10


def test_a_later_backup_that_copies_everything_again_is_refused_while_it_is_broken_off(crawled, tmp_path, monkeypatch):
    """After a removal its files are emptied first: opened then, it would be a crawl without events or archive."""
    source, first = Path(shutil.copytree(crawled, tmp_path / "source")), tmp_path / "first"
    backup(source, first, time.time())
    (source / REMOVED).parent.mkdir(exist_ok=True)
    (source / REMOVED).write_text("{}")
    for most in range(0, 60, 3):
        target = Path(shutil.copytree(first, tmp_path / f"t{most}"))
        broken = broken_off(source, target, most, monkeypatch)
        if broken and (target / UNFINISHED).exists():
            with pytest.raises(StoreError, match="a backup that was interrupted"):
                Partition(target, os.urandom, now=2e9, site=found_site)
        else:
            again = Partition(
                Path(shutil.copytree(target, tmp_path / f"o{most}")), os.urandom, now=2e9, site=found_site
            )
            assert again.state.visits
            again.close()
        assert backup(source, target, time.time()).events == events(source)
        assert growing(target) == growing(source)
        if not broken:
            break
    assert most > 5


@pytest.mark.parametrize("name", ["journal-0000000000000000.log", "urls.log"])
def test_where_a_crash_had_cut_the_original_the_copy_follows(crawled, tmp_path, name):
    target = tmp_path / "copy"
    backup(Path(crawled), target, time.time())
    for data in (b"x" * 100, b"y" * 200_000):  # what a crash made the original lose
        with (target / name).open("ab") as file:
            file.write(data)
        backup(Path(crawled), target, time.time())
        assert (target / name).read_bytes() == (Path(crawled) / name).read_bytes()
    file = target / name
    file.write_bytes(file.read_bytes()[:-50] + os.urandom(50))
    backup(Path(crawled), target, time.time())
    assert file.read_bytes() == (Path(crawled) / name).read_bytes()


@pytest.mark.parametrize("lost", ["emptied", "removed"])
@pytest.mark.parametrize("names", ["journal-*.log", "archive/*.warc.gz"])
def test_a_crawl_that_lost_its_files_does_not_take_the_backup_with_it(crawled, tmp_path, capsys, names, lost):
    target = tmp_path / "copy"
    assert main(["backup", str(target), "--dir", crawled]) == 0
    held = {path: path.read_bytes() for path in target.rglob("*") if path.is_file() and path.name != "lock"}
    for path in Path(crawled).glob(names):
        path.unlink() if lost == "removed" else path.write_bytes(b"")
    assert main(["backup", str(target), "--dir", crawled]) == 3
    assert "the crawl has lost data that the backup still holds, and nothing was copied" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in target.rglob("*") if path.is_file() and path.name != "lock"} == held
    assert main(["verify", "--repair", "--yes", "--dir", crawled, "--from", str(target)]) == 0
    assert main(["backup", str(target), "--dir", crawled]) == 0
    assert not verify(target).wrong
    assert not verify(Path(crawled)).wrong


@pytest.mark.parametrize("name", ["crawl.json", "crawl-copy.json"])
def test_nor_one_that_lost_its_description_too(crawled, tmp_path, capsys, name):
    target = tmp_path / "copy"
    assert main(["backup", str(target), "--dir", crawled]) == 0
    for lost in [Path(crawled) / name, *Path(crawled).glob("journal-*.log")]:
        lost.unlink()
    assert main(["backup", str(target), "--dir", crawled]) == 3
    assert "the crawl has lost data that the backup still holds, and nothing was copied" in capsys.readouterr().err


def test_what_a_crash_cut_off_since_the_backup_is_no_loss(crawled, tmp_path):
    """A backup of a running crawl may have records of which no event tells yet, and a file that was just begun."""
    target = tmp_path / "copy"
    backup(Path(crawled), target, time.time())
    (archive,) = target.glob("archive/*.warc.gz")
    with archive.open("ab") as file:
        file.write(b"x" * (CUT_BYTES + 1))
    (archive.parent / archive.name.replace("00000.warc.gz", "00001.warc.gz")).write_bytes(b"y" * (CUT_BYTES + 1))
    (journal,) = target.glob("journal-*.log")
    (target / f"journal-{journal.stat().st_size:016x}.log").write_bytes(b"z" * 30_000)
    backup(Path(crawled), target, time.time())
    assert not verify(target).wrong
    assert growing(target) == growing(Path(crawled))


def test_what_is_no_place_for_a_backup_is_refused(crawled, tmp_path, capsys):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    (tmp_path / "file").touch()
    other = tmp_path / "other"
    assert main(["crawl", "http://a.example/", "--dir", str(other), "--seconds", "0", "--quiet"]) == 0
    cases = {
        "full": "not empty",
        "file": "is a file",
        "other": "another crawl",
        "crawl": "itself",
        "crawl/in": "itself",
    }
    for name, why in cases.items():
        with pytest.raises(ConfigError, match=why):
            backup(Path(crawled), tmp_path / name, time.time())
    with pytest.raises(ConfigError, match="no crawl in"):
        backup(tmp_path / "full", tmp_path / "copy", time.time())
    lock = Lock.take(other, "evercrawl crawl", time.time())
    backup(other, tmp_path / "copy", time.time())  # it may be running
    lock.release()
    held = Lock.take(tmp_path / "copy", "evercrawl crawl", time.time())
    with pytest.raises(StoreError, match="evercrawl crawl"):
        backup(other, tmp_path / "copy", time.time())
    held.release()
    assert (tmp_path / "full" / "letter.txt").read_text() == "dear"
    assert (tmp_path / "copy" / BACKUP_FILE).exists()


@pytest.mark.parametrize("name", ["crawl.json", "crawl.toml", "journal-0000000000000000.log", "robots.sqlite"])
def test_nothing_in_a_target_leads_elsewhere_or_has_a_backup_wait(crawled, tmp_path, name):
    target, precious = tmp_path / "copy", tmp_path / "precious"
    precious.write_text("mine")
    backup(Path(crawled), target, 1e9)
    (target / name).unlink()
    (target / name).symlink_to(precious)
    with pytest.raises(StoreError, match="a symbolic link"):
        backup(Path(crawled), target, 2e9)
    (target / name).unlink()
    os.mkfifo(target / name)
    with pytest.raises(StoreError, match="a pipe"):
        backup(Path(crawled), target, 2e9)
    assert precious.read_text() == "mine"
    (target / name).unlink()
    backup(Path(crawled), target, 2e9)
    assert not verify(target).wrong


@pytest.mark.parametrize("part", ["crawl.json", "crawl.toml", "archive", "journal", "snapshot", "known", BACKUP_FILE])
def test_no_room_for_a_backup_is_told_whichever_file_it_meets_and_the_next_one_ends_it(
    crawled, tmp_path, monkeypatch, part
):
    target, write = tmp_path / "copy", os.write
    pwrite = os.pwrite

    def refuse(descriptor: int) -> None:
        if part in str(Path(f"/proc/self/fd/{descriptor}").readlink()).removeprefix(str(target)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(descriptor, data):  # noqa: ANN202
        refuse(descriptor)
        return write(descriptor, data)

    def full_at(descriptor, data, at):  # noqa: ANN202
        refuse(descriptor)
        return pwrite(descriptor, data, at)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        patched.setattr(os, "pwrite", full_at)
        with pytest.raises(NoRoomError):
            backup(Path(crawled), target, 1e9)
    backup(Path(crawled), target, 2e9)
    assert not verify(target).wrong
    assert stat.S_IMODE((target / "crawl.toml").stat().st_mode) == 0o600
    assert (target / "crawl.toml").read_bytes() == (Path(crawled) / "crawl.toml").read_bytes()


def growing(directory: Path) -> dict[str, bytes]:
    files = (*directory.glob("journal-*"), *directory.glob("archive/*.gz"), *directory.glob("forgotten*.bin"))
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def page_of(directory: Path) -> str:
    with contextlib.closing(opened(directory)) as partition:
        return partition.state.urls.get_many([1])[0]


def test_what_is_forgotten_while_a_backup_is_made_is_not_in_it(crawled, tmp_path):
    source, target, forgot = Path(shutil.copytree(crawled, tmp_path / "source")), tmp_path / "copy", []
    url = page_of(source)

    def watch(name: str, done: int, total: int) -> None:
        if name == "crawl.toml" and not forgot:  # journal and archive have been copied
            forgot.append(forget(source, [url]))

    backup(source, target, 1e9, watch)
    assert forgot
    assert growing(target) == growing(source)
    assert not verify(target).wrong


def test_what_is_forgotten_again_and_again_while_a_backup_is_made_leaves_it_to_the_next(crawled, tmp_path):
    source, target, times = Path(shutil.copytree(crawled, tmp_path / "source")), tmp_path / "copy", count(1)
    backup(source, target, 1e9)
    forget(source, [page_of(source)])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(backups.CrawlFilesHere, "written_ns", lambda self, name: next(times))  # later at each look
        with pytest.raises(StoreError, match="being forgotten"):
            backup(source, target, 2e9)
    assert not (target / FILES[0]).exists()
    backup(source, target, 3e9)
    assert growing(target) == growing(source)


def test_a_plan_to_forget_in_either_directory_has_everything_compared_anew(crawled, tmp_path, monkeypatch):
    """What differs is copied again, wherever it is in the files, and nothing else."""
    monkeypatch.setattr(backups, "PIECE_BYTES", 1000)
    monkeypatch.setattr(backups, "TAIL_BYTES", 100)
    source, target = Path(shutil.copytree(crawled, tmp_path / "source")), tmp_path / "copy"
    backup(source, target, 1e9)
    sizes = {name: (source / name).stat().st_size for name in growing(source)}
    assert max(sizes.values()) > 3000
    for name, size in sizes.items():
        with (target / name).open("r+b") as file:
            file.seek(size // 3)
            file.write(b"\0")
    assert growing(target) != growing(source)
    (target / PLAN).write_bytes(b"begun")
    copied = backup(source, target, 3e9).copied_bytes
    assert growing(target) == growing(source)
    assert 0 < copied < sum(sizes.values()) / 2
    assert not (target / PLAN).exists()


@pytest.mark.parametrize("folder", ["what?mode=memory", "a#b", "50%2e", "x&cache=shared", "ü"])
def test_whatever_the_folder_is_called_its_databases_are_copied(crawled, tmp_path, folder):
    source = Path(shutil.copytree(crawled, tmp_path / folder))
    with contextlib.closing(sqlite3.connect(source / "robots.sqlite")) as cache:
        cache.execute("CREATE TABLE mark (x)")
        cache.commit()
    backup(source, tmp_path / "copy", 1e9)
    with contextlib.closing(sqlite3.connect(tmp_path / "copy" / "robots.sqlite")) as cache:
        assert cache.execute("SELECT count(*) FROM mark").fetchall() == [(0,)]


def test_no_name_of_a_file_has_databases_from_elsewhere_copied(crawled, tmp_path):
    """A name in which SQLite would read a path: it is looked up as it stands."""
    source = Path(shutil.copytree(crawled, tmp_path / "theirs"))
    with contextlib.closing(sqlite3.connect(tmp_path / "precious.sqlite")) as cache:
        cache.execute("CREATE TABLE secret (x)")
        cache.commit()
    (source / "%2e%2e%2fprecious.sqlite").write_bytes(b"")
    backup(source, tmp_path / "copy", 1e9)
    for path in (tmp_path / "copy").glob("*precious*"):
        assert b"secret" not in path.read_bytes()


def held(directory: Path) -> dict[str, bytes]:
    """Return all files of a directory but its lock."""
    files = [path for path in directory.rglob("*") if path.is_file() and path.name != "lock"]
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def went_on(directory: Path) -> None:
    """Let a crawl visit two pages again, which its journal then has."""
    before = events(directory)
    flags = ["--delay", "0", "--allow-net", NETWORK, "--pages", "2", "--refresh-after", "0.1s", "--workers", "0"]
    assert main(["crawl", "--dir", str(directory), "--quiet", "--no-index", *flags]) == 0
    assert events(directory) > before


@pytest.mark.parametrize("where", ["crawl", "backup", "backup, which then goes on too"])
def test_a_crawl_that_has_gone_on_is_no_place_for_its_backup(crawled, tmp_path, capsys, where):
    """Whoever wants to go back to a backup may try this; a few events would be lost without a word."""
    first, second = Path(shutil.copytree(crawled, tmp_path / "first")), tmp_path / "second"
    backup(first, second, time.time())
    source, target = (second, first) if where == "crawl" else (first, second)
    went_on(target)
    if where.endswith("too"):
        went_on(source)
        went_on(source)
    before = held(target)
    assert main(["backup", str(target), "--dir", str(source)]) == 2
    assert "has gone on itself" in capsys.readouterr().err
    assert held(target) == before


def test_a_crawl_that_has_not_gone_on_takes_its_backup(crawled, tmp_path):
    first, second = Path(shutil.copytree(crawled, tmp_path / "first")), tmp_path / "second"
    backup(first, second, time.time())
    went_on(second)
    backup(second, first, time.time())
    assert growing(first) == growing(second)


def test_a_running_crawl_and_another_one_are_no_place_for_a_backup(crawled, tmp_path, capsys):
    copy, other = tmp_path / "copy", tmp_path / "other"
    backup(Path(crawled), copy, time.time())
    assert main(["crawl", "http://a.example/", "--dir", str(other), "--seconds", "0", "--quiet"]) == 0
    before = held(Path(crawled)), held(other)
    with Lock.take(Path(crawled), "evercrawl crawl", time.time()):
        assert main(["backup", crawled, "--dir", str(copy)]) == 3
        assert "is in use by process" in capsys.readouterr().err
    assert main(["backup", str(other), "--dir", str(copy)]) == 2
    assert "another crawl" in capsys.readouterr().err
    assert (held(Path(crawled)), held(other)) == before
