"""Copies of a crawl directory: whoever cannot read an original cannot read its copy."""

import asyncio
import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hand_made import HandMade

from evercrawl.cluster.copies.folder_keeper import FolderKeeper
from evercrawl.cluster.copies.restoring_part import restore_lost
from evercrawl.cluster.hauling.lending import Lending
from evercrawl.cluster.hauling.remote_files import RemoteFiles
from evercrawl.cluster.moving.transfer import bring_part, copy_part
from evercrawl.cluster.wire import FilesTold
from evercrawl.store.backups.backup import BACKUP_FILE, backup
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import FILE as LOCK
from evercrawl.store.disk.modes import mode_of
from evercrawl.store.keeper.messages import CopyOwner, FileWrite, KeeperAsk, KeeperStep
from evercrawl.store.orders import FILE as ORDERS
from evercrawl.store.orders import CrawlOrder, append, named
from evercrawl.store.orders_place import UNKNOWN, given_since
from evercrawl.store.repair.kept import keep_bytes, patch

OTHERS = 0o077


def modes(directory: Path) -> dict[str, int]:
    """Return what others may do with each file of a directory."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {path.relative_to(directory).as_posix(): stat.S_IMODE(path.stat().st_mode) & OTHERS for path in files}


def database(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as made:
        made.execute("create table one as select 3 as two")
        made.commit()


@pytest.fixture
def made(tmp_path) -> Iterator[Path]:
    """Return a crawl directory that has files of every kind, most of which others can read."""
    before = os.umask(0o022)
    crawl = HandMade(tmp_path / "part-0")
    crawl.seed("https://a.example/")
    crawl.visit("https://a.example/", crawl.page("Tea", text="all about tea"))
    crawl.save()
    crawl.stop()
    directory = crawl.directory
    append(directory, [named(CrawlOrder("set", name="proxy", values=("http://me:Secret99@a.example",)), 1.0, "ann")])
    for name in ("usage.jsonl", "signals.bin", "known.bin", "cookies.json", "forgotten.txt", "of-a-later-version.json"):
        if not (directory / name).exists():
            (directory / name).write_bytes(b"words\n")
    database(directory / "requisites.sqlite")
    for folder in ("search/pages", "derived"):
        (directory / folder).mkdir(parents=True, exist_ok=True)
        (directory / folder / "some").write_bytes(b"words\n")
    yield directory
    os.umask(before)


def of_another_machine(source: Path, goal: Path) -> None:
    lent = Lending(source.parent, 0)
    files = RemoteFiles(lambda asked: files.hear(FilesTold(asked.id, lent.told(asked))))
    goal.mkdir(exist_ok=True)
    bring_part(files, str(source), goal, lambda: None)
    lent.close()


def of_this_machine(source: Path, goal: Path) -> None:
    goal.mkdir(exist_ok=True)
    copy_part(source, goal, lambda: None)


COPIERS = {
    "backup": lambda source, goal: backup(source, goal, 1.0),
    "move": of_this_machine,
    "move to another machine": of_another_machine,
}


@pytest.mark.parametrize("name", COPIERS)
def test_no_copy_is_more_readable_than_its_original(made, tmp_path, name):
    goal, copy = tmp_path / "copy", COPIERS[name]
    copy(made, goal)
    assert modes(goal)[ORDERS] == 0  # also of an original that nobody had to close
    originals = modes(made)
    assert all(not mode & ~originals.get(each, OTHERS) for each, mode in modes(goal).items())
    readable = {each for each, mode in modes(goal).items() if mode and each in originals}
    assert readable  # nor is everything closed
    for each in readable:
        (made / each).chmod(0o600)
        if each.startswith(("search/", "derived/")):
            os.utime(made / each, ns=(1, 1))
    copy(made, goal)
    assert not {each for each, mode in modes(goal).items() if mode} & set(originals) - {LOCK}


def test_a_closed_directory_closes_the_copies_of_its_files(made, tmp_path):
    made.chmod(0o700)
    backup(made, tmp_path / "copy", 1.0)
    assert not {each for each, mode in modes(tmp_path / "copy").items() if mode} - {BACKUP_FILE, LOCK}
    assert mode_of(made, made / "gone") == 0o600


def test_the_group_of_an_original_that_its_copy_would_not_have_gives_no_right(tmp_path, monkeypatch):
    """A copy has the group of the process that makes it, whose members could not read an original of another group."""
    folder, mine = tmp_path / "crawl" / "folder", os.getegid()
    file = folder / "file"
    folder.mkdir(parents=True)
    file.touch()
    for each in (folder.parent, folder):
        each.chmod(0o755)

    def copied(mode: int) -> int:
        file.chmod(mode)
        return mode_of(folder.parent, file)

    assert [copied(mode) for mode in (0o600, 0o640, 0o660, 0o644)] == [0o600, 0o640, 0o640, 0o644]
    monkeypatch.setattr(os, "getegid", lambda: mine + 1)
    assert [copied(mode) for mode in (0o600, 0o640, 0o660, 0o644)] == [0o600, 0o600, 0o600, 0o644]
    folder.chmod(0o750)
    assert copied(0o644) == 0o600, "only the folder's group reads it"


def test_a_file_that_is_replaced_or_kept_by_a_repair_is_as_closed_as_before(made):
    (made / "closed").write_bytes(b"words\n")
    (made / "closed").chmod(0o600)
    with contextlib.closing(RealDisk(made)) as disk:
        disk.replace("closed", [b"other words\n"])
        disk.replace("open", [b"words\n"])
    keep_bytes(made, "closed", 0, 5)
    patch(made, "archive/new.warc.gz", 0, b"words")
    found = modes(made)
    assert found["closed"] == 0 != found["open"]
    assert found["archive/new.warc.gz"] == 0
    assert not {mode for each, mode in found.items() if each.startswith("damaged/")} - {0}


def test_second_copies_and_what_is_restored_from_them_are_their_owners(made, tmp_path):
    place, owner = tmp_path / "second", CopyOwner("crawl", 1, 0, 3)
    place.mkdir()
    (place / ORDERS).write_bytes(b"of an earlier version\n")
    (place / ORDERS).chmod(0o644)
    keeper = FolderKeeper(place)
    session = asyncio.run(keeper.ask(KeeperAsk(owner))).session
    assert modes(place)[ORDERS] == 0
    names = [name for name in modes(made) if name.startswith("journal-")]
    writes = [FileWrite(name, 0, (made / name).read_bytes()) for name in (*names, "signals.bin")]
    asyncio.run(keeper.ask(KeeperStep(owner, session, 1, writes, whole=True)))
    keeper.close()
    assert names
    assert set(modes(place).values()) == {0}
    said = list[str]()
    restore_lost(place, tmp_path / "restored", 4, 3, said.append)
    restored = modes(tmp_path / "restored")
    assert len(said) == 1
    assert {restored[name] for name in (*names, ORDERS)} == {0}


@pytest.mark.parametrize("name", COPIERS)
def test_orders_go_along_with_a_partition_that_moves_and_wait_in_a_backup(made, tmp_path, name):
    COPIERS[name](made, tmp_path / "copy")
    assert given_since(made / ORDERS) == 0
    assert given_since(tmp_path / "copy" / ORDERS) == (UNKNOWN if name == "backup" else 0)
