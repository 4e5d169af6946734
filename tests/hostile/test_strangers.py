"""Directories of strangers: every file says what they like, with checksums that match; nothing leads out of it."""

import asyncio
import gzip
import os
import shutil
import sqlite3
import time
import tracemalloc
from contextlib import closing, suppress

import msgspec
import pytest
import xxhash
import zstandard

from evercrawl.ask.status import status
from evercrawl.ask.verify import beside
from evercrawl.ask.verify.verify import verify
from evercrawl.cli.main import main
from evercrawl.cluster.birth import read_birth as cluster_birth
from evercrawl.cluster.moving.order import read_move
from evercrawl.config import Config
from evercrawl.crawl.mending.repairing import settled
from evercrawl.crawl.session import crawl as run_crawl
from evercrawl.errors import EvercrawlError, StoreError
from evercrawl.model.rules.robots_file import RobotsFile, RobotsRow, stored, unreachable
from evercrawl.parse.sites import site, site_rules
from evercrawl.progress import Limits
from evercrawl.serve.guard import token_of
from evercrawl.serve.signals.websub import Subscriptions
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback
from evercrawl.store.archive.member import unpack
from evercrawl.store.archive.warc_read import walk
from evercrawl.store.birth import FILE, Birth, crawl_id
from evercrawl.store.disk import inflating
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.tables import see_tables
from evercrawl.store.forgetting import PLAN, Blank, Patch, carry_out, new_plan, write_plan
from evercrawl.store.journal.frame import Frame, Press
from evercrawl.store.keeper.folder import is_held, noted_place
from evercrawl.store.partition import Partition
from evercrawl.store.repair.kept import keep_bytes, move_away, patch
from evercrawl.store.requisites.book import REQUISITES_FILE, RequisiteBook

OUTSIDE = (
    "../precious",
    "archive/../../precious",
    "/precious",
    "a/b/c",
    "",
    ".",
    "..",
    ".x",
    "a/",
    "/",
    "x\0y",
    "a//b",
)
DEEP = 50_000


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    directory = tmp_path_factory.mktemp("strangers") / "crawl"

    async def go() -> None:
        async with Loopback(hosts=2, pages=6, changing=0) as server:
            settings = Config(delay_s=0.0, allow_net=(NETWORK,), workers="0", index=False)
            await run_crawl(directory, settings, server.seeds, Limits(until_idle=True, seconds=600))

    asyncio.run(go())
    return directory


@pytest.fixture
def crawl(tmp_path):
    directory = tmp_path / "crawl"
    directory.mkdir()
    Partition(directory, os.urandom, now=1e9).close()
    (tmp_path / "precious").write_bytes(b"mine")
    return directory


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("how", ["patches", "blanks", "files"])
def test_a_plan_to_forget_changes_no_file_outside(crawl, name, how):
    disk = RealDisk(crawl)
    given = {"patches": [], "blanks": [], "files": {}}
    given[how] = {
        "patches": [Patch(name, 0, b"theirs")], "blanks": [Blank(name, 0, 4, b"0" * 16)], "files": {name: b"theirs"},
    }[how]  # fmt: skip
    write_plan(disk, new_plan(1e9, b"", **given))
    before = sorted(crawl.iterdir())
    with pytest.raises(StoreError, match="is damaged or of a newer"):
        carry_out(crawl, disk)
    with pytest.raises(StoreError):
        Partition(crawl, os.urandom, now=1e9)
    assert (crawl.parent / "precious").read_bytes() == b"mine"
    assert sorted(path for path in crawl.iterdir() if path.name != "lock") == [
        path for path in before if path.name != "lock"
    ]


@pytest.mark.parametrize(("offset", "size"), [(-1, 2), (0, 1 << 40), (1 << 40, 1), (1 << 62, 1 << 62)])
def test_nor_bytes_that_a_file_has_not(crawl, offset, size):
    disk = RealDisk(crawl)
    disk.append("archive/x.warc.gz", b"0" * 100)
    write_plan(disk, new_plan(1e9, b"", [], [Blank("archive/x.warc.gz", offset, size, b"0" * 16)], {}))
    with pytest.raises(StoreError, match="is damaged or of a newer"):
        carry_out(crawl, disk)


@pytest.mark.parametrize("data", [b"", b"\x90", b"\xc0", b"\x05", b"\x91" * DEEP, b"\xdf\xff\xff\xff\xff", b"\xff" * 9])
def test_what_is_no_plan_is_told(crawl, data):
    RealDisk(crawl).replace(PLAN, [xxhash.xxh3_64_digest(data), data])
    with pytest.raises(StoreError, match=r"forget\.plan"):
        Partition(crawl, os.urandom, now=1e9)


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_repair_takes_nothing_outside(crawl, name):
    for act in (
        lambda: move_away(crawl, name),
        lambda: keep_bytes(crawl, name, 0, 4),
        lambda: patch(crawl, name, 0, b"theirs"),
        lambda: RealDisk(crawl).remove(name),
        lambda: RealDisk(crawl).read(name, 0, 9),
    ):
        with pytest.raises(StoreError, match="no crawl has such"):
            act()
    assert (crawl.parent / "precious").read_bytes() == b"mine"


@pytest.mark.parametrize("name", [*OUTSIDE, "x" * 65, "ä"])
def test_the_id_of_a_crawl_is_no_path(crawl, name):
    with pytest.raises(msgspec.ValidationError, match="its id"):
        msgspec.convert({"format": 1, "id": name, "made_at": 1e9}, Birth)


@pytest.mark.parametrize("at", ["1e300", "-1e12"])
def test_no_crawl_was_made_at_the_end_of_time(crawl, at):
    text = b'{"format":1,"id":"a","made_at":%s}' % at.encode()
    for name in (FILE, "crawl-copy.json"):
        (crawl / name).write_bytes(text)
    for ask in (status, verify):
        assert told(ask, crawl)


def told(ask, directory):
    """Return what a question says is wrong: nothing else than a sentence may come of one."""
    try:
        found = ask(directory)
    except EvercrawlError as error:
        return str(error)
    return str(getattr(found, "wrong", "") or "fine")


JSON = (
    "crawl.json", "crawl-copy.json", "lock", "archive/indexed.json", "quarantine.json", "skipped.json", "memory.json",
    "policy.json", "webhooks.json", "backup.json", "orders.jsonl", "usage.jsonl", "search/mark.json", "popularity.bin",
    "cookies.json",
)  # fmt: skip


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize(
    "text", [b"[" * DEEP, b'{"x":' + b"[" * DEEP, b'{"x":' * DEEP, b'{"id":' + b"[" * DEEP + b"\n"]
)
def test_values_however_deep_are_told_or_passed_over(crawl, name, text):
    (crawl / name).parent.mkdir(exist_ok=True)
    (crawl / name).write_bytes(text)
    for ask in (status, verify, opened):
        assert told(ask, crawl)


SPARSE_BYTES = 400 << 20
SMALL = (
    "crawl.json", "crawl-copy.json", "crawl.toml", "quarantine.json", "skipped.json", "policy.json", "memory.json",
    "proxies.json", "cookies.json", "names.cache",
)  # fmt: skip


@pytest.fixture
def bounded(crawl):
    """See that what a test does never takes as much memory as a file has."""
    verify(crawl)  # what is loaded for that is loaded
    tracemalloc.start()
    yield
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < SPARSE_BYTES


def test_no_file_is_read_whole_whatever_its_size(crawl, bounded, capsys):
    asked = (status, verify, opened, crawl_id)
    for name in SMALL:
        before = (crawl / name).read_bytes() if (crawl / name).exists() else None
        with (crawl / name).open("wb") as file:
            file.truncate(SPARSE_BYTES)
        for ask in asked:
            with suppress(EvercrawlError):
                ask(crawl)
        assert main(["status", "--dir", str(crawl)]) in (0, 2, 3)
        (crawl / name).unlink()
        if before is not None:
            (crawl / name).write_bytes(before)
    assert "than the" in capsys.readouterr().err


def test_nor_is_one_of_partitions_subscriptions_or_copies(tmp_path, bounded):
    for name, read in {
        "cluster.json": cluster_birth, "subscriptions.json": lambda directory: Subscriptions(directory, "", str),
        "serve-token": token_of, "keeper.json": lambda directory: is_held(directory, 1),
        "second-copy.json": lambda directory: noted_place(RealDisk(directory)), "move.json": read_move,
    }.items():  # fmt: skip
        with (tmp_path / name).open("wb") as file:
            file.truncate(SPARSE_BYTES)
        (tmp_path / name).chmod(0o600)
        with suppress(EvercrawlError):
            assert not read(tmp_path)
            assert name in ("keeper.json",)
        (tmp_path / name).unlink()


def opened(directory):
    Partition(directory, os.urandom, now=1e9, forgiving=True).close()


def bomb(size_bytes=1 << 40):
    """Return a frame of zstd that says that it holds so much."""
    pressed = zstandard.ZstdCompressor().compressobj(size=size_bytes)
    return pressed.compress(b"x" * 100) + pressed.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)


def test_bombs_are_not_undone(monkeypatch, tmp_path):
    with pytest.raises(zstandard.ZstdError, match="exceeds the limit"):
        inflating.inflated(bomb())
    with pytest.raises(StoreError, match="offset 24 is damaged"):
        Press().unpack(Frame(24, 9, 0, 0, 1, bomb()))
    monkeypatch.setattr(inflating, "MOST_BYTES", 1000)
    assert unpack(gzip.compress(b"a" * 1000)) == b"a" * 1000
    with pytest.raises(StoreError, match="larger than"):
        unpack(gzip.compress(b"a" * 1001))
    (tmp_path / "x.warc.gz").write_bytes(gzip.compress(b"WARC/1.1\r\n" + b"a" * 2000))
    with pytest.raises(StoreError, match="larger than"):
        list(walk(RealDisk(tmp_path, read_only=True), "x.warc.gz"))


@pytest.mark.parametrize("body", [b"", b"no zstd", zstandard.compress(b""), zstandard.compress(b"123"), bomb(500)])
def test_a_frame_whose_checksum_matches_and_that_is_none_is_told(body):
    with pytest.raises(StoreError, match="offset 24 is damaged"):
        Press().unpack(Frame(24, 9, 0, 0, 9, body))


def forge_record(state):
    state.table.record[3] = 1 << 30
    state.table.changed_record.note(3)


def forge_row(state, field, value):
    state.records.rows[field][2] = value
    state.records.changed.note(2)


async def at_once(function, *arguments: object):
    return function(*arguments)


@pytest.mark.parametrize(
    "forge",
    [
        forge_record,
        lambda state: forge_row(state, "slot", 1 << 30),
        lambda state: forge_row(state, "slot", 0xFFFFFFFF),
        lambda state: forge_row(state, "host", 99),
        lambda state: forge_row(state, "alias", 1 << 31),
    ],
)
def test_a_snapshot_that_names_rows_that_there_are_not_is_made_again(crawled, tmp_path, forge):
    copy = shutil.copytree(crawled, tmp_path / "crawl")
    rules = {"site": site, "site_rules": site_rules()}
    with closing(Partition(copy, os.urandom, now=2e9, **rules)) as one:
        forge(one.state)
        one.flush()
        asyncio.run(one.snapshot(lambda: at_once(int), at_once))
    with closing(Partition(copy, os.urandom, now=2e9, **rules)) as again:
        assert any("is damaged" in sentence for sentence in again.repairs)
        again.flush()
    settled(copy)
    assert verify(copy).wrong == []


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
COMPUTES = {
    "endless view": f"DROP TABLE robots; CREATE VIEW robots AS SELECT x AS origin, x AS verdict, x AS body, x AS "
    f"expires_at, x AS site, x AS size, x AS failures, x AS run FROM ({ENDLESS})",
    "view of gigabytes": "DROP TABLE robots; CREATE VIEW robots AS SELECT 'o' AS origin, 'closed' AS verdict, "
    "zeroblob(900000000) AS body, 9e9 AS expires_at, '' AS site, 1 AS size, 0 AS failures, 0 AS run",
    "trigger": f"CREATE TRIGGER t AFTER INSERT ON robots BEGIN INSERT INTO robots SELECT * FROM ({ENDLESS}); END",
    "generated": "DROP TABLE robots; CREATE TABLE robots (origin TEXT PRIMARY KEY, verdict TEXT, body BLOB GENERATED "
    "ALWAYS AS (zeroblob(900000000)), expires_at REAL, site TEXT, size INT, failures INT, run INT)",
    "index": "CREATE INDEX i ON robots (length(origin || 'a'))",
}


@pytest.mark.parametrize("how", COMPUTES)
def test_no_database_computes_when_it_is_read(tmp_path, how):
    path = tmp_path / "robots.sqlite"
    RobotsFile(str(path)).close()
    with closing(sqlite3.connect(path)) as file:
        file.executescript(COMPUTES[how])
        with pytest.raises(sqlite3.DatabaseError, match="it holds a"):
            see_tables(file)
    assert unreachable(path) == {}
    assert stored(path, "o") is None
    row = RobotsRow("rules", b"", 9e9)
    with closing(RobotsFile(str(path))) as robots:
        robots.put("http://a.test", row)
        assert robots.get("http://a.test") == row
    assert stored(path, "http://a.test") == (b"", 9e9)


WRITTEN = {
    "length of gigabytes": "CREATE INDEX i ON a (length(replace(hex(zeroblob(100000000 + length(x))), '00', 'ab')))",
    "endless default": f"CREATE TABLE a (x TEXT, y CHECK ((SELECT count(*) FROM ({ENDLESS}))))",
    "index of much": "CREATE INDEX i ON a (hex(zeroblob(1000000 + x)))",
}


@pytest.mark.parametrize("how", WRITTEN)
def test_no_database_computes_when_it_is_verified(crawl, how):
    """The text of an index or a table can be another than the one by which its rows were made."""
    name = "soft404.sqlite"
    assert verify(crawl).wrong == []  # what is loaded for that is loaded
    with closing(sqlite3.connect(crawl / name)) as file:
        file.execute("CREATE TABLE a (x TEXT, y TEXT)")
        file.execute("CREATE INDEX i ON a (x)")
        file.executemany("INSERT INTO a VALUES (?, '')", [(str(number),) for number in range(1000)])
        file.commit()
        file.execute("PRAGMA writable_schema = 1")
        file.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (WRITTEN[how], WRITTEN[how].split()[2]))
        file.commit()
    began = time.process_time()
    assert any(name in sentence for sentence in verify(crawl).wrong)
    assert time.process_time() - began < 5


def test_a_table_of_ours_computes_nothing_and_is_opened_again_with_what_it_has(crawl):
    path = str(crawl / REQUISITES_FILE)
    RequisiteBook.opened(path).close()
    with closing(sqlite3.connect(path)) as file:
        file.execute("INSERT INTO owners VALUES (7)")
        file.commit()
    RequisiteBook.opened(path).close()
    assert verify(crawl).wrong == []
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT owner FROM owners").fetchall() == [(7,)]


def test_a_check_of_a_database_ends(crawl, monkeypatch):
    with closing(sqlite3.connect(crawl / "robots.sqlite")) as file:
        file.execute("CREATE TABLE a (x TEXT)")
        file.execute("INSERT INTO a VALUES ('x')")
        file.commit()
    assert verify(crawl).wrong == []
    monkeypatch.setattr(beside, "STEPS", 1)
    monkeypatch.setattr(beside, "PIECES", 1)
    assert any("robots.sqlite" in sentence for sentence in verify(crawl).wrong)


@pytest.mark.parametrize("value", ["'zz'", "9e999", "-9e999", "9223372036854775807", "-1", "zeroblob(9)"])
@pytest.mark.parametrize("column", ["verdict", "body", "expires_at", "size", "failures", "run"])
def test_whatever_values_a_cache_has_the_crawl_goes_on(tmp_path, column, value):
    path, row = tmp_path / "robots.sqlite", RobotsRow("rules", b"", 9e9)
    with closing(RobotsFile(str(path))) as robots:
        robots.put("http://a.test", row)
    with closing(sqlite3.connect(path)) as file:
        file.execute(f"UPDATE robots SET {column} = {value}")
        file.commit()
    with closing(RobotsFile(str(path))) as robots:
        robots.get("http://a.test")
        for name in ("a", "b"):
            robots.put(f"http://{name}.test", row)
            assert robots.get(f"http://{name}.test") == row
        assert 0 <= robots.size_bytes < 1e13
