"""Second copies on another disk: real processes are killed, and directories removed."""

import asyncio
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from evercrawl.ask.verify.together import together
from evercrawl.cluster.birth import ClusterBirth, part_directories, read_birth, write_birth
from evercrawl.cluster.folder_keeper import FolderKeeper
from evercrawl.cluster.second_copies import SecondCopies
from evercrawl.config import Config
from evercrawl.errors import ConfigError
from evercrawl.model.stored.reader import opened
from evercrawl.simulate.parted.reached import reached
from evercrawl.store.keeper.messages import CopyOwner, FileWrite, KeeperAsk, KeeperDone, KeeperRefusal, KeeperStep


def read(directory: Path):
    partitions = [opened(part) for part in part_directories(directory)]
    try:
        return together(partitions)
    finally:
        for partition in partitions:
            partition.close()


def children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return [child for child in found if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_a_partition_and_then_all_of_them_are_lost_and_nothing_that_counted_is(served):
    copies, asked = served.folder / "copies", served.server.asked
    copies.mkdir()
    keeping = ("--durable", "keeper", "--keeper-dir", str(copies))
    crawl = served.start("--partitions", "2", "--until-idle", *keeping)
    copied = f"*/part-1/journal-{0:016x}.log"
    while len(asked) < 30 or [file.stat().st_size > 2000 for file in copies.glob(copied)] != [True]:
        assert crawl.poll() is None, crawl.communicate()
        time.sleep(0.05)
    assert sorted(read_birth(served.directory).kept) == [0, 1]
    for child in children(crawl.pid):
        os.kill(child, signal.SIGKILL)
    shutil.rmtree(served.directory / "part-1")
    out, err = crawl.communicate(timeout=120)
    assert crawl.returncode == 0, out + err
    assert "part-1 was gone: it was restored from its second copy" in out + err
    segments = [file.name for file in (served.directory / "part-1" / "archive").glob("*.warc.gz")]
    assert segments  # whoever has copies of those that were lost does not get others of the same names
    assert not [name for name in segments if "00000." in name]
    found = read(served.directory)
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
    again = read(served.directory)
    assert again.wrong == []
    assert set(again.visited) == set(found.visited)
    served.run("verify", "--dir", str(served.directory))


def test_a_copy_that_lacks_what_counted_since_is_not_opened(tmp_path):
    """A crawl ran without its keeper meanwhile."""
    birth = ClusterBirth(1, "crawl", 2, "00" * 16, 0)
    write_birth(tmp_path, birth)
    (tmp_path / "disk").mkdir()
    kept = Config(durable="keeper", keeper_dir=str(tmp_path / "disk"))
    copies = SecondCopies(tmp_path, birth)
    place = copies.place(kept, 1)
    assert place == tmp_path / "disk" / "crawl" / "part-1"
    copies.caught_up(1)
    assert read_birth(tmp_path).kept == [1]
    assert read_birth(place.parent).kept == [1]
    assert SecondCopies(tmp_path, read_birth(tmp_path)).counts(1)
    keeper, owner = FolderKeeper(place), CopyOwner("crawl", 1, 0, 3)
    session = asyncio.run(keeper.ask(KeeperAsk(owner))).session
    asyncio.run(keeper.ask(KeeperStep(owner, session, 1, [FileWrite("crawl.json", -1, b"x")], whole=True)))

    assert copies.place(Config(), 1) is None
    assert read_birth(tmp_path).kept == read_birth(place.parent).kept == []
    said = []
    with pytest.raises(ConfigError, match="the crawl ran without it"):
        keeper.restore(tmp_path / "part-1", 4, copies.counts(1), said.append)
    keeper.restore(tmp_path / "part-1", 4, True, said.append)
    assert "part-1 was gone" in said[0]
    keeper.restore(tmp_path / "part-1", 5, True, said.append)  # it is there
    FolderKeeper(tmp_path / "disk" / "none").restore(tmp_path / "part-0", 5, True, said.append)  # a new partition
    assert len(said) == 1


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
