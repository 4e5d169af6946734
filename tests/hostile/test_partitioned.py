"""Directories of strangers with several partitions: whatever path they name, nothing there is read or changed."""

import contextlib
import os
import shutil
from argparse import Namespace
from pathlib import Path

import msgspec
import pytest

from evercrawl.cli import partitions
from evercrawl.cli.main import main
from evercrawl.cluster.birth import ClusterBirth, WholeCopy, part_directories, read_birth, write_birth
from evercrawl.cluster.copies.folder_copies import FolderCopies
from evercrawl.cluster.copies.folder_keeper import FolderKeeper
from evercrawl.cluster.moving.transfer import mark_left
from evercrawl.config import Config
from evercrawl.crawl.removing.forgetting import forget
from evercrawl.errors import ConfigError, StoreError
from evercrawl.parse.sites import site_rules
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.keeper.folder import note_place
from evercrawl.store.keeper.messages import CopyOwner, FileWrite, KeeperAsk, KeeperStep
from evercrawl.store.partition import Partition

MINE, THEIRS = "11" * 16, "00" * 16


def a_partition(part: Path, birth: ClusterBirth, number: int) -> Path:
    part.mkdir(parents=True)
    secret = bytes.fromhex(birth.secret)
    with contextlib.closing(
        Partition(part, os.urandom, now=1e9, secret=secret, share=birth.share(number), site_rules=site_rules())
    ) as one:
        one.journal.write(one.journal.seal())
    return part


def a_copy(place: Path, part: Path, cluster: str, number: int) -> Path:
    """Have a whole second copy of a partition in a folder."""
    import asyncio

    place.parent.mkdir(parents=True, exist_ok=True)
    keeper, owner = FolderKeeper(place), CopyOwner(cluster, number, 0, 3)
    session = asyncio.run(keeper.ask(KeeperAsk(owner))).session
    files = [FileWrite("crawl.json", -1, (part / "crawl.json").read_bytes())]
    asyncio.run(keeper.ask(KeeperStep(owner, session, 1, files, whole=True)))
    keeper.close()
    Path(f"{place}.lock").unlink()
    return place


def everything(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """What is somebody's: a crawl, a partition and a copy of the same id and numbers as the stranger's, and papers."""
    birth = ClusterBirth(1, "same", 1, MINE, site_rules())
    folder = tmp_path / "mine"
    part = a_partition(folder / "wide" / "part-0", birth, 0)
    write_birth(folder / "wide", birth)
    copy = a_copy(folder / "copies" / "same" / "part-0", part, "same", 0)
    shutil.copy(folder / "wide" / "cluster.json", copy.parent)
    (copy.parent / "crawl.toml").write_text("mine")
    (folder / "papers").mkdir()
    (folder / "papers" / "crawl.toml").write_text("mine")
    (folder / "crawl").mkdir()
    Partition(folder / "crawl", os.urandom, now=1e9).close()
    return folder


def stranger(tmp_path: Path, **named: object) -> Path:
    directory = tmp_path / "theirs"
    birth = ClusterBirth(1, "same", 1, THEIRS, site_rules(), **named)
    if not directory.exists():
        a_partition(directory / "part-0", birth, 0)
    write_birth(directory, birth)
    (directory / "crawl.toml").write_text("")
    return directory


@pytest.mark.parametrize("where", ["wide/part-0", "crawl", "papers", "copies/same/part-0", "papers/crawl.toml"])
@pytest.mark.parametrize("given", [["pause"], ["status"], ["forget", "http://a.example/", "--yes"], ["crawl"]])
def test_no_home_of_a_partition_is_a_directory_of_another_crawl(tmp_path, mine, capsys, where, given):
    directory, before = stranger(tmp_path, homes={0: str(mine / where)}), everything(mine)
    assert main([*given, "--dir", str(directory)]) != 0
    assert "not of this crawl" in capsys.readouterr().err
    assert everything(mine) == before


def test_a_home_that_names_this_crawl_back_is_believed_or_has_nothing(tmp_path):
    directory = stranger(tmp_path)
    home = shutil.copytree(directory / "part-0", tmp_path / "disk" / "part-0")
    write_birth(directory, msgspec.structs.replace(read_birth(directory), homes={0: str(home)}))
    assert part_directories(directory) == [home]
    (home / "crawl.json").write_bytes(b"damaged")  # its copy says the same
    assert part_directories(directory) == [home]
    shutil.rmtree(home)
    assert part_directories(directory) == [home]
    home.mkdir()
    assert part_directories(directory) == [home]
    (home / "restoring").write_bytes(b"\n")
    assert part_directories(directory) == [home]


@pytest.mark.parametrize("where", ["wide/part-0", "crawl", "papers"])
def test_no_directory_is_marked_as_left_that_is_of_another_crawl(tmp_path, mine, where):
    directory, before = stranger(tmp_path, left={str(mine / where): 0}), everything(mine)
    assert mark_left(directory) == ""
    assert everything(mine) == before


@pytest.mark.parametrize("where", ["copies/same/part-0", "wide/part-0", "papers/part-0", "copies/other/part-0"])
def test_nothing_is_written_where_a_directory_says_that_its_copy_is(tmp_path, mine, where):
    directory, before = stranger(tmp_path, copies={0: WholeCopy(str(mine / where), 1)}), everything(mine)
    copies = FolderCopies(directory, read_birth(directory))
    assert copies.place(Config(), 0, 2, directory / "part-0") is None
    copies.write_owed()
    assert everything(mine) == before
    assert read_birth(directory).copies == {}


@pytest.mark.parametrize("folder", ["copies", ".", "disguised"])
def test_nor_where_its_settings_say_so_and_another_crawl_or_something_else_is(tmp_path, mine, folder):
    (mine / "same").symlink_to("papers")
    (mine / "disguised" / "same" / "part-0").mkdir(parents=True)
    (mine / "disguised" / "same" / "part-0" / "letter").write_text("mine")
    directory, before = stranger(tmp_path), everything(mine)
    settings = Config(durable="keeper", keeper_dir=str(mine / folder))
    with pytest.raises(ConfigError, match="something else than second copies"):
        FolderCopies(directory, read_birth(directory)).place(settings, 0, 2, directory / "part-0")
    assert everything(mine) == before


def test_copies_of_this_crawl_are_written_and_marked_wherever_their_disk_is(tmp_path):
    directory = stranger(tmp_path)
    above = tmp_path / "disk" / "same"
    copy = a_copy(above / "part-0", directory / "part-0", "same", 0)
    settings = Config(durable="keeper", keeper_dir=str(tmp_path / "disk"))
    copies = FolderCopies(directory, read_birth(directory))
    assert copies.place(settings, 0, 2, directory / "part-0") == copy  # also where nothing stands beside it yet
    copies.caught_up(0)
    assert read_birth(above).copies == {0: WholeCopy(str(copy), 2)}
    assert FolderCopies(directory, read_birth(directory)).place(Config(), 0, 3, directory / "part-0") is None
    assert b'"whole":false' in (copy / "keeper.json").read_bytes()
    assert read_birth(above).copies == {}


def test_what_is_forgotten_marks_no_copy_of_another_crawl(tmp_path, mine):
    directory = stranger(tmp_path)
    theirs = a_copy(tmp_path / "disk" / "part-0", directory / "part-0", "same", 0)
    before = everything(mine)
    for place, marked in ((mine / "copies" / "same" / "part-0", False), (theirs, True)):
        with contextlib.closing(RealDisk(directory / "part-0")) as disk:
            note_place(disk, str(place))
        said = " ".join(forget(directory / "part-0", ("http://a.example/",)).beyond)
        assert ("until then it is not opened" in said) == marked
    assert everything(mine) == before
    assert b'"whole":false' in (theirs / "keeper.json").read_bytes()


def test_a_partition_that_was_moved_and_is_gone_is_begun_or_restored_nowhere_unasked(tmp_path):
    gone = tmp_path / "disk" / "part-0"
    directory = stranger(tmp_path, homes={0: str(gone)})
    with pytest.raises(ConfigError, match="is its disk mounted"):
        FolderCopies(directory, read_birth(directory)).place(Config(), 0, 2, gone)
    (tmp_path / "copies").mkdir()
    settings = Config(durable="keeper", keeper_dir=str(tmp_path / "copies"))
    asked = Namespace(partitions=None, cluster=None, set_keeper_dir=None)
    with pytest.raises(ConfigError, match=f"--keeper-dir {tmp_path / 'copies'}"):
        partitions.asked(asked, directory, settings, seeded=False)
    asked.set_keeper_dir = str(tmp_path / "copies")
    assert partitions.asked(asked, directory, settings, seeded=False) == 1
    assert not gone.parent.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"parts": 2_000_000_000}, {"parts": 3}, {"parts": -1}, {"secret": "zz"}, {"secret": "00"}, {"id": "../mine"},
        {"id": ""}, {"homes": {"7": "/x"}}, {"homes": {"0": "/\0"}}, {"left": {"/x": 7}}, {"begun": [-1]},
        {"copies": {"9": {"place": "/x", "life": 1}}}, {"places": ["a", "b", "c"]},
    ],
)  # fmt: skip
def test_what_no_crawl_says_of_its_partitions_is_told(tmp_path, capsys, wrong):
    directory = stranger(tmp_path)
    said = msgspec.json.decode((directory / "cluster.json").read_bytes()) | wrong
    (directory / "cluster.json").write_bytes(msgspec.json.encode(said))
    with pytest.raises(StoreError, match=r"cluster\.json cannot be read"):
        read_birth(directory)
    assert main(["status", "--dir", str(directory)]) != 0
    assert "restore it from a copy" in capsys.readouterr().err


class Terminal:
    """A standard output that is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize("given", [["pause"], ["exclude", "/private/"]])
def test_the_name_of_a_home_says_nothing_to_the_terminal(tmp_path, monkeypatch, given):
    directory, terminal = stranger(tmp_path), Terminal()
    home = (directory / "part-0").rename(directory / "\x1b]0;x\x07")
    write_birth(directory, msgspec.structs.replace(read_birth(directory), homes={0: str(home)}))
    monkeypatch.setattr("sys.stdout", terminal)
    assert main([*given, "--dir", str(directory)]) == 0
    assert "]0;x:" in terminal.text
    assert "\x1b" not in terminal.text
