"""Segments: batches in one piece, rotation, cutting, and reading by pointer."""

import json
import os
import random

import pytest
from fastwarc.warc import ArchiveIterator

from evercrawl.errors import NoRoomError, StoreError
from evercrawl.store.archive.archive import Archive, Pointer
from evercrawl.store.archive.cdxj import index_name, index_segment
from evercrawl.store.archive.warc import ArchiveEntry, EntryKind, Original
from evercrawl.store.archive.warc_read import walk
from evercrawl.store.disk.disk import RealDisk
from evercrawl.types import Exchange, Request

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
AT = 1790000000.0


def page(number, size=1000):
    """An entry whose body does not shrink."""
    wire = random.Random(number).randbytes(size)
    headers = {"content-encoding": "br"}
    sent = b"GET / HTTP/1.1\r\n\r\n"
    return ArchiveEntry(
        Exchange(Request(f"http://example.org/{number}"), AT + number, 0.1, 200, sent, HEAD, wire, b"", headers)
    )


def archive(disk, segment_bytes=1 << 30, seed=0):
    return Archive(
        disk, "1a", random.Random(seed).randbytes, software="evercrawl 0", agent="test", segment_bytes=segment_bytes
    )


@pytest.fixture
def disk(tmp_path):
    with_files = RealDisk(tmp_path)
    yield with_files
    with_files.close()


def types_in(path):
    with path.open("rb") as file:
        return [record.headers["WARC-Type"] for record in ArchiveIterator(file, parse_http=False)]


def test_nothing_is_written_before_the_first_append(disk, tmp_path):
    store = archive(disk)
    assert store.append([]) == []
    store.sync()
    assert store.end == (0, 0)
    assert list(tmp_path.iterdir()) == []


def test_each_pointer_leads_to_its_answer(disk, tmp_path):
    store = archive(disk)
    pointers = store.append([page(0), page(1)]) + store.append([page(2)])
    for number, pointer in enumerate(pointers):
        back = store.read(pointer)
        assert (back.url, back.at, back.status, back.wire) == (
            f"http://example.org/{number}",
            AT + number,
            200,
            page(number).exchange.wire,
        )
        assert back.headers == {"content-type": "text/html"}
        assert store.whole(pointer)
    assert types_in(tmp_path / store.name(0)) == ["warcinfo", *["request", "response"] * 3]
    last = pointers[-1]
    assert store.end == (0, last.offset + last.length) == (0, disk.size(store.name(0)))


def test_the_same_randomness_makes_the_same_bytes(tmp_path):
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        disk = RealDisk(tmp_path / name)
        store = archive(disk)
        store.append([page(0), page(1)])
        files.append(disk.read(store.name(0), 0, 1 << 20))
        disk.close()
    assert files[0] == files[1] != b""


def test_a_full_segment_is_closed(disk, tmp_path):
    store = archive(disk, segment_bytes=5000)
    pointers = [store.append([page(number)])[0] for number in range(10)]
    assert store.segments() == list(range(pointers[-1].segment + 1))
    assert len(store.segments()) > 2
    for segment in store.segments():
        assert disk.size(store.name(segment)) <= 5000
        assert types_in(tmp_path / store.name(segment))[0] == "warcinfo"
    assert [store.read(pointer).url[-1] for pointer in pointers] == list("0123456789")


def test_a_batch_larger_than_a_segment_stays_together(disk):
    store = archive(disk, segment_bytes=2000)
    assert {pointer.segment for pointer in store.append([page(n) for n in range(5)])} == {0}
    assert store.append([page(5)])[0].segment == 1


def test_an_archive_goes_on_where_it_ended(disk, tmp_path):
    first = archive(disk)
    pointer = first.append([page(0)])[0]
    again = archive(disk, seed=1)
    assert again.end == first.end
    again.append([page(1)])
    assert again.read(pointer).url == "http://example.org/0"
    assert types_in(tmp_path / again.name(0)).count("warcinfo") == 1


@pytest.mark.parametrize("segment_bytes", [1 << 30, 5000])
def test_no_room_leaves_nothing_behind(tmp_path, segment_bytes):
    full = False

    def before(what, name) -> None:
        if full and what == "write":
            raise OSError(28, os.strerror(28))

    disk = RealDisk(tmp_path, before=before)
    store = archive(disk, segment_bytes)
    store.append([page(0), page(1)])
    end, size = store.end, disk.size(store.name(0))
    full = True
    for _ in range(2):
        with pytest.raises(NoRoomError):
            store.append([page(2), page(3)])
    assert store.end == end
    assert disk.size(store.name(0)) == size
    full = False
    pointers = store.append([page(2), page(3)])
    assert [store.read(pointer).url[-1] for pointer in pointers] == ["2", "3"]
    disk.close()


def test_cut_drops_what_the_journal_does_not_know(disk, tmp_path):
    store = archive(disk, segment_bytes=5000)
    pointers = [store.append([page(number)])[0] for number in range(10)]
    for segment in store.segments():
        index_segment(disk, store.name(segment))
    kept = pointers[4]
    end = (kept.segment, kept.offset + kept.length)
    total = sum(disk.size(store.name(segment)) for segment in store.segments())
    again = archive(disk, segment_bytes=5000, seed=1)
    dropped = again.cut(*end)
    assert dropped == total - sum(disk.size(again.name(segment)) for segment in again.segments()) > 0
    assert again.end == end
    assert disk.names("archive/")[-1] == again.name(kept.segment)
    assert index_name(again.name(0)) in disk.names("archive/")
    assert [again.whole(pointer) for pointer in pointers[:5]] == [True] * 5
    assert not again.whole(pointers[5])
    again.append([page(5)])
    assert types_in(tmp_path / again.name(kept.segment))[-2:] == ["request", "response"]
    assert again.cut(*again.end) == 0


def test_cut_to_nothing_starts_anew(disk, tmp_path):
    store = archive(disk)
    store.append([page(0)])
    assert store.cut(0, 0) > 0
    assert store.end == (0, 0)
    store.append([page(1)])
    assert types_in(tmp_path / store.name(0)) == ["warcinfo", "request", "response"]


def test_cut_refuses_an_archive_that_lacks_records(disk):
    store = archive(disk)
    segment, size = store.append([page(0)]) and store.end
    with pytest.raises(StoreError, match=r"should have \d+ bytes and has \d+: records are missing"):
        store.cut(segment, size + 1)
    with pytest.raises(StoreError, match="00001"):
        store.cut(1, 10)
    assert store.whole(store.append([page(1)])[0])


def test_a_torn_record_is_not_whole(disk):
    store = archive(disk)
    pointer = store.append([page(0)])[0]
    disk.truncate(store.name(0), pointer.offset + pointer.length - 1)
    assert not store.whole(pointer)
    with pytest.raises(StoreError, match=rf"{store.name(0)}, byte {pointer.offset}: .*incomplete"):
        store.read(pointer)
    with pytest.raises(StoreError, match="truncated"):
        index_segment(disk, store.name(0))


def test_a_changed_byte_is_noticed(disk):
    store = archive(disk)
    pointer = store.append([page(0)])[0]
    data = bytearray(disk.read(store.name(0), 0, 1 << 20))
    data[pointer.offset + pointer.length - 100] ^= 1
    disk.replace(store.name(0), [bytes(data)])
    assert not store.whole(pointer)


def test_a_pointer_to_something_else_is_refused(disk):
    store = archive(disk)
    store.append([page(0)])
    info, request, answer = walk(disk, store.name(0))
    for other, kind in ((info, "warcinfo"), (request, "request")):
        with pytest.raises(StoreError, match=f"it is a {kind} record"):
            store.read(Pointer(0, other.offset, other.length))
    for offset, length in ((answer.offset, answer.length - 1), (answer.offset + 1, answer.length), (0, answer.offset)):
        assert not store.whole(Pointer(0, offset, length))
    assert not store.whole(Pointer(1, 0, 10))


def test_a_revisit_leads_to_its_original(disk):
    store = archive(disk)
    first = store.append([page(0)])[0]
    read = store.read(first)
    head = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    again = Exchange(Request(read.url), AT + 60, 0.1, 304, b"", head)
    entry = ArchiveEntry(again, EntryKind.NOT_MODIFIED, Original(read.url, read.at, read.digest))
    back = store.read(store.append([entry])[0])
    assert back.refers_to == Original(read.url, read.at, read.digest)
    assert (back.kind, back.status, back.wire) == (EntryKind.NOT_MODIFIED, 304, b"")


def test_crawls_in_one_folder_do_not_mix(disk):
    store = archive(disk)
    store.append([page(0)])
    other = Archive(disk, "1a-2", random.Random(2).randbytes, software="x", agent="y")
    other.append([page(1)])
    assert store.segments() == other.segments() == [0]
    assert store.name(0) != other.name(0)


def places_in(disk, index) -> list[tuple[str, str, str]]:
    rows = [json.loads(row[row.index("{") :]) for row in disk.read(index, 0, 1 << 20).decode().splitlines()]
    return [(row["url"], row["offset"], row["length"]) for row in rows]


def test_a_finished_segment_is_indexed_while_the_next_is_written(disk):
    store = archive(disk, segment_bytes=5000)
    while store.end[0] < 2:
        store.append([page(len(disk.names()) + store.end[1])])
    store.index(current=False)
    assert [disk.size(index_name(store.name(segment))) > 0 for segment in (0, 1, 2)] == [True, True, False]
    from_memory = places_in(disk, index_name(store.name(0)))
    store.index()
    index_segment(disk, store.name(0))
    assert places_in(disk, index_name(store.name(0))) == from_memory != []
    assert disk.size(index_name(store.name(2))) > 0


def test_a_segment_that_is_long_to_read_can_wait(disk):
    archive(disk).append([page(0), page(1)])
    later = archive(disk, seed=1)  # as after a crash: nothing is remembered of what is in the segment
    later.append([page(2)])
    later.index(read_bytes=10)
    assert disk.size(index_name(later.name(0))) == 0
    later.index()
    assert disk.read(index_name(later.name(0)), 0, 1 << 20).count(b"\n") == 3


def test_the_index_names_all_records_after_a_cut_that_ends_where_it_ended(disk):
    """A run ended in order; the next one was killed before its first commit, and the one after it went on."""
    archive(disk).append([page(0), page(1)])
    store = archive(disk, seed=1)
    store.index()
    end = store.end
    store.append([page(2)])
    again = archive(disk, seed=2)
    again.cut(*end)
    again.append([page(3)])
    again.index()
    names = [url for url, _, _ in places_in(disk, index_name(again.name(0)))]
    assert len(names) == 3
    assert names == [url for url, _, _ in remade(disk, again)]


def test_an_index_that_a_power_cut_brought_back_is_not_added_to(disk):
    """The segment was cut to nothing and its index removed; only one of that lasted."""
    archive(disk).append([page(0)])
    index_segment(disk, archive(disk).name(0))
    disk.truncate(archive(disk).name(0), 0)
    store = archive(disk, seed=1)
    store.append([page(1)])
    store.index()
    assert len(places_in(disk, index_name(store.name(0)))) == 1


def remade(disk, store) -> list[tuple[str, str, str]]:
    index_segment(disk, store.name(0))
    return places_in(disk, index_name(store.name(0)))
