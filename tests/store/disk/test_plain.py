"""A directory from a stranger: nothing in it leads evercrawl elsewhere, or has it wait for ever."""

import os
import socket

import pytest

from evercrawl.ask.status import status
from evercrawl.ask.verify.verify import verify
from evercrawl.cli.main import main
from evercrawl.cluster.birth import ClusterBirth, write_birth
from evercrawl.errors import StoreError
from evercrawl.parse.sites import site_rules
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import Lock, holder, last_begun
from evercrawl.store.disk.plain import see_plain
from evercrawl.store.partition import Partition
from tests.helpers.hand_made import HandMade

NAMES = (
    "lock", "crawl.json", "crawl-copy.json.tmp", "crawl.key", "crawl.toml", "journal-0000000000000000.log", "urls.log",
    "known.bin", "snapshot-0000000000000010.bin", "robots.sqlite", "sitemaps.sqlite-wal", "webhooks.lock",
    "webhooks.json.part", "orders.jsonl", "usage.jsonl", "errors.jsonl", "skipped.json", "archive", "search",
    "derived", "damaged", "archive/x.warc.gz", "derived/deep/er/x",
)  # fmt: skip


@pytest.fixture
def crawl(tmp_path):
    made = tmp_path / "crawl"
    made.mkdir()
    Partition(made, os.urandom, now=1e9).close()
    return made


@pytest.fixture
def precious(tmp_path):
    path = tmp_path / "precious"
    path.write_text("mine")
    return path


def sound(directory):
    """Verify a crawl, which tells of damage and does not raise it."""
    wrong = verify(directory).wrong
    if wrong:
        raise StoreError(str(wrong[0]))


def put(directory, name):
    place = directory / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    return place


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_written_or_read_through_a_link(crawl, precious, name):
    put(crawl, name).symlink_to(precious)
    for ask in (
        RealDisk,
        lambda directory: RealDisk(directory, read_only=True),
        lambda directory: Lock.take(directory, "test", 1e9),
        lambda directory: Partition(directory, os.urandom, now=1e9),
        status,
        sound,
    ):
        with pytest.raises(StoreError, match="symbolic link"):
            ask(crawl)
    assert holder(crawl) is None
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("verb", ["status", "verify", "crawl", "top", "changes", "orders", "suspects"])
@pytest.mark.parametrize("name", ["lock", "crawl.toml", "webhooks.lock"])
def test_every_verb_says_what_is_wrong(crawl, precious, capsys, verb, name):
    put(crawl, name).symlink_to(precious)
    assert main([verb, "--dir", str(crawl)]) != 0
    said = capsys.readouterr().err
    assert f"{name} is a symbolic link" in said
    assert len(said.strip().splitlines()) == 1
    assert precious.read_text() == "mine"


@pytest.fixture
def parted(tmp_path):
    """A crawl in two partitions, of which one was begun."""
    directory = tmp_path / "wide"
    birth = ClusterBirth(1, "c", 2, "00" * 16, site_rules())
    (directory / "part-1").mkdir(parents=True)
    write_birth(directory, birth)
    (directory / "crawl.toml").write_text("")
    Partition(directory / "part-1", os.urandom, now=1e9, secret=bytes(16), share=birth.share(1)).close()
    return directory


def kept(folder):
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


VERBS = (
    ["status"], ["pause"], ["exclude", "/x/"], ["set", "delay_s", "9"], ["forget", "http://a.example/", "--yes"],
    ["verify"], ["top"], ["search", "word"], ["why", "http://a.example/"], ["export", "pages", "-o", "-"],
    ["move", "1", "elsewhere"], ["crawl"], ["changes"], ["suspects"], ["reindex"], ["serve", "--port", "0"],
)  # fmt: skip


@pytest.mark.parametrize("name", ["part-0", "crawl.toml", "part-1/archive"])
def test_no_verb_follows_a_link_in_a_crawl_in_several_partitions(parted, crawl, precious, capsys, name):
    put(parted, name).symlink_to(precious if name == "crawl.toml" else crawl)
    before = kept(crawl)
    for verb in VERBS:
        assert main([*verb, "--dir", str(parted)]) != 0
        assert f"{name} is a symbolic link" in capsys.readouterr().err
    assert kept(crawl) == before
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("name", ["crawl.toml", "cluster.json", "part-1/lock"])
def test_nor_waits_there_at_a_pipe(parted, capsys, name):
    os.mkfifo(put(parted, name))
    for verb in VERBS:
        assert main([*verb, "--dir", str(parted)]) != 0
        assert f"{name} is a pipe" in capsys.readouterr().err


def test_partitions_are_named_by_a_link_to_their_directory(parted, tmp_path, capsys):
    (tmp_path / "link").symlink_to(parted)
    assert main(["orders", "--dir", str(tmp_path / "link")]) in (0, 2)
    assert "symbolic link" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["lock", "crawl.json", "crawl.toml", "archive/x.warc.gz", "urls.log"])
def test_nobody_waits_at_a_pipe(crawl, name):
    os.mkfifo(put(crawl, name))
    for ask in (RealDisk, sound, lambda directory: Lock.take(directory, "test", 1e9)):
        with pytest.raises(StoreError, match="a pipe"):
            ask(crawl)
    assert (holder(crawl), last_begun(crawl) if name == "lock" else None) == (None, None)


def test_files_folders_own_sockets_and_a_directory_that_is_reached_by_a_link_are_in_order(crawl, tmp_path, monkeypatch):
    monkeypatch.chdir(crawl)  # the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("live.sock")
        see_plain(crawl)
    (tmp_path / "link").symlink_to(crawl)
    see_plain(tmp_path / "link")
    see_plain(tmp_path / "not there")
    RealDisk(tmp_path / "link").close()


def test_a_folder_too_deep_to_be_ours_is_not_looked_into(crawl):
    deep = crawl / "/".join("abcdefgh")
    deep.mkdir(parents=True)
    (deep / "link").symlink_to("elsewhere")
    see_plain(crawl)


def test_no_crawl_or_copy_is_begun_in_a_directory_whose_name_is_not_utf8(tmp_path, capsys):
    """Neither the search index nor the JSON of a backup could be written there."""
    strange = tmp_path / os.fsdecode(b"raw\xff")
    whole = HandMade(tmp_path / "whole")
    whole.seed("http://a.example/")
    whole.stop()
    pages = tmp_path / "list.csv"
    pages.write_text("url\nhttp://a.example/\n")
    for words in (
        ["crawl", "http://a.example/", "--dir", str(strange)],
        ["crawl", "http://a.example/", "--dir", str(strange), "--partitions", "2"],
        ["import", str(pages), "--dir", str(strange)],
        ["backup", str(strange), "--dir", str(tmp_path / "whole")],
    ):
        assert main(words) == 2, words
        assert "is not UTF-8; name another directory" in capsys.readouterr().err
        assert not strange.exists()
