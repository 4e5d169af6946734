"""Pages and hosts that are forgotten, in the directory of a real crawl: nothing is left, also after a kill."""

import asyncio
import re
import shutil
import zlib

import msgspec
import numpy as np
import pytest

from evercrawl.ask.export.tables import table
from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config
from evercrawl.crawl.removing.forget_targets import targets
from evercrawl.crawl.removing.forgetting import finish, forget
from evercrawl.crawl.session import crawl
from evercrawl.errors import ConfigError, StoreError
from evercrawl.integrations.scrapy.store import RequestStore
from evercrawl.library.records import RecordBook
from evercrawl.model.stored.reader import opened
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname
from evercrawl.progress import Limits
from evercrawl.search.index import FOLDER, Index
from evercrawl.search.query import parse
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback
from evercrawl.store import forgetting
from evercrawl.store.archive.warc_read import walk
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import Lock
from evercrawl.store.forgotten import FILES, Forgotten, load
from evercrawl.store.journal.events import Discovery, Found
from evercrawl.store.journal.frame import Press
from evercrawl.store.journal.frame import parse as parse_frame
from evercrawl.store.journal.journal import Journal
from evercrawl.store.partition import Partition
from evercrawl.types import NO_SLOT
from tests.helpers.hand_made import SITE, HandMade

CONFIG = Config(delay_s=0.0, allow_net=(NETWORK,))
LIMITS = Limits(until_idle=True, seconds=600)


class KilledError(Exception):
    """The process ends here."""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    directory = tmp_path_factory.mktemp("forgetting") / "crawl"

    async def go() -> None:
        async with Loopback(hosts=3, pages=8, changing=0) as server:
            await crawl(directory, CONFIG, server.seeds, LIMITS)

    asyncio.run(go())
    records, requests = RecordBook(directory), RequestStore(directory)
    for url in known(directory)[0]:
        records.keep("a hook", url, 0, 1.0, [{"seen": f'at "{url}"'}])
        requests.add_page(url, f'the request of "{url}"'.encode(), seed=False)
    records.close()
    requests.close()
    return directory


@pytest.fixture
def copy(crawled, tmp_path):
    return shutil.copytree(crawled, tmp_path / "crawl")


@pytest.fixture
def planned(copy, tmp_path, monkeypatch):
    """A directory in which forgetting was begun, and was killed before it did anything."""

    def killed(directory, disk) -> None:
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(forgetting, "carry_out", killed)
        with pytest.raises(KilledError):
            forget(copy, gone(copy))
    return copy


def known(directory):
    partition = opened(directory)
    try:
        return partition.state.urls.get_many(range(partition.state.known.count)), list(partition.state.hosts)
    finally:
        partition.close()


def gone(directory):
    """A host, and a page of another that leads nowhere else."""
    urls, hosts = known(directory)
    return [hosts[1], next(url for url in urls if hosts[0] in url and "/p/3" in url)]


def needles(directory):
    """What must be nowhere: addresses of what goes, and titles that only its pages have."""
    host, url = gone(directory)
    origin = next(each for each in known(directory)[0] if host in each).split("/", 3)[2]
    return [f"//{host}".encode(), url.encode() + b'"', f" of http://{origin}".encode()]


def texts(directory):
    """Yield each file, and what it holds uncompressed; pages that stay may name others in their links."""
    disk = RealDisk(directory, read_only=True)
    for path in sorted(each for each in directory.rglob("*") if each.is_file()):
        name = str(path.relative_to(directory))
        yield name, path.read_bytes()
        if name.endswith(".warc.gz"):
            for found in walk(disk, name):
                body = found.record.message()[1]
                yield f"{name} {found.record.url}", repr(found.record.fields).encode()
                yield f"{name} title", b"".join(re.findall(rb"<title>.*?</title>", body))
        if path.suffix in (".bin", ".log", ".col"):
            yield from ((f"{name} unpacked", text) for text in unpacked(path.read_bytes()))
    journal = Journal.open(disk, writable=False)
    yield "events", repr([event for _, _, event in journal.replay()]).encode()
    disk.close()


def unpacked(data):
    import zstandard

    for match in re.finditer(rb"\x28\xb5\x2f\xfd", data):
        try:
            yield zstandard.ZstdDecompressor().decompressobj().decompress(data[match.start() :])
        except zstandard.ZstdError:
            continue


def assert_gone(directory, what):
    for name, text in texts(directory):
        for needle in what:
            assert needle not in text, name
    found = verify(directory)
    assert found.fine, found.wrong
    assert found.checked["forgotten URLs"]


def test_what_is_forgotten_is_in_no_byte_of_the_directory(copy):
    what, wanted = needles(copy), gone(copy)
    assert any(what[0] in text for _, text in texts(copy))
    assert any(what[2] in text for _, text in texts(copy))
    forgot = forget(copy, wanted)
    assert forgot.hosts == 1
    assert forgot.pages > 1
    assert forgot.records > 1
    assert any("backups" in sentence for sentence in forgot.beyond)
    assert_gone(copy, what)


def test_pages_that_stay_are_as_before(copy):
    host, url = gone(copy)
    before = {each for each in known(copy)[0] if host not in each and each != url}
    forget(copy, [host, url])
    partition = opened(copy)
    try:
        exported = {row for piece in table(partition, "pages") for row in piece["url"]}
        visits = {row for piece in table(partition, "visits") for row in piece["url"]}
        links = {row for piece in table(partition, "links") for row in (*piece["source"], *piece["target"])}
    finally:
        partition.close()
    assert exported == before
    assert visits <= before
    assert not {each for each in links if host in each or each == url}
    index = Index(copy / FOLDER, writable=False)
    try:
        assert index.search(parse("page")).slot.tolist()
    finally:
        index.close()


def test_what_is_forgotten_is_never_requested_again(tmp_path):
    async def go() -> None:
        async with Loopback(hosts=2, pages=8, changing=0) as server:
            directory = tmp_path / "crawl"
            await crawl(directory, CONFIG, server.seeds[:1], LIMITS)
            host, url = server.seeds[1].split("/")[2].split(":")[0], f"{server.seeds[0]}p/3"
            never = f"{server.seeds[0]}p/never-known"
            await asyncio.to_thread(forget, directory, [host, url, never])
            before = len(server.log)
            await crawl(directory, CONFIG, [f"{server.seeds[0]}p/0?again"], LIMITS)
            asked = [f"{each.origin}{each.path}" for each in server.log[before:]]
            assert not [each for each in asked if host in each or each in (url, never)]
            assert any(each.endswith("again") for each in asked)
            for seed in (url, server.seeds[1], never):
                with pytest.raises(ConfigError, match="was forgotten"):
                    await crawl(directory, CONFIG, [seed], LIMITS)
            assert (await asyncio.to_thread(verify, directory)).fine

    asyncio.run(go())


@pytest.mark.parametrize("step", [1, 3, 6, 10, 20, 30, 45])
def test_a_kill_on_the_way_leaves_nothing_that_is_not_ended_later(planned, step, monkeypatch, crawled):
    what = needles(crawled)
    left = [step]

    def count(*_: object) -> None:
        left[0] -= 1
        if left[0] <= 0:
            raise KilledError

    real = forgetting.patch

    def patch(*arguments: object, **more: bool) -> None:
        count()
        real(*arguments, **more)

    with monkeypatch.context() as patched:
        patched.setattr(forgetting, "patch", patch)
        disk = RealDisk(planned, before=count)
        with pytest.raises(KilledError):
            forgetting.carry_out(planned, disk)
        disk.close()
    with pytest.raises(StoreError, match="forget --finish"):
        opened(planned)
    assert finish(planned)
    assert not finish(planned)
    assert_gone(planned, what)


def test_the_next_start_ends_what_was_begun(planned, crawled):
    what = needles(crawled)
    asyncio.run(crawl(planned, CONFIG, [], Limits(seconds=1, until_idle=True)))
    assert_gone(planned, what)


def test_the_plan_names_nothing_that_is_forgotten(planned, crawled):
    data = (planned / forgetting.PLAN).read_bytes()
    texts = [data, *unpacked(data)]
    assert not [needle for needle in needles(crawled) for text in texts if needle in text]


def test_a_running_crawl_is_to_be_stopped_first(copy):
    with Lock.take(copy, "evercrawl crawl", 0.0), pytest.raises(StoreError, match="stop it first"):
        forget(copy, gone(copy))


def test_a_word_that_means_nothing_is_refused(copy):
    for word in ("/no-such-page/", "(", "http://"):
        with pytest.raises(ConfigError):
            forget(copy, [word])
    assert verify(copy).fine


def test_verify_finds_a_record_that_came_back(copy):
    segment = next((copy / "archive").glob("*.warc.gz"))
    before = segment.read_bytes()
    forget(copy, gone(copy))
    after = segment.read_bytes()
    segment.write_bytes(before[: len(after)])
    assert any("forgotten URL" in sentence for sentence in verify(copy).wrong)


def test_a_frame_takes_other_events_in_the_same_room():
    press = Press()
    data = press.pack([b"one" * 9, b"two" * 9], offset=24, back=0, sequence=0)
    again = press.pack_again(parse_frame(data, 0, 24), [b"one" * 9, b"~"])
    assert len(again) == len(data)
    assert press.unpack(parse_frame(again, 0, 24)) == [b"one" * 9, b"~"]
    assert press.pack_again(parse_frame(data, 0, 24), [zlib.compress(bytes(range(256))) * 3, b"two"]) is None


@pytest.mark.parametrize("gone", [range(500), range(250, 251), range(251, 252), range(499, 500)])
def test_numbered_urls_leave_room_for_what_is_left_of_them(gone):
    urls = [f"http://a.example/item/{number}" for number in range(500)]
    event = Found(1.0, Discovery(7, urls, [0] * 500, 0, ["a.example"]))
    slots = np.array([7 + i for i in gone], np.uint32)
    forgotten = Forgotten(slots, np.arange(len(slots), dtype=np.uint64), {})
    press, encode = Press(), msgspec.msgpack.encode
    frame = parse_frame(press.pack([encode(event)], offset=24, back=0, sequence=0), 0, 24)
    tries = [forgotten.marked(event.found, like_others=like_others) for like_others in (False, True)]
    packed = [press.pack_again(frame, [encode(msgspec.structs.replace(event, found=found))]) for found in tries]
    assert any(packed)
    for found in tries:
        told = forgotten.told(found)
        assert len(set(told.urls)) == 500
        assert [url for i, url in enumerate(told.urls) if i not in gone] == [
            url for i, url in enumerate(urls) if i not in gone
        ]
        assert not {told.urls[i] for i in gone} & set(urls)


def test_what_has_no_room_in_its_frame_is_kept_elsewhere(tmp_path, monkeypatch):
    made = HandMade(tmp_path / "crawl")
    urls = [f"{SITE}/page/{number}" for number in range(1500)]
    made.seed(*urls)
    made.visit(urls[7], made.page("seven", text="a page that goes"))
    made.save()
    made.partition.close()
    gone = set[str]()
    monkeypatch.setattr(Press, "pack_again", lambda *_: None)
    for part in (urls[7:900:100], urls[8:900:100]):
        assert forget(made.directory, part).pages == 9
        gone |= set(part)
        left, _ = known(made.directory)
        assert [url for url in left if url in set(urls)] == [url for url in urls if url not in gone]
        assert len(set(left)) == len(urls)
        found = verify(made.directory)
        assert found.fine, found.wrong
    disk = RealDisk(made.directory, read_only=True)
    assert load(disk).frames
    disk.close()
    for name, text in texts(made.directory):
        assert all(f'{url}"'.encode() not in text and f"{url}'".encode() not in text for url in gone), name
    for name in FILES:
        (made.directory / name).unlink()
    disk = RealDisk(made.directory, read_only=True)
    with pytest.raises(StoreError, match=r"forgotten\.bin"):
        list(Journal.open(disk, writable=False).replay())
    disk.close()


def test_pages_that_are_stored_under_the_name_with_the_dot_of_the_root_are_found(tmp_path):
    partition = Partition(tmp_path, bytes, now=1e9, site=found_site)
    urls, new = ["http://b.example./x", "http://b.example/y"], list[str]()
    keys = partition.state.hasher.keys(urls)
    partition.state.table.intern(keys)
    hosts = [partition.state.host_number(hostname(url), new) for url in urls]
    partition.state.admit(Discovery(0, urls, hosts, 0, new, NO_SLOT, 0), 1e9, keys)
    for word, slots in (("http://b.example./x", [0]), ("http://b.example/x", [0]), ("http://b.example/y", [1])):
        assert targets(partition, [word]).slots.tolist() == slots
    for word in ("b.example", "b.example."):
        assert targets(partition, [word]).slots.tolist() == [0, 1]
    partition.close()
