"""The URL log: every URL comes back, from memory or from the disk, and damage is named."""

import errno
import random

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.errors import NoRoomError, StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.table.urlblocks import BLOCK, BlockCodec, needs_dictionary, train
from evercrawl.store.table.urllog import UrlLog

WORDS = ["guide", "api", "install", "blog", "release", "module", "tutorial", "user", "index", "about", "static", "faq"]


def web(count, seed=1):
    """Return URLs as a crawl might find them: some hosts, paths of common words, numbers."""
    draw = random.Random(seed)
    return [
        f"https://www.site{draw.randrange(40)}.example/{draw.choice(WORDS)}/{draw.choice(WORDS)}-{draw.randrange(10**6)}.html"
        for _ in range(count)
    ]


@pytest.fixture
def disk(tmp_path):
    return RealDisk(tmp_path)


def filled(disk, urls, piece=37):
    log = UrlLog.open(disk, 0, [])
    for start in range(0, len(urls), piece):
        log.append(urls[start : start + piece])
    return log


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), max_size=40)))
def test_any_text_comes_back(tmp_path_factory, batches):
    disk = RealDisk(tmp_path_factory.mktemp("log"))
    log, urls = UrlLog.open(disk, 0, []), []
    for batch in batches:
        log.append(batch)
        urls += batch
        assert (log.count, log.tail()) == (len(urls), urls[len(urls) // BLOCK * BLOCK :])
    assert [log.get(slot) for slot in range(len(urls))] == urls
    log.sync()
    again = UrlLog.open(disk, log.count, log.tail())
    assert again.get_many(range(len(urls))) == urls
    again.append(["one more"])
    assert again.get(len(urls)) == "one more"


def test_many_urls_come_back_in_any_order_and_small(disk):
    urls = web(150_000)
    log = filled(disk, urls)
    slots = random.Random(3).choices(range(len(urls)), k=3000)
    assert log.get_many(slots) == [urls[slot] for slot in slots]
    log.sync()
    log = UrlLog.open(disk, log.count, log.tail())
    assert [log.get(slot) for slot in slots] == [urls[slot] for slot in slots]
    assert log.get_many([]) == []
    assert disk.size("urls.log") + disk.size("urls.idx") < 20 * len(urls)
    assert needs_dictionary(disk.read("urls.log", log.span(9000)[0], 1000))
    assert not needs_dictionary(disk.read("urls.log", 0, 1000))


def test_the_files_can_be_read_with_zstd_alone(disk):
    urls = web(80_000)
    log = filled(disk, urls)
    log.sync()
    dictionary = zstandard.ZstdCompressionDict(disk.read("urls.dict", 0, 1 << 20))
    reader = zstandard.ZstdDecompressor(dict_data=dictionary).stream_reader(
        disk.read("urls.log", 0, 1 << 30), read_across_frames=True
    )
    assert reader.read().decode().splitlines() == urls


def test_what_a_crash_left_beyond_the_snapshot_is_cut(disk):
    urls = web(3000)
    log = filled(disk, urls[:1000])
    log.sync()
    count, tail = log.count, log.tail()
    log.append(urls[1000:])
    log.sync()
    disk.append("urls.log", b"a torn block")
    disk.append("urls.idx", b"torn")
    log = UrlLog.open(disk, count, tail)
    assert disk.size("urls.idx") == 1000 // BLOCK * 8
    log.append(urls[1000:2000])
    log.sync()
    assert UrlLog.open(disk, log.count, log.tail()).get_many(range(2000)) == urls[:2000]


def test_a_reader_follows_without_touching_the_files(disk, tmp_path):
    urls = web(100_000)
    log = filled(disk, urls[:1000])
    log.sync()
    reader = UrlLog.open(RealDisk(tmp_path, read_only=True), log.count, log.tail(), writable=False)
    log.append(urls[1000:])
    log.sync()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    reader.append(urls[1000:])
    reader.sync()
    assert reader.get_many(range(len(urls))) == urls
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    late = UrlLog.open(RealDisk(tmp_path, read_only=True), log.count, log.tail(), writable=False)
    assert late.get(99_000) == urls[99_000]


def test_a_full_disk_loses_nothing(tmp_path):
    full = False

    def before(operation, name) -> None:
        if full and operation == "write" and name != "urls.log":
            raise OSError(errno.ENOSPC, "no room")

    disk, urls = RealDisk(tmp_path, before=before), web(200_000)
    log = filled(disk, urls[:20_000])
    full = True
    log.append(urls[20_000:])  # the log is written, its index is not, nor the dictionary
    with pytest.raises(NoRoomError):
        log.sync()
    assert disk.size("urls.log") > 8 * disk.size("urls.idx")
    assert log.get_many(range(len(urls))) == urls
    full = False
    log.sync()
    assert UrlLog.open(disk, log.count, log.tail()).get_many(range(len(urls))) == urls


def test_a_disk_that_is_full_from_the_start(tmp_path):
    full = True

    def before(operation, name) -> None:
        if full and operation == "write":
            raise OSError(errno.ENOSPC, "no room")

    disk, urls = RealDisk(tmp_path, before=before), web(10_000)
    log = filled(disk, urls)
    assert log.get_many(range(len(urls))) == urls
    full = False
    log.sync()
    assert UrlLog.open(disk, log.count, log.tail()).get_many(range(len(urls))) == urls


def test_a_slot_that_is_not_there(disk):
    log = filled(disk, web(20))
    for slot in (-1, 20):
        with pytest.raises(IndexError):
            log.get(slot)


@pytest.mark.parametrize("name", ["urls.log", "urls.idx"])
def test_a_file_that_is_too_short_is_named(disk, name):
    log = filled(disk, web(1000))
    log.sync()
    disk.truncate(name, disk.size(name) - 1)
    with pytest.raises(StoreError, match=rf"{name} is damaged at offset {disk.size(name)}"):
        UrlLog.open(disk, log.count, log.tail())


def test_a_tail_of_another_snapshot_is_refused(disk):
    with pytest.raises(StoreError, match="older"):
        UrlLog.open(disk, 20, ["http://a/"])


def test_a_flipped_bit_never_makes_another_url(disk, tmp_path):
    urls = web(64)
    log = filled(disk, urls)
    log.sync()
    whole = disk.read("urls.log", 0, 1 << 20)
    start, end = log.span(2)
    said = 0
    for at in range(start, end):
        (tmp_path / "urls.log").write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
        again = UrlLog.open(disk, 64, [])
        try:
            assert again.get(40) == urls[40]  # a few bits of a frame mean nothing
        except StoreError as error:
            assert f"urls.log is damaged at offset {start}: block 2" in str(error)  # noqa: PT017
            said += 1
        assert again.get(0) == urls[0]
    assert said >= end - start - 4


@pytest.mark.parametrize("offset", [0, 2**60, 10**7])
def test_an_offset_that_points_nowhere_is_noticed(disk, tmp_path, offset):
    log = filled(disk, web(64))
    log.sync()
    index = bytearray((tmp_path / "urls.idx").read_bytes())
    index[8:16] = offset.to_bytes(8, "little")
    (tmp_path / "urls.idx").write_bytes(index)
    with pytest.raises(StoreError, match=r"urls\.log is damaged at offset"):
        UrlLog.open(disk, 64, []).get_many(range(16, 48))


def test_a_dictionary_that_is_lost_or_damaged_is_named(disk, tmp_path):
    log = filled(disk, web(80_000))
    log.sync()
    kept = log.count, log.tail()
    (tmp_path / "urls.dict").write_bytes(b"no dictionary")
    with pytest.raises(StoreError, match=r"urls\.dict is damaged"):
        UrlLog.open(disk, *kept)
    (tmp_path / "urls.dict").unlink()
    with pytest.raises(StoreError, match="damaged"):
        UrlLog.open(RealDisk(tmp_path), *kept).get(79_000)


def test_a_few_urls_make_no_dictionary():
    assert train([["http://a/"] * BLOCK]) == b""


def test_a_frame_that_claims_to_be_huge_is_not_believed():
    bomb = zstandard.ZstdCompressor().compress(bytes(1 << 27))
    with pytest.raises(ValueError, match="larger"):
        BlockCodec().decode(bomb)
