"""What was learned from visits and kept in files: it spares the journal; where it does not fit, it is learned again."""

import asyncio
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from evercrawl.arrays.names import NumberedNames
from evercrawl.ask.plan.outlook import outlook
from evercrawl.ask.status import expectations
from evercrawl.ask.why.why import why
from evercrawl.config import Config
from evercrawl.errors import NoRoomError
from evercrawl.model.policy import lessons, lessons_file, lessons_log
from evercrawl.model.policy.lessons import Lessons
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View
from evercrawl.parse.sites import found_site
from evercrawl.schedule import Pages, Price
from evercrawl.schedule.policies.price_gamma import PriceGamma
from evercrawl.store.disk import stamped
from evercrawl.store.disk.stamped import packed, pieces
from evercrawl.store.journal.events import Visit
from evercrawl.store.partition import Partition
from evercrawl.store.snapshots import blocklog
from evercrawl.store.snapshots.blocklog import BlockLog
from evercrawl.store.table.table import KeyMap
from evercrawl.types import Floats
from tests.helpers.hashing import HASHER

SITE = "http://example.org"


@pytest.fixture
def taught(made):
    """A crawl whose policy learns as it goes: two folders of a site, of which each changes as a whole now and then."""
    made.policy, made.texts = Price(), [0, 0]
    made.teach(made.policy)
    made.seed(*(f"{SITE}/{folder}/{page}" for folder in "ab" for page in range(8)))
    draw = np.random.default_rng(1)
    for _ in range(8):
        for folder in range(2):
            made.texts[folder] += draw.random() < 0.2
            look(made, folder)
    return made


def look(made, folder: int, pages: int = 8) -> None:
    for page in range(pages):
        made.now += 5000.0
        url = f"{SITE}/{'ab'[folder]}/{page}"
        made.visit(url, made.page(f"{url} {made.texts[folder]}"))


def keep(made, between: Callable[[], None] = lambda: None) -> Path:
    """Keep what was learned as a snapshot does; `between` is called while it is written."""

    async def offload(function: Callable[..., Any], *arguments: Any) -> Any:
        between()
        return function(*arguments)

    async def settle() -> None:
        made.save()

    asyncio.run(made.lessons.save(settle, offload))
    return made.directory / stamped.stamped(stamped.LESSONS, made.partition.journal.sequence)


@pytest.fixture
def read(monkeypatch):
    """Events that lessons read from the journal."""
    found, whole = [], lessons.events
    monkeypatch.setattr(lessons, "events", lambda *of: (found.append(each) or each for each in whole(*of)))
    return found


def learned(made, read: list) -> tuple[Lessons, dict[str, np.ndarray], int]:
    """Return what a start learns, and how many events it reads for it."""
    read.clear()
    again = Lessons(policy := Price(), made.partition)
    return again, policy.state(), len(read)


def same(memory: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert memory.keys() == other.keys()
    for name, rows in memory.items():
        np.testing.assert_array_equal(rows, other[name], err_msg=name)


def test_what_was_kept_spares_the_journal(taught, read):
    """What a policy kept is taken up with all that came since."""
    keep(taught)
    taught.texts[0] += 1
    look(taught, 0, pages=3)
    taught.lessons.flush()
    again, memory, events = learned(taught, read)
    assert (again.recalled, again.troubles, events) == (True, [], 3)
    same(memory, taught.policy.state())


@pytest.mark.parametrize("many", [blocklog.MANY_BLOCKS, 0])
def test_what_is_learned_while_it_is_written_is_in_it_or_learned_again(taught, read, monkeypatch, many):
    """However little is copied at a time, and whoever looks for what is due: each sum has every visit once."""
    monkeypatch.setattr(blocklog, "MANY_BLOCKS", many)
    monkeypatch.setattr(lessons_log, "AT_ONCE_BYTES", 20_000)
    monkeypatch.setattr(lessons_log, "COPIED_BYTES", 4_000)
    left, log, sizes = [3], BlockLog.append, list[int]()
    monkeypatch.setattr(BlockLog, "append", lambda *to: (sizes.append(len(to[3])), log(*to)))

    def between() -> None:
        if left[0]:
            left[0] -= 1
            look(taught, left[0] % 2, pages=2)

    keep(taught, between)
    taught.lessons.flush()
    again, memory, events = learned(taught, read)
    assert (again.recalled, again.troubles, left) == (True, [], [0])
    assert events < 6, "some of it was learned before the instant"
    assert max(sizes) <= 20_000, "nothing large is copied at once"
    same(memory, taught.policy.state())


def test_only_what_changed_is_written(taught):
    keep(taught)
    before = {file: file.stat().st_size for file in taught.directory.glob("learned-*")}
    look(taught, 1, pages=1)
    keep(taught)
    after = {file: file.stat().st_size for file in taught.directory.glob("learned-*")}
    assert 0 < sum(after.values()) - sum(before.values()) < sum(before.values())


def damaged(file: Path, how: str) -> None:
    data = bytearray(file.read_bytes())
    if how == "flip":
        data[len(data) // 2] ^= 0x10
    elif how == "cut":
        del data[len(data) * 2 // 3 :]
    else:
        data = bytearray()
    file.write_bytes(bytes(data))


@pytest.mark.parametrize("how", ["flip", "cut", "empty"])
def test_damage_gives_way_to_the_older_and_that_to_the_journal(taught, read, how):
    older, all_of_it = keep(taught), taught.partition.journal.sequence
    look(taught, 1)
    newer = keep(taught)
    expected = taught.policy.state()
    damaged(newer, how)
    again, memory, events = learned(taught, read)
    assert events == 8
    same(memory, expected)
    assert [newer.name in trouble for trouble in again.troubles] == ([] if how == "empty" else [True])
    damaged(older, how)
    again, memory, events = learned(taught, read)
    assert (again.recalled, events) == (False, all_of_it + 8)
    assert len(again.troubles) == (0 if how == "empty" else 2)
    same(memory, expected)


@pytest.mark.parametrize("array", [{"kind": "[" * 200_000}, {"shape": (1 << 59,)}, {"shape": (1 << 40, 1 << 40)}])
def test_a_header_that_asks_for_too_much_gives_way_to_the_journal(taught, read, array):
    file = keep(taught)
    said, *rest = [bytes(piece) for piece in pieces(file.read_bytes(), lessons_file.MAGIC)]
    head = msgspec.msgpack.decode(said, type=lessons_file.LessonsHead)
    head.arrays.insert(0, msgspec.structs.replace(head.arrays[0], name="more", **array))
    said = msgspec.msgpack.encode(head)
    file.write_bytes(lessons_file.MAGIC + b"".join(packed(piece) for piece in (said, *rest)) + lessons_file.END)
    again, memory, events = learned(taught, read)
    assert (again.recalled, len(again.troubles)) == (False, 1)
    assert events == taught.partition.journal.sequence
    same(memory, taught.policy.state())


def test_two_generations_are_kept(taught):
    files = []
    for _ in range(3):
        look(taught, 0, pages=1)
        files.append(keep(taught))
    assert [file.exists() for file in files] == [False, True, True]


def test_what_another_policy_learned_is_none_of_ours(taught, read):
    keep(taught)

    class Other(Price):
        pass

    again = Lessons(Other(), taught.partition)
    assert (again.recalled, again.troubles) == (False, [])
    assert len(read) == taught.partition.journal.sequence


def test_of_sites_that_are_grouped_otherwise_nothing_is_taken_up(taught, read):
    keep(taught)
    others = NumberedNames(KeyMap(1000), HASHER)
    for name in ("another.example", *list(taught.state.sites)[1:]):
        others.append(name)
    taught.state.sites = others
    again, _, _ = learned(taught, read)
    assert (again.recalled, again.troubles) == (False, [])


def test_a_journal_that_lost_its_end_has_its_lessons_deleted(taught):
    older = keep(taught)
    look(taught, 1)
    newer = keep(taught)
    file = next(taught.directory.glob("journal-*"))
    taught.partition.close()
    file.write_bytes(file.read_bytes()[:-30])
    again = Partition(taught.directory, os.urandom, now=taught.now, site=found_site)
    assert again.repairs
    assert older.exists()
    assert not newer.exists()
    again.close()


def test_lessons_of_another_history_do_not_fit(taught, read):
    """The number of events is right, the place in the journal is not."""
    file = keep(taught)
    head = msgspec.msgpack.decode(pieces(file.read_bytes(), lessons_file.MAGIC)[0], type=lessons_file.LessonsHead)
    look(taught, 0)
    taught.save()
    fewer, memory = head.sequence - 2, taught.policy.state()
    other = lessons_file.file_of(msgspec.structs.replace(head, sequence=fewer), memory)
    lessons_file.keep(taught.partition.disk, fewer, other)
    file.unlink()
    assert stamped.names(taught.partition.disk, stamped.LESSONS)
    assert not learned(taught, read)[0].recalled


def test_where_there_is_no_room_nothing_is_kept(taught, monkeypatch):
    older = keep(taught)
    look(taught, 1)

    def full(name: str, chunks: object) -> None:
        raise NoRoomError("the disk is full")

    monkeypatch.setattr(taught.partition.disk, "replace", full)
    newer = keep(taught)
    assert (older.exists(), newer.exists()) == (True, False)


def by_rates(view: View, pages: Pages) -> Floats:
    """Return P(fresh) without clocks."""
    return PriceGamma().fresh(pages, view.context)


def test_questions_believe_what_the_clocks_say(taught, read):
    """Half a folder was found changed: of its other pages a question believes less than their rates say, of those of
    another folder about as much. It knows what was learned up to the last snapshot, and what came since."""
    look(taught, 1)
    keep(taught)
    taught.texts[0] += 1
    look(taught, 0, pages=4)
    taught.lessons.flush()
    taught.stop()
    crawl = opened(taught.directory)
    view = View(crawl, Config(), taught.now + 100.0)
    pages = view.columns(np.arange(16, dtype=np.uint32))
    found, plain = view.fresh(pages), by_rates(view, pages)
    assert len(read) == 4
    assert (found[4:8] < 0.6 * plain[4:8]).all()
    assert (found[8:] > 0.8 * plain[8:]).all()
    np.testing.assert_array_equal(found, taught.policy.fresh(pages, view.context))
    fresh, _ = expectations(view)
    assert fresh.fresh == pytest.approx(found.mean())
    by_worth = np.average(found, weights=view.candidates(pages.slot).importance)
    assert outlook(view).fresh == pytest.approx(by_worth)
    assert why(view, f"{SITE}/a/7").change.fresh == pytest.approx(found[7])
    assert view.informed.fresh(pages, view.context).tolist() == found.tolist()
    assert len(read) == 4, "what was kept is read once"
    crawl.close()


def test_where_nothing_was_kept_questions_believe_the_rates_until_they_have_read_the_journal(taught, read):
    taught.lessons.flush()
    taught.stop()
    crawl = opened(taught.directory)
    view = View(crawl, Config(), taught.now + 100.0)
    pages = view.columns(np.arange(16, dtype=np.uint32))
    np.testing.assert_array_equal(view.fresh(pages), by_rates(view, pages))
    assert not read
    assert view.informed is view.policy
    np.testing.assert_array_equal(view.fresh(pages), taught.policy.fresh(pages, view.context))
    crawl.close()


def test_a_question_to_a_crawl_that_runs_sees_no_further_than_its_own_pages(taught, read):
    """Lessons that are newer than what the question has read are passed over, for the older."""
    keep(taught)
    crawl = opened(taught.directory)
    look(taught, 0)
    keep(taught)
    view = View(crawl, Config(), taught.now)
    view.fresh(view.columns(np.arange(16, dtype=np.uint32)))
    assert view.believing.state()["pages"].tolist() != taught.policy.state()["pages"].tolist()
    assert not read, "nothing had come since, as far as it knows"
    crawl.close()


def older(version: int, folder: Path) -> Partition:
    """Return a crawl of 32 visits that a version of the program before left behind, opened as questions open it."""
    shutil.copytree(Path(__file__).parents[1] / "data" / f"lessons{version}", folder)
    return Partition(folder, os.urandom, now=1_700_200_000.0, site=found_site, writable=False)


@pytest.mark.parametrize(("version", "events"), [(2, 33), (3, 65)])
def test_what_older_clocks_learned_is_learned_again_from_the_journal(version, events, tmp_path, read):
    """They held clocks against another belief, and their visits do not say what the belief of the rate had said."""
    with closing(older(version, tmp_path / "crawl")) as crawl:
        kept = Lessons(policy := Price(), crawl)
        assert (kept.recalled, kept.troubles, len(read)) == (False, [], events)
        (tmp_path / "crawl" / stamped.names(crawl.disk, stamped.LESSONS)[0]).unlink()
        anew = Lessons(other := Price(), crawl)
        assert not anew.recalled
        same(policy.state(), other.state())
        same(*(one.foresight.prospects.state() for one in (kept, anew)))
        assert policy.state()["pages"]["known"].tolist() == [1] * 8
        visits = [event for _, _, event in crawl.journal.replay() if isinstance(event, Visit)]
        assert {event.fresh_by_time for event in visits} == {0}


def test_what_version_1_kept_is_learned_again_from_its_journal(tmp_path, read):
    """Its visits do not say how many links were cut: none."""
    with closing(older(1, tmp_path / "crawl")) as crawl:
        kept = Lessons(policy := Price(), crawl)
        assert (kept.recalled, kept.troubles, len(read)) == (False, [], 33)
        assert [event.cut for _, _, event in crawl.journal.replay() if isinstance(event, Visit)] == [0] * 32
        assert policy.state()["pages"]["known"].tolist() == [1] * 8


@pytest.mark.parametrize("version", [2, 3])
def test_what_was_taken_up_from_an_older_version_is_kept_as_this_one_does(version, tmp_path, read):
    shutil.copytree(Path(__file__).parents[1] / "data" / f"lessons{version}", tmp_path / "crawl")
    with closing(Partition(tmp_path / "crawl", os.urandom, now=1_700_200_000.0, site=found_site)) as crawl:
        kept = Lessons(policy := Price(), crawl)

        async def settle() -> None:
            crawl.journal.write(crawl.journal.seal())

        async def offload(function: Callable[..., Any], *arguments: Any) -> Any:
            return function(*arguments)

        asyncio.run(kept.save(settle, offload))
        again = Lessons(other := Price(), crawl)
        assert again.recalled
        same(policy.state(), other.state())


def test_damaged_blocks_give_way_to_the_journal(taught, read):
    keep(taught)
    file = next(taught.directory.glob("learned-*"))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    again, memory, events = learned(taught, read)
    assert (again.recalled, len(again.troubles)) == (False, 1)
    assert events > 100
    same(memory, taught.policy.state())
