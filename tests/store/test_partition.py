"""Opening a crawl directory, and what it mends."""

import asyncio
import os
import random

import msgspec
import pytest

from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.archive.warc import ArchiveEntry
from evercrawl.store.birth import COPY, FILE, FORMAT, is_crawl
from evercrawl.store.journal.events import HAS_LINKS, Discovery, Found, Lost, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.resuming import to_try
from evercrawl.types import Exchange, Outcome, Request

NOW = 1_700_000_000.0
BODY = b"some words"


class Crawl:
    """A partition that is taught by hand."""

    def __init__(self, directory, **options: object) -> None:
        directory.mkdir(exist_ok=True)
        self.partition = Partition(directory, random.Random(1).randbytes, now=NOW, **options)
        self.now = NOW

    def know(self, *urls: str) -> None:
        state, new_hosts = self.partition.state, []
        fresh = state.hasher.keys(urls)
        slots, new = state.table.intern(fresh)
        assert new.all()
        first_host = len(state.hosts)
        hosts = [state.host_number(url.split("/")[2], new_hosts) for url in urls]
        found = Discovery(int(slots[0]), list(urls), hosts, first_host, new_hosts)
        state.admit(found, self.now, fresh)
        self.partition.remember(Found(self.now, found))

    def visit(self, slot: int, visits: int = 1, *, answered: bool = True) -> tuple[int, int, int] | None:
        self.now += 1.0
        archived = None
        if answered:
            request, head = Request(self.partition.state.urls.get(slot)), b"HTTP/1.1 200 OK\r\n\r\n"
            exchange = Exchange(
                request, self.now, 0.1, 200, b"GET / HTTP/1.1\r\n\r\n", head, os.urandom(50) + BODY, BODY
            )
            archived = tuple(self.partition.archive.append([ArchiveEntry(exchange)])[0])
        host = int(self.partition.state.known.row(slot)["host"])
        outcome, status = (Outcome.OK, 200) if answered else (Outcome.ERROR, 0)
        flags, digest = (HAS_LINKS, slot + 1) if answered else (0, 0)
        visit = Visit(slot, host, self.now, outcome, status, flags, visits, digest=digest, archive=archived)
        self.partition.remember(visit)
        return archived

    def save(self) -> None:
        self.partition.flush()
        self.partition.archive.sync()
        self.partition.journal.write(self.partition.journal.seal())

    def snapshot(self) -> None:
        async def commit() -> None:
            self.save()

        async def offload(function, *arguments: object) -> object:
            return function(*arguments)

        asyncio.run(self.partition.snapshot(commit, offload))

    def close(self) -> None:
        self.partition.close()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "crawl"


@pytest.fixture
def three(folder):
    """Three pages, visited, saved and let go."""
    crawl = Crawl(folder)
    crawl.know(*(f"http://a.example/{i}" for i in range(3)))
    for slot in range(3):
        crawl.visit(slot)
    crawl.save()
    crawl.close()
    return folder


def archive_file(folder):
    return next((folder / "archive").glob("*.warc.gz"))


def records(partition):
    events = [event for _, _, event in partition.journal.replay()]
    return [event.archive for event in events if isinstance(event, Visit) and event.archive]


# Being a crawl


def test_a_new_crawl_says_what_it_is(folder):
    assert not is_crawl(folder)
    crawl = Crawl(folder)
    assert is_crawl(folder)
    assert crawl.partition.birth.format == FORMAT
    assert crawl.partition.birth.made_at == NOW
    assert crawl.partition.repairs == []
    crawl.close()
    again = Crawl(folder)
    assert again.partition.birth == crawl.partition.birth
    again.close()


def test_only_one_may_write_and_any_may_read(folder):
    crawl = Crawl(folder)
    crawl.know("http://a.example/")
    crawl.save()
    with pytest.raises(StoreError, match=f"process {os.getpid()}"):
        Crawl(folder)
    reader = Partition(folder, os.urandom, now=NOW, writable=False)
    assert reader.state.urls.get(0) == "http://a.example/"
    reader.close()
    crawl.close()
    Crawl(folder).close()


def test_a_directory_that_is_no_crawl_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match="evercrawl crawl URL --dir"):
        Partition(tmp_path, os.urandom, now=NOW, writable=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "damaged"),
        (b'{"format": 99, "id": "x", "made_at": 1}', "newer evercrawl .format 99.*upgrade evercrawl$"),
        (b"[]", "damaged"),
    ],
)
def test_a_crawl_file_that_cannot_be_used_is_said_and_left(three, data, message):
    for name in (FILE, COPY):
        (three / name).write_bytes(data)
    with pytest.raises(StoreError, match=message):
        Crawl(three)
    assert (three / FILE).read_bytes() == data
    with pytest.raises(StoreError):  # and the lock was let go: the second try says the same
        Crawl(three)


def test_the_format_of_the_file_is_plain(three):
    fields = {"format", "id", "made_at", "scheme", "begun", "unfinished", "judged", "secret"}
    assert msgspec.json.decode((three / FILE).read_bytes()).keys() == fields


# Mending


def test_after_a_clean_end_there_is_nothing_to_mend(three):
    crawl = Crawl(three)
    assert crawl.partition.repairs == []
    assert crawl.partition.state.visits == 3
    crawl.close()


def test_a_torn_journal_is_cut(three):
    path = next(three.glob("journal-*"))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[-40:-7])
    crawl = Crawl(three)
    assert any("an interrupted write" in repair for repair in crawl.partition.repairs)
    assert crawl.partition.state.visits == 3
    crawl.close()
    assert path.read_bytes() == whole


@pytest.mark.parametrize("snapshot", [False, True])
def test_records_that_no_event_names_are_cut(folder, snapshot):
    crawl = Crawl(folder)
    crawl.know(*(f"http://a.example/{i}" for i in range(3)))
    crawl.visit(0)
    if snapshot:
        crawl.snapshot()
    crawl.visit(1)
    crawl.save()
    size = archive_file(folder).stat().st_size
    crawl.visit(2)  # not acknowledged
    crawl.close()
    assert archive_file(folder).stat().st_size > size
    again = Crawl(folder)
    assert archive_file(folder).stat().st_size == size
    assert any("no acknowledged fetch names" in repair for repair in again.partition.repairs)
    assert to_try(again.partition.state)[0].tolist() == [2]
    again.visit(2)
    again.save()
    assert len(set(records(again.partition))) == 3
    again.close()


def test_the_first_record_is_cut_although_there_were_visits_without_one(folder):
    crawl = Crawl(folder)
    crawl.know("http://a.example/0", "http://a.example/1")
    crawl.visit(0, answered=False)
    crawl.save()
    crawl.visit(1)  # archived, not acknowledged
    crawl.close()
    again = Crawl(folder)
    assert again.partition.archive.end == (0, 0)
    again.visit(1)
    assert again.partition.archive.whole(Pointer(*records(again.partition)[-1]))
    again.close()


def test_what_is_given_up_is_never_dated_before_it_was_found(three):
    """The clock was set back since."""
    path = archive_file(three)
    path.write_bytes(path.read_bytes()[:5])
    partition = Partition(three, os.urandom, now=NOW - 1e6)
    lost = [event for _, _, event in partition.journal.replay() if isinstance(event, Lost)]
    assert len(lost) == 3
    assert all(event.at == partition.state.last_at() > NOW - 60.0 for event in lost)
    partition.close()


def test_segments_behind_the_last_event_are_removed(folder):
    crawl = Crawl(folder, segment_bytes=1000)
    crawl.know(*(f"http://a.example/{i}" for i in range(6)))
    crawl.visit(0)
    crawl.save()
    for slot in range(1, 6):
        crawl.visit(slot)
    assert len(crawl.partition.archive.segments()) > 2
    crawl.close()
    again = Crawl(folder, segment_bytes=1000)
    assert again.partition.archive.segments() == [0]
    assert again.partition.archive.end == (0, sum(records(again.partition)[0][1:]))
    again.close()


def test_pages_whose_records_are_gone_are_to_be_fetched_again(three):
    path = archive_file(three)
    kept = records(Partition(three, os.urandom, now=NOW, writable=False))
    path.write_bytes(path.read_bytes()[: sum(kept[1][1:]) - 5])  # the second is torn, the third gone
    crawl = Crawl(three)
    assert any("lost 2 records" in repair for repair in crawl.partition.repairs)
    assert crawl.partition.archive.end == (0, sum(kept[0][1:]))
    assert sorted(to_try(crawl.partition.state)[0].tolist()) == [1, 2]
    lost = [event for _, _, event in crawl.partition.journal.replay() if isinstance(event, Lost)]
    assert [event.archive for event in lost] == kept[1:]
    crawl.close()
    for _ in range(2):
        again = Crawl(three)
        assert again.partition.repairs == []  # it was given up once and for all
        again.close()


@pytest.mark.parametrize("snapshot", ["none", "before", "after"])
def test_after_records_were_given_up_a_crash_is_mended_like_any_other(three, snapshot):
    if snapshot == "before":
        crawl = Crawl(three)
        crawl.snapshot()
        crawl.close()
    path = archive_file(three)
    kept = records(Partition(three, os.urandom, now=NOW, writable=False))
    path.write_bytes(path.read_bytes()[: kept[1][1]])
    crawl = Crawl(three)
    if snapshot == "after":
        crawl.snapshot()
    crawl.visit(1)
    crawl.save()
    acknowledged = archive_file(three).stat().st_size
    crawl.visit(2)
    crawl.visit(0, 2)  # both not acknowledged; the archive is longer than it ever was
    crawl.close()
    assert archive_file(three).stat().st_size > sum(kept[2][1:])
    again = Crawl(three)
    assert archive_file(three).stat().st_size == acknowledged
    again.visit(2)
    again.save()
    pointers = records(again.partition)
    assert all(again.partition.archive.whole(Pointer(*pointer)) for pointer in (pointers[0], *pointers[-2:]))
    again.close()


@pytest.mark.parametrize("opened", [1, 2, 3])
def test_a_lost_segment_gives_its_name_to_no_other_however_often_the_crawl_was_opened_since(three, opened):
    path = archive_file(three)
    path.unlink()
    for _ in range(opened - 1):
        Crawl(three).close()  # as when it is killed before its first visit
    crawl = Crawl(three)
    crawl.visit(1)
    crawl.save()
    crawl.close()
    assert archive_file(three).name != path.name


def test_a_reader_mends_nothing(three):
    journal = next(three.glob("journal-*"))
    with journal.open("ab") as file:
        file.write(b"torn")
    with archive_file(three).open("ab") as file:
        file.write(b"torn")
    before = {path: path.read_bytes() for path in three.rglob("*") if path.is_file()}
    reader = Partition(three, os.urandom, now=NOW, writable=False)
    assert reader.repairs
    assert reader.state.visits == 3
    reader.close()
    assert {path: path.read_bytes() for path in three.rglob("*") if path.is_file()} == before


def test_a_journal_that_is_behind_its_snapshot_is_not_continued(three):
    journal = next(three.glob("journal-*"))
    short = journal.read_bytes()
    crawl = Crawl(three)
    crawl.visit(0, 2)
    crawl.snapshot()
    crawl.close()
    journal.write_bytes(short)
    before = {path: path.read_bytes() for path in three.rglob("*") if path.is_file() and path.name != "lock"}
    with pytest.raises(StoreError, match="acknowledged events are lost"):
        Crawl(three)
    assert {path: path.read_bytes() for path in before} == before
    reader = Partition(three, os.urandom, now=0.0, writable=False)  # who only reads sees what is left
    assert any("before snapshot" in repair for repair in reader.repairs)
    assert reader.state.visits == 3
    reader.close()


def test_what_a_killed_replace_left_is_swept(three):
    (three / "snapshot-00.bin.tmp").write_bytes(b"half")
    crawl = Crawl(three)
    crawl.snapshot()
    crawl.close()
    assert not list(three.glob("*.tmp"))


def test_urls_that_were_known_stay_known_without_their_files(three):
    for name in ("known.bin", "urls.log", "urls.idx"):
        (three / name).unlink(missing_ok=True)
    crawl = Crawl(three)
    assert crawl.partition.state.urls.get_many(range(3)) == [f"http://a.example/{i}" for i in range(3)]
    assert crawl.partition.state.known.count == 3
    crawl.close()


def test_known_urls_that_were_damaged_are_made_again_from_the_journal(three):
    crawl = Crawl(three)
    crawl.snapshot()
    before = crawl.partition.state.known.rows()
    crawl.close()
    path = three / "known.bin"
    for place in range(0, path.stat().st_size, 5):
        data = bytearray(path.read_bytes())
        data[place] ^= 0x40
        path.write_bytes(data)
        again = Crawl(three)
        assert any("known.bin is damaged" in repair for repair in again.partition.repairs)
        assert (again.partition.state.known.rows() == before).all()
        again.partition.flush()
        again.close()
        whole = Crawl(three)
        assert whole.partition.repairs == []
        whole.close()
