"""All that is known, as a fold: the same whether it is applied or replayed, and what the fold of each event is."""

import random
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.folding import Place, fold, replay
from evercrawl.store.journal.events import (
    CHANGED,
    HAS_LINKS,
    KEEP,
    UNCHANGED,
    Discovery,
    Event,
    Found,
    Lost,
    Passed,
    Visit,
)
from evercrawl.store.resuming import to_try
from evercrawl.store.state import RETRIES, State
from evercrawl.types import NO_SLOT, Outcome
from tests.helpers.hashing import HASHER

EPOCH = 1_700_000_000.0


class Folder:
    """Makes events as a crawl does, and applies them to a state."""

    def __init__(self) -> None:
        self.state = State(RealDisk(Path(tempfile.mkdtemp())), EPOCH, HASHER)
        self.events: list[tuple[int, object]] = []
        self.now = EPOCH

    def know(self, *urls: str, after_s: float = 2.0, source: int = NO_SLOT, depth: int = 0, hops: int = 0) -> Discovery:
        state, new_hosts = self.state, list[str]()
        first_host = len(state.hosts)
        fresh = HASHER.keys(urls)
        slots, new = state.table.intern(fresh)
        assert new.all()
        hosts = [state.host_number(url.split("/")[2], new_hosts) for url in urls]
        found = Discovery(int(slots[0]), list(urls), hosts, first_host, new_hosts, source, depth, hops)
        state.admit(found, self.now + after_s, fresh)
        return found

    def seed(self, *urls: str) -> None:
        self.remember(Found(self.now, self.know(*urls, after_s=0.0)))

    def visit(self, slot: int, outcome: int = Outcome.OK, digest: int = 0, **more: object) -> None:
        self.now += 2.0
        index = self.state.record_of(slot)
        row = self.state.records.rows[index] if index is not None else None
        before = int(row["visits"]) if row is not None else 0
        flags = more.pop("flags", HAS_LINKS)
        changes = (int(row["changes"]) if row is not None else 0) + (flags & CHANGED)
        more = {"status": 200} | more
        self.remember(
            Visit(slot, 0, self.now, outcome, flags=flags, visits=before + 1, changes=changes, digest=digest, **more)
        )

    def remember(self, event) -> None:
        pointer = len(self.events) << 8
        self.events.append((pointer, event))
        fold(self.state, event, Place(pointer))

    def replayed(self) -> State:
        state = State(RealDisk(Path(tempfile.mkdtemp())), EPOCH, HASHER)
        for pointer, event in self.events:
            replay(state, event, pointer, pointer >> 8)
        return state

    def record(self, slot: int):
        return self.state.records.rows[self.state.record_of(slot)]


@pytest.fixture
def folder():
    made = Folder()
    made.seed("http://a.example/", "http://a.example/1", "http://b.example/")
    return made


def assert_same(one: State, other: State) -> None:
    for name in ("hosts", "away", "outcomes", "visits", "changes", "wire_bytes"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.known.count == other.known.count
    count = one.known.count
    assert (one.known.rows() == other.known.rows()).all()
    assert one.urls.get_many(range(count)) == other.urls.get_many(range(count))
    assert (one.table.record[:count] == other.table.record[:count]).all()
    assert one.records.count == other.records.count
    assert (one.records.rows[: one.records.count] == other.records.rows[: other.records.count]).all()
    for mine, theirs in zip(to_try(one), to_try(other), strict=True):
        assert mine.tolist() == theirs.tolist()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 1 << 32))
def test_what_is_replayed_is_what_was_applied(seed):
    draw = random.Random(seed)
    folder = Folder()
    folder.seed("http://a.example/")
    for step in range(draw.randrange(40)):
        slot = draw.randrange(folder.state.known.count)
        if draw.random() < 0.1:
            folder.remember(Lost(slot, 0, folder.now, (0, 0, 1), "test"))
            continue
        visited = folder.state.record_of(slot) is not None
        flags = draw.choice([HAS_LINKS, HAS_LINKS | CHANGED, UNCHANGED | KEEP, 0]) if visited else HAS_LINKS
        found = None
        if draw.random() < 0.4:
            urls = [f"http://{draw.choice('abc')}.example/{step}/{i}" for i in range(draw.randrange(1, 20))]
            found = folder.know(*urls, source=slot, depth=draw.randrange(300), hops=draw.randrange(3))
        folder.visit(slot, draw.choice(list(Outcome)), draw.randrange(4), flags=flags, found=found,
                     status=draw.choice([0, 200, 304, 404, 500]), size_bytes=draw.randrange(1 << 33),
                     simhash=draw.getrandbits(64), wire_bytes=draw.randrange(99),
                     retry_at=draw.choice([0.0, folder.now + 60]))  # fmt: skip
    assert_same(folder.replayed(), folder.state)


def test_before_its_first_visit_a_page_has_depth_and_hops_but_no_record(folder):
    folder.visit(0, found=folder.know("http://a.example/new", source=0, depth=5, hops=2))
    cell = int(folder.state.table.record[3])
    assert (cell & 0xFF, cell >> 8 & 0xFF, folder.state.record_of(3)) == (5, 2, None)
    folder.visit(3)
    assert int(folder.record(3)["depth"]) == 5


def test_instants_are_kept_to_a_sixteenth_of_a_second():
    state = Folder().state
    assert state.instant(state.ticks(EPOCH + 1e8 + 0.3)) == pytest.approx(EPOCH + 1e8 + 0.3, abs=1 / 32)
    assert state.ticks(EPOCH - 10) == 0
    assert state.ticks(EPOCH + 1e12) == 0xFFFFFFFF


def test_the_pages_to_try_are_the_new_ones_those_in_trouble_and_the_rest_by_age(folder):
    folder.visit(0, found=folder.know(*(f"http://a.example/x{i}" for i in range(6))))
    folder.visit(4, Outcome.ERROR, status=503)
    folder.visit(3, Outcome.ERROR, status=401)
    folder.visit(1)
    folder.visit(0, flags=UNCHANGED | KEEP)
    new, seen = to_try(folder.state)
    assert sorted(new.tolist()) == [2, 4, 5, 6, 7, 8]
    assert new.tolist()[:5] == [2, 5, 6, 7, 8]
    assert seen.tolist() == [3, 1, 0]


def test_trouble_is_retried_only_so_often(folder):
    for visit in range(1, RETRIES + 2):
        folder.visit(1, Outcome.ERROR, status=500)
        assert (1 in to_try(folder.state)[0]) == (visit <= RETRIES)


def test_the_original_of_a_content(folder):
    state = folder.state
    assert state.original(77, 0) == NO_SLOT
    folder.visit(1, digest=77)
    assert state.original(77, 0) == 1
    folder.visit(2, Outcome.DUPLICATE, digest=77)
    assert state.original(77, 0) == 1
    folder.visit(1, digest=78, flags=HAS_LINKS | CHANGED)
    assert (state.original(77, 0), state.original(78, 0)) == (NO_SLOT, 1)
    folder.visit(2, Outcome.OK, digest=77, flags=UNCHANGED | KEEP)  # what was a copy stands for itself now
    assert state.original(77, 0) == 2
    folder.visit(2, Outcome.ERROR, digest=77, flags=0)
    assert state.original(77, 0) == NO_SLOT
    folder.visit(2, Outcome.OK, digest=77, flags=UNCHANGED | KEEP)
    assert state.original(77, 0) == 2
    assert folder.replayed().original(77, 0) == 2


def test_a_page_that_changes_often_has_one_content(folder):
    for digest in range(1, 60):
        folder.visit(0, digest=digest, flags=HAS_LINKS)
    _, contents = folder.state.originals.reserved()
    assert contents == 1
    assert folder.state.originals.find(59) == 0


@pytest.mark.parametrize("flags", [0, UNCHANGED | KEEP, UNCHANGED | HAS_LINKS])
def test_what_brings_no_new_content_leaves_size_and_likeness(folder, flags):
    folder.visit(0, digest=5, size_bytes=1000, simhash=99)
    folder.visit(0, Outcome.OK if flags else Outcome.ERROR, digest=5, flags=flags, size_bytes=3, simhash=0)
    assert (int(folder.record(0)["size_bytes"]), int(folder.record(0)["simhash"])) == (1000, 99)


def test_of_a_page_that_never_had_content_the_size_is_the_answer_s(folder):
    folder.visit(0, Outcome.GONE, flags=0, size_bytes=10, status=404)
    folder.visit(0, Outcome.GONE, flags=0, size_bytes=20, status=404)
    assert int(folder.record(0)["size_bytes"]) == 20


def test_counts(folder):
    folder.visit(0, digest=1, wire_bytes=10)
    folder.visit(0, digest=2, wire_bytes=5, flags=HAS_LINKS | CHANGED)
    folder.visit(1, Outcome.GONE, status=404)
    assert (folder.state.visits, folder.state.changes, folder.state.wire_bytes) == (3, 1, 15)
    assert +folder.state.outcomes == {Outcome.OK: 1, Outcome.GONE: 1}


def test_what_was_lost_counts_as_never_visited(folder):
    folder.visit(0, found=folder.know("http://a.example/deep", depth=3, hops=1))
    folder.visit(3)
    folder.remember(Lost(3, 0, folder.now, (0, 0, 1), "gone"))
    folder.remember(Lost(1, 0, folder.now, (0, 0, 1), "it had no record anyway"))
    assert folder.state.record_of(3) is None
    assert 3 in to_try(folder.state)[0]
    assert 3 not in to_try(folder.state)[1]
    assert +folder.state.outcomes == {Outcome.OK: 1}
    folder.visit(3)
    assert (int(folder.record(3)["depth"]), int(folder.record(3)["visits"])) == (3, 1)
    assert_same(folder.replayed(), folder.state)


def test_a_host_that_asked_for_it_is_left_alone(folder):
    folder.visit(0, Outcome.ERROR, status=503, retry_at=EPOCH + 600)
    assert folder.state.away == {0: EPOCH + 600}


def test_host_numbers_are_given_before_they_are_admitted(folder):
    new: list[str] = []
    assert folder.state.host_number("b.example", new) == 1
    assert [folder.state.host_number(name, new) for name in ("c.example", "d.example", "c.example")] == [2, 3, 2]
    assert new == ["c.example", "d.example"]


def test_events_of_an_older_journal_read_on():
    """What was added since stands at their end."""
    old = (
        Visit(3, 1, 1.7e9, Outcome.OK, 200, HAS_LINKS, 1, transfer=b"x" * 24),
        Passed(3, 1.7e9, 77, b"x" * 24),
    )
    for event in old:
        written = msgspec.msgpack.decode(msgspec.msgpack.encode(event))
        assert not written.pop()  # what was said of a visit's copy; who got what else is kept of a page
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(written), type=Event) == event
