"""Second copies on another disk: real processes are killed, and directories removed."""

import asyncio
import contextlib
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from evercrawl.cluster.birth import ClusterBirth, WholeCopy, part_directory, read_birth, write_birth
from evercrawl.cluster.copies.folder_copies import FolderCopies, on_one_device
from evercrawl.cluster.copies.folder_keeper import FolderKeeper
from evercrawl.cluster.copies.restoring_part import restore_lost
from evercrawl.config import Config
from evercrawl.errors import ConfigError
from evercrawl.simulate.parted.reached import reached
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.journal import Journal
from evercrawl.store.keeper.copy import state_of
from evercrawl.store.keeper.folder import made
from evercrawl.store.keeper.messages import CopyOwner, FileWrite, KeeperAsk, KeeperDone, KeeperRefusal, KeeperStep
from evercrawl.store.requisites.losing import record_of


def records_in(place: Path) -> int:
    """Return how many archived records a second copy's journal names."""
    with contextlib.closing(RealDisk(place, read_only=True)) as disk:
        return sum(record_of(event) is not None for _, _, event in Journal.open(disk, writable=False).replay())


def test_a_partition_and_then_all_of_them_are_lost_and_nothing_that_counted_is(served):
    copies, asked = served.folder / "copies", served.server.asked
    copies.mkdir()
    keeping = ("--durable", "keeper", "--keeper-dir", str(copies))
    slow = ("--delay", "0.1")  # copies are whole before it is done
    crawl = served.start("--partitions", "2", "--until-idle", *slow, *keeping)
    acknowledged, whole = 0, list[int]()
    while len(asked) < 30 or not acknowledged or whole != [0, 1]:
        assert crawl.poll() is None, crawl.communicate()
        time.sleep(0.05)
        acknowledged = sum(records_in(place) for place in copies.glob("*/part-1"))
        whole = sorted(read_birth(served.directory).copies) if asked else []
    assert sorted(read_birth(served.directory).begun) == [0, 1]
    children = served.processes()
    for child in children:  # first, so that no other process begins before the directory is gone
        os.kill(child, signal.SIGSTOP)
    (served.directory / "part-1").rename(served.folder / "lost")
    for child in children:
        os.kill(child, signal.SIGKILL)
    out, err = crawl.communicate(timeout=120)
    assert crawl.returncode == 0, out + err
    assert "part-1 was missing and was restored from its second copy" in out + err
    assert "is on the same device as" in out + err
    segments = [file.name for file in (served.directory / "part-1" / "archive").glob("*.warc.gz")]
    assert segments  # whoever has copies of those that were lost does not get others of the same names
    assert not [name for name in segments if "00000." in name]
    found = served.read()
    assert found.wrong == []
    assert found.under_way == 0.0
    assert reached(served.server.web, served.server.seed) == set(found.visited)

    shutil.rmtree(served.directory)  # the disk of all partitions
    served.directory.mkdir()
    for name in ("cluster.json", "crawl.toml"):
        shutil.copy(next(copies.glob("*/")) / name, served.directory)
    crawl = served.start("--pages", "10", *keeping, seed=False)
    out, err = crawl.communicate(timeout=120)
    assert crawl.returncode == 0, out + err
    again = served.read()
    assert again.wrong == []
    assert set(again.visited) == set(found.visited)
    served.run("verify", "--dir", str(served.directory))


@pytest.fixture
def crawled(tmp_path):
    """Return a crawl of two partitions, of which nothing was begun, and settings for disks A and B."""
    directory = tmp_path / "wide"
    directory.mkdir()
    write_birth(directory, ClusterBirth(1, "crawl", 2, "00" * 16, 0))
    kept = {}
    for name in "ab":
        (tmp_path / name).mkdir()
        kept[name] = Config(durable="keeper", keeper_dir=str(tmp_path / name))
    return directory, kept


def whole(place: Path, life: int) -> FolderKeeper:
    """Let a life write a whole copy."""
    keeper, owner = FolderKeeper(place), CopyOwner("crawl", 1, 0, life)
    session = asyncio.run(keeper.ask(KeeperAsk(owner))).session
    step = KeeperStep(owner, session, 1, [FileWrite("crawl.json", -1, b"x")], whole=True)
    assert isinstance(asyncio.run(keeper.ask(step)), KeeperDone)
    return keeper


def anew(directory: Path) -> FolderCopies:
    """Return what another process knows of the copies."""
    return FolderCopies(directory, read_birth(directory))


def here(directory: Path) -> Path:
    """Return the directory of partition 1, which is there."""
    part = part_directory(directory, 1)
    part.mkdir(exist_ok=True)
    (part / "crawl.json").write_bytes(b"x")
    return part


def test_a_copy_that_lacks_what_counted_since_is_not_opened(crawled):
    """A crawl ran without its keeper meanwhile, in another process."""
    directory, kept = crawled
    copies, part = anew(directory), part_directory(directory, 1)
    place = copies.place(kept["a"], 1, 3, part)
    assert place == directory.parent / "a" / "crawl" / "part-1"
    whole(place, 3)
    copies.caught_up(1)
    assert read_birth(directory).copies == read_birth(place.parent).copies == {1: WholeCopy(str(place), 3)}
    assert anew(directory).since(1) == 3
    assert anew(directory).place(Config(), 1, 4, here(directory)) is None
    assert read_birth(directory).copies == read_birth(place.parent).copies == {}
    with contextlib.closing(RealDisk(place, read_only=True)) as disk:
        assert not state_of(disk).whole  # nor is it opened under another cluster.json
    shutil.rmtree(part)
    said = []
    for since in (None, 3):
        with pytest.raises(ConfigError, match="the crawl ran without it"):
            restore_lost(place, part, 5, since, said.append)
    whole(place, 5)
    with pytest.raises(ConfigError, match="the crawl ran without it"):  # an older copy
        restore_lost(place, part, 7, 6, said.append)
    restore_lost(place, part, 7, 5, said.append)
    assert "part-1 was missing" in said[0]
    restore_lost(place, part, 8, 5, said.append)  # it is there
    restore_lost(place.parent / "none", directory / "part-0", 5, 1, said.append)  # a new partition
    assert len(said) == 1


def test_a_copy_on_a_disk_of_before_is_not_opened(crawled):
    directory, kept = crawled
    part, places = here(directory), {}
    for life, name in ((3, "a"), (4, "b")):
        copies = anew(directory)
        places[name] = copies.place(kept[name], 1, life, part)
        whole(places[name], life)
        copies.caught_up(1)
    a_state = places["a"] / "keeper.json"
    a_state.write_bytes(
        a_state.read_bytes().replace(b'"whole":false', b'"whole":true')
    )  # its disk was not mounted then
    shutil.rmtree(part)
    with pytest.raises(ConfigError, match=f"--keeper-dir {directory.parent / 'b'}"):
        anew(directory).place(kept["a"], 1, 5, part)
    assert anew(directory).since(1) == 4  # what B has is still known
    assert anew(directory).place(kept["b"], 1, 5, part) == places["b"]
    (directory.parent / "b").rename(directory.parent / "mounted elsewhere")
    moved = Config(durable="keeper", keeper_dir=str(directory.parent / "mounted elsewhere"))
    assert anew(directory).place(moved, 1, 6, part) is not None
    assert anew(directory).since(1) == 4
    assert anew(directory).place(kept["a"], 1, 7, here(directory)) == places["a"]
    assert anew(directory).since(1) is None  # until it has caught up


def test_a_partition_that_is_not_there_is_not_begun_anew(crawled):
    directory, kept = crawled
    part, copies = part_directory(directory, 1), anew(directory)
    assert copies.place(Config(), 1, 3, part) is None  # a new one
    copies.begun(1)
    for settings in (Config(), kept["a"]):
        with pytest.raises(ConfigError, match=r"is its disk mounted.*No second copy"):
            anew(directory).place(settings, 1, 4, part)
    assert anew(directory).place(Config(), 0, 4, part_directory(directory, 0)) is None
    here(directory)
    copies = anew(directory)
    place = copies.place(kept["a"], 1, 4, part)
    whole(place, 4)
    copies.caught_up(1)
    shutil.rmtree(part)
    with pytest.raises(ConfigError, match=f"restore it from its second copy.*--keeper-dir {directory.parent / 'a'}"):
        anew(directory).place(Config(), 1, 5, part)
    assert anew(directory).since(1) == 4
    shutil.rmtree(place)
    with pytest.raises(ConfigError, match="is that disk mounted"):
        anew(directory).place(kept["a"], 1, 5, part)


def test_what_could_not_be_written_beside_the_copies_is_written_once_it_can_be(crawled):
    """So that a crawl can go on from there whose disk is lost."""
    directory, kept = crawled
    disk, away = directory.parent / "a", directory.parent / "not mounted"
    disk.rename(away)
    copies = anew(directory)
    place = copies.place(kept["a"], 1, 3, here(directory))
    copies.write_owed()
    assert not disk.exists()
    away.rename(disk)
    copies.write_owed()
    assert read_birth(place.parent) == read_birth(directory)
    (place.parent / "cluster.json").unlink()
    copies.write_owed()
    assert not (place.parent / "cluster.json").exists()  # for it was written


def test_copies_on_the_device_of_the_crawl_are_warned_of(crawled):
    directory, kept = crawled
    assert on_one_device(Config(), directory) == ""
    assert f"same device as {directory}" in on_one_device(kept["a"], directory)
    here(directory)
    assert "part-1: if that is lost" in on_one_device(kept["a"], directory)
    elsewhere = Config(durable="keeper", keeper_dir="/proc")
    assert on_one_device(elsewhere, directory) == ""


def test_a_new_folder_of_copies_is_synced_in_the_one_above(tmp_path, monkeypatch):
    synced = list[str]()
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(str(Path(f"/proc/self/fd/{fd}").readlink())))
    for _ in range(2):
        made(tmp_path / "crawl")
    assert synced == [str(tmp_path)]
    with pytest.raises(FileNotFoundError):
        made(tmp_path / "not mounted" / "crawl")


def test_a_restoration_that_fails_is_said_and_not_tried_for_ever(crawled):
    directory, kept = crawled
    place = anew(directory).place(kept["a"], 1, 3, part_directory(directory, 1))
    whole(place, 3)
    part_directory(directory, 1).write_bytes(b"no directory")
    with pytest.raises(ConfigError, match="cannot be restored from its second copy"):
        restore_lost(place, part_directory(directory, 1), 4, 3, print)


def test_a_folder_that_is_gone_is_said_and_written_again_when_it_is_back(tmp_path):
    above, owner = tmp_path / "disk", CopyOwner("crawl", 1, 0, 3)
    above.mkdir()
    keeper = FolderKeeper(above / "crawl" / "part-1")

    def ask(question) -> object:
        return asyncio.run(keeper.ask(question))

    held = ask(KeeperAsk(owner))
    step = KeeperStep(owner, held.session, 1, [FileWrite("small", -1, b"abc")], whole=True)
    assert (ask(step), keeper.whole) == (KeeperDone(held.session, 1), True)
    above.rename(tmp_path / "away")
    gone = ask(KeeperStep(owner, held.session, 2, [FileWrite("journal-0000000000000000.log", 3, b"de")]))
    assert isinstance(gone, KeeperRefusal)
    assert not gone.over
    assert isinstance(ask(KeeperAsk(owner)), KeeperRefusal)
    assert not above.exists()
    (tmp_path / "away").rename(above)
    back = ask(KeeperAsk(owner))
    assert (back.files, list(back.others)) == ({}, ["small"])
