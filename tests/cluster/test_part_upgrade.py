"""`evercrawl upgrade` on a crawl in partitions: all of them, or nothing if one cannot be."""

import json
import os

import msgspec
import pytest

from evercrawl.cli.main import main
from evercrawl.cluster.birth import born, note_begun, part_directories, read_birth
from evercrawl.crawl.mending import upgrading
from evercrawl.model.stored.reader import opened
from evercrawl.parse.sites import site, site_rules
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.stamped import END, SNAPSHOT, packed, stamped
from evercrawl.store.partition import Partition
from evercrawl.store.snapshots import head, snapshot


@pytest.fixture
def older(tmp_path):
    """A crawl in two partitions whose snapshots are of a version that nobody reads any more."""
    birth = born(tmp_path, 2)
    (tmp_path / "crawl.toml").write_text("")
    for number, part in enumerate(part_directories(tmp_path)):
        part.mkdir()
        Partition(
            part, os.urandom, now=1.0, share=birth.share(number), secret=bytes.fromhex(birth.secret), site=site,
            site_rules=site_rules(),
        ).close()  # fmt: skip
        data = snapshot.MAGIC + packed(msgspec.msgpack.encode({"version": 7})) + END
        (part / stamped(SNAPSHOT, 0)).write_bytes(data)
        note_begun(tmp_path, number)
    return tmp_path


def versions(directory) -> list[list[int | None]]:
    found = []
    for part in part_directories(directory):
        disk = RealDisk(part, read_only=True)
        found.append([snapshot.version_of(disk, name) for name in snapshot.names(disk)])
        disk.close()
    return found


def test_all_partitions_are_upgraded_and_each_is_named(older, capsys):
    assert main(["upgrade", str(older), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert [said.count("part-0:"), said.count("part-1:"), said.count("it would be converted")] == [1, 1, 2]
    assert "directory: format 3, the newest" in said
    assert versions(older) == [[7], [7]]
    assert main(["upgrade", "--dir", str(older), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["directory"] for row in rows] == [str(part) for part in part_directories(older)]
    assert versions(older) == [[head.VERSION]] * 2
    assert main(["upgrade", str(older)]) == 0
    assert capsys.readouterr().out.endswith("already current\n")
    for part in part_directories(older):
        opened(part).close()


def test_an_interrupted_upgrade_is_done_with_when_it_is_given_again(older, monkeypatch, capsys):
    step, done = upgrading.STEPS["snapshot"], list[str]()

    def broken(directory) -> None:
        if done:
            raise KeyboardInterrupt
        done.append(directory.name)
        step(directory)

    monkeypatch.setitem(upgrading.STEPS, "snapshot", broken)
    assert main(["upgrade", str(older)]) == 130
    assert versions(older) == [[head.VERSION], [7]]
    monkeypatch.undo()
    assert main(["upgrade", str(older)]) == 0
    assert versions(older) == [[head.VERSION]] * 2
    assert f"verify --dir {older}" in capsys.readouterr().out


def test_nothing_is_upgraded_if_one_partition_cannot_be_or_a_crawl_runs(older, capsys):
    lock = Lock.take(older, "evercrawl crawl", 0.0)
    assert main(["upgrade", str(older)]) == 3
    lock.release()
    part = part_directories(older)[1]
    before = part / "crawl.json", part / "crawl-copy.json"
    kept = [path.read_bytes() for path in before]
    for path in before:
        path.write_bytes(b"no")
    assert main(["upgrade", str(older)]) == 3
    assert "damaged" in capsys.readouterr().err
    for path, data in zip(before, kept, strict=True):
        path.write_bytes(data)
    part.rename(older / "away")
    assert read_birth(older).begun == [0, 1]
    assert main(["upgrade", str(older)]) == 2
    assert "is its disk mounted" in capsys.readouterr().err
    (older / "away").rename(part)
    assert versions(older) == [[7], [7]]
