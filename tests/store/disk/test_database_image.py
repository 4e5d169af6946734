"""Databases that are copied to another machine: only blocks that differ from the copy there are sent."""

import contextlib
import errno
import os
import sqlite3
import tempfile
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

from evercrawl.cluster.hauling import remote_files
from evercrawl.cluster.hauling.lending import Lending
from evercrawl.cluster.hauling.remote_files import RemoteFiles
from evercrawl.cluster.wire import FilesAsked, FilesTold
from evercrawl.errors import NoRoomError
from evercrawl.store.backups.backup import backup
from evercrawl.store.disk.crawl_files import CrawlFilesHere
from evercrawl.store.disk.database_image import BLOCK_BYTES, DatabaseImage, differing
from tests.cluster.hauling.moved_partitions import visit

NAME = "robots.sqlite"


def filled(part: Path, rows: int = 400) -> None:
    with contextlib.closing(sqlite3.connect(part / NAME)) as made:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("CREATE TABLE one (number INTEGER PRIMARY KEY, data BLOB)")
        made.executemany("INSERT INTO one VALUES (?, ?)", [(number, os.urandom(3000)) for number in range(rows)])
        made.commit()


def changed(part: Path, words: str) -> None:
    with contextlib.closing(sqlite3.connect(part / NAME)) as made:
        made.execute(words)
        made.commit()


def rows(file: Path) -> list[tuple[int, bytes]]:
    with contextlib.closing(sqlite3.connect(file)) as read:
        assert read.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return read.execute("SELECT number, data FROM one ORDER BY number").fetchall()


@pytest.fixture
def part(tmp_path) -> Path:
    directory = tmp_path / "a" / "part-0"
    directory.mkdir(parents=True)
    visit(directory)
    filled(directory)
    return directory


@pytest.fixture(params=["this machine", "another machine"])
def files(request, part):
    """Return the files of the partition, and the questions about them."""
    asked = list[FilesAsked]()
    if request.param == "this machine":
        here = CrawlFilesHere(part)
        yield here, asked
        here.close()
        return
    lent = Lending(part.parent, 0)

    def ask(what: FilesAsked) -> None:
        asked.append(what)
        afar.hear(FilesTold(what.id, lent.told(what)))

    afar = RemoteFiles(ask)
    yield afar, asked
    lent.close()


def test_a_copy_is_brought_up_to_date_by_what_differs(files, part, tmp_path):
    afar, asked = files
    copy, draft = tmp_path / "copy", tmp_path / "draft"

    def copied() -> int:
        draft.unlink(missing_ok=True)
        draft.touch()
        asked.clear()
        found = afar.copy_database(NAME, draft, copy)
        if found:
            draft.replace(copy)
        return found

    whole = copied()
    assert whole >= copy.stat().st_size > 1_000_000
    assert rows(copy) == rows(part / NAME)
    assert copied() == 0
    assert all(what.what == "image" for what in asked)
    changed(part, "UPDATE one SET data = zeroblob(3000) WHERE number = 200")
    changed(part, "INSERT INTO one VALUES (1000, zeroblob(9000))")
    assert 0 < copied() <= 8 * BLOCK_BYTES
    assert sum(len(what.blocks) for what in asked) <= 8
    assert rows(copy) == rows(part / NAME)
    changed(part, "DELETE FROM one WHERE number > 10")
    changed(part, "VACUUM")
    assert copied() > 0
    assert copy.stat().st_size < 100_000
    assert rows(copy) == rows(part / NAME)
    assert [path.name for path in part.parent.iterdir()] == ["part-0"], "no image is left"


def test_what_can_be_no_database_is_not_copied(files, part, tmp_path):
    afar, _ = files
    (tmp_path / "draft").touch()
    (part / "other.sqlite").write_bytes(b"none" * 1000)
    for name in ("other.sqlite", "missing.sqlite"):
        assert afar.copy_database(name, tmp_path / "draft", tmp_path / "copy") == 0


def test_a_disk_without_room_for_the_copy_is_told(files, part, tmp_path, monkeypatch):
    afar, _ = files
    (tmp_path / "draft").touch()

    def full(self, name, made) -> None:
        made.execute("PRAGMA max_page_count = 2")
        made.execute("CREATE TABLE other AS SELECT zeroblob(100000)")

    monkeypatch.setattr(CrawlFilesHere, "copy_into", full)
    with contextlib.closing(CrawlFilesHere(part)) as here:
        for place in (here, afar):
            with pytest.raises(NoRoomError, match="no room for a copy of a database; free some space"):
                place.copy_database(NAME, tmp_path / "draft", tmp_path / "copy")
    monkeypatch.setattr(tempfile, "mkstemp", Mock(side_effect=OSError(errno.ENOSPC, "full")))
    with pytest.raises(NoRoomError):
        afar.copy_database(NAME, tmp_path / "draft", tmp_path / "copy")


def test_many_blocks_come_in_several_answers(part, tmp_path, monkeypatch):
    monkeypatch.setattr(remote_files, "AT_ONCE", 3)
    lent = Lending(part.parent, 0)
    afar = RemoteFiles(lambda what: afar.hear(FilesTold(what.id, lent.told(what))))
    (tmp_path / "draft").touch()
    assert afar.copy_database(NAME, tmp_path / "draft", tmp_path / "copy") > 3 * BLOCK_BYTES
    lent.close()
    assert rows(tmp_path / "draft") == rows(part / NAME)


def test_an_image_is_of_one_instant_and_one_that_fails_leaves_nothing(part, tmp_path):
    with contextlib.closing(CrawlFilesHere(part)) as here:
        image = DatabaseImage(partial(here.copy_into, NAME), tmp_path)
        changed(part, "DELETE FROM one")
        digests = image.digests()
        (tmp_path / "copy").write_bytes(image.blocks(differing(tmp_path / "none", digests)))
        assert len(rows(tmp_path / "copy")) == 400
        assert differing(tmp_path / "copy", digests) == []
        image.close()
        with pytest.raises(sqlite3.Error):
            DatabaseImage(partial(here.copy_into, "missing.sqlite"), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "copy"]


def test_a_backup_counts_what_differs_in_a_database(part, tmp_path):
    backup(part, tmp_path / "copy", 1.0)
    changed(part, "UPDATE one SET data = zeroblob(3000) WHERE number = 7")
    assert 0 < backup(part, tmp_path / "copy", 2.0).copied_bytes < 16 * BLOCK_BYTES
    assert rows(tmp_path / "copy" / NAME) == rows(part / NAME)
    assert backup(part, tmp_path / "copy", 3.0).copied_bytes < BLOCK_BYTES
