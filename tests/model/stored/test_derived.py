"""Derived files say what the journal says, whoever makes them, in whatever steps, and whatever happens to them."""

import multiprocessing
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from evercrawl.errors import StoreError
from evercrawl.model.stored.derived.derived import FOLDER, Derived, asked
from evercrawl.model.stored.derived.kinds import NONE, ChangeKind
from evercrawl.model.stored.derived.run import run_files
from evercrawl.model.stored.reader import events, opened
from evercrawl.store.folding import replay
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, UNCHANGED, Visit
from evercrawl.store.state import HELD
from evercrawl.types import Outcome
from tests.helpers.hand_made import SITE, HandMade

PAGES = 6


@pytest.fixture
def grown(tmp_path: Path) -> HandMade:
    """A crawl of pages that link to each other and change, vanish and return, with a journal of many frames."""
    made = HandMade(tmp_path / "crawl")
    made.seed(f"{SITE}/")
    draw = np.random.default_rng(7)
    made.visit(f"{SITE}/", made.page("Home", *(f"/{i}" for i in range(PAGES))))
    grow(made, draw, 120)
    return made


def grow(made: HandMade, draw: np.random.Generator, visits: int) -> None:
    for _ in range(visits):
        page, what = int(draw.integers(PAGES)), draw.random()
        if what < 0.15:
            made.visit(f"{SITE}/{page}", b"", 404)
        elif what < 0.25:
            made.visit(f"{SITE}/{page}", b"", 0, error="timeout")
        elif what < 0.35:
            made.visit(f"{SITE}/{page}", b"", 301, location=f"/{(page + 1) % PAGES}")
        elif what < 0.4:
            made.visit(f"{SITE}/{page}", made.page("Part", text=f"part {draw.integers(3)}"), truncated=True)
        else:
            links = [f"/{i}" for i in draw.choice(PAGES, 3)]
            made.visit(f"{SITE}/{page}", made.page(f"Page {page}", *links, text=f"text {draw.integers(3)}"))
        made.save()  # a frame each time


def answers(derived: Derived) -> object:
    """Return all that is derived, however it is divided into runs."""
    runs, n = derived.runs, derived.runs.visits
    names = (
        "number",
        "pointer",
        "at",
        "slot",
        "outcome",
        "digest",
        "simhash",
        "words",
        "title",
        "before",
        "state",
        "kind",
    )
    columns = {name: runs.slice(name, 0, n).tolist() for name in names}
    pages = {slot: runs.of_page(slot).tolist() for slot in range(PAGES + 1)}
    links = {slot: [part.tolist() for part in runs.to_page(slot)] for slot in range(PAGES + 1)}
    minutes = {name: counts.tolist() for name, counts in derived.minutes(0.0, np.inf).items()}
    return columns, pages, links, minutes


def asked_of(directory: Path, saved_visits: int = 1) -> object:
    crawl = opened(directory)
    derived = Derived(crawl, saved_visits)
    try:
        return answers(derived.current())
    finally:
        derived.close()
        crawl.close()


def from_memory(directory: Path) -> object:
    return asked_of(directory, 1 << 30)


def test_they_say_what_the_journal_says(grown):
    crawl = opened(grown.directory)
    runs = Derived(crawl, 1).current().runs
    visits = [
        (pointer, event) for pointer, _, event in events(crawl, crawl.journal.sequence) if isinstance(event, Visit)
    ]
    assert runs.visits == len(visits) == 121
    assert runs.slice("pointer", 0, 999).tolist() == [pointer for pointer, _ in visits]
    for slot in range(PAGES + 1):
        assert runs.of_page(slot).tolist() == [i for i, (_, event) in enumerate(visits) if event.slot == slot]
        linking = [i for i, (_, e) in enumerate(visits) if e.flags & HAS_LINKS and slot in decode_slots(e.targets)]
        assert sorted(runs.to_page(slot).visit.tolist()) == linking
    crawl.close()


@pytest.mark.parametrize("run_visits", [5, 1 << 18])
def test_kinds_follow_a_plain_telling(grown, monkeypatch, run_visits):
    """What each visit came to, told visit by visit, also across runs."""
    monkeypatch.setattr("evercrawl.model.stored.derived.building.RUN_VISITS", run_visits)
    crawl = opened(grown.directory)
    runs = Derived(crawl, 1).current().runs
    expected, state, version = list[int](), dict[int, int](), dict[int, tuple[int, int, str]]()
    for _, _, event in events(crawl, crawl.journal.sequence):
        if not isinstance(event, Visit):
            continue
        kind, slot, here = ChangeKind.NOTHING, event.slot, event.outcome in HELD
        before, old = state.get(event.slot), version.get(event.slot)
        if here and old is None:
            kind = ChangeKind.FIRST
        elif here and before not in HELD:
            kind = ChangeKind.RETURNED
        elif here and not event.flags & UNCHANGED and old is not None and event.digest != old[0]:
            kind = ChangeKind.CHANGED if (event.words, event.title) != old[1:] else kind
        elif before in HELD and event.outcome in (Outcome.GONE, Outcome.REDIRECT):
            kind = ChangeKind.VANISHED if event.outcome == Outcome.GONE else ChangeKind.MOVED
        if here and not event.flags & UNCHANGED:
            version[slot] = event.digest, event.words, event.title
        if here or event.outcome in (Outcome.GONE, Outcome.REDIRECT):
            state[slot] = event.outcome
        expected.append(kind)
    assert runs.slice("kind", 0, 999).tolist() == expected
    assert set(expected) == set(ChangeKind)
    crawl.close()


def test_the_same_comes_of_any_number_of_steps(grown, monkeypatch):
    whole = from_memory(grown.directory)
    monkeypatch.setattr("evercrawl.model.stored.derived.building.RUN_VISITS", 7)
    monkeypatch.setattr("evercrawl.model.stored.derived.derived.RUN_VISITS", 30)
    assert asked_of(grown.directory) == whole
    assert len(list((grown.directory / FOLDER).glob("*.col"))) > 3
    draw = np.random.default_rng(1)
    for _ in range(5):
        grow(grown, draw, 9)
        assert asked_of(grown.directory) == from_memory(grown.directory)


def test_files_are_few_and_appended_to(grown):
    folder, draw, counts = grown.directory / FOLDER, np.random.default_rng(2), list[int]()
    for _ in range(20):
        grow(grown, draw, 3)
        asked_of(grown.directory)
        counts.append(len(list(folder.glob("*.col"))))
    assert max(counts) <= 7  # the logarithm of 180 visits
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*.col")}
    asked_of(grown.directory)
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*.col")} == before


def test_what_was_lost_or_damaged_is_made_again(grown):
    whole, folder = asked_of(grown.directory), grown.directory / FOLDER
    (path,) = folder.glob("*.col")
    data = path.read_bytes()
    for spoiled in (b"", data[:-1], data[:100], b"x" * len(data), data + b"more"):
        path.write_bytes(spoiled)
        assert asked_of(grown.directory) == whole
    path.unlink()
    assert asked_of(grown.directory) == whole


def test_a_damaged_block_is_found_when_it_is_read_and_all_is_made_again(grown):
    whole = asked_of(grown.directory)
    (path,) = (grown.directory / FOLDER).glob("*.col")
    data = bytearray(path.read_bytes())
    for place in range(8, len(data) // 2, 97):
        data[place] ^= 255
    path.write_bytes(data)
    crawl = opened(grown.directory)
    assert asked(crawl, answers) == whole
    crawl.close()
    assert asked_of(grown.directory) == whole


def test_another_crawl_or_version_is_not_taken_for_this_one(grown, tmp_path):
    other = HandMade(tmp_path / "other")
    other.fill()
    other.save()
    asked_of(other.directory)
    (path,) = (other.directory / FOLDER).glob("*.col")
    (grown.directory / FOLDER).mkdir()
    (grown.directory / FOLDER / path.name).write_bytes(path.read_bytes())
    assert asked_of(grown.directory) == from_memory(grown.directory)


def test_files_of_another_version_are_made_again(grown, monkeypatch):
    for module in ("building", "derived"):
        monkeypatch.setattr(f"evercrawl.model.stored.derived.{module}.VERSION", 0)
    asked_of(grown.directory)
    (path,) = (grown.directory / FOLDER).glob("*.col")
    before = path.read_bytes()
    monkeypatch.undo()
    assert asked_of(grown.directory) == from_memory(grown.directory)
    assert path.read_bytes() != before


def test_a_journal_that_a_crash_cut_is_found_out(grown):
    asked_of(grown.directory)
    crawl = opened(grown.directory)
    *_, (pointer, _, _), _, _ = list(events(crawl, crawl.journal.sequence))
    crawl.close()
    grown.partition.close()
    (journal,) = grown.directory.glob("journal-*.log")
    with journal.open("r+b") as file:
        file.truncate(pointer >> 8)
    again = HandMade(grown.directory)
    grow(again, np.random.default_rng(99), 30)
    assert asked_of(grown.directory) == from_memory(grown.directory)


def test_a_reader_that_opened_earlier_sees_what_there_was(grown):
    crawl = opened(grown.directory)
    before = answers(Derived(crawl, 1 << 30).current())
    late = Derived(crawl, 1)
    grow(grown, np.random.default_rng(3), 20)
    asked_of(grown.directory)
    columns, pages, links, _ = answers(late.current())
    assert (columns, pages) == before[:2]
    assert {slot: [sorted(part) for part in parts] for slot, parts in links.items()} == {
        slot: [sorted(part) for part in parts] for slot, parts in before[2].items()
    }
    crawl.close()


def test_a_follower_takes_in_what_comes(grown):
    crawl = opened(grown.directory)
    derived, draw = Derived(crawl, 25).current(), np.random.default_rng(4)
    for _ in range(6):
        grow(grown, draw, 9)
        for pointer, number, event in crawl.journal.replay(crawl.journal.position, follow=True):
            replay(crawl.state, event, pointer, number)
        derived.follow()
        assert answers(derived) == from_memory(grown.directory)
    crawl.close()


def test_where_nothing_can_be_written_the_answer_is_the_same(grown):
    (grown.directory / FOLDER).write_text("a file in the way")
    crawl = opened(grown.directory)
    derived = Derived(crawl, 1).current()
    assert answers(derived) == from_memory(grown.directory)
    assert not derived.kept
    derived.close()
    crawl.close()


def test_a_damaged_journal_is_said_so(grown):
    grown.stop()
    (journal,) = grown.directory.glob("journal-*.log")
    data = bytearray(journal.read_bytes())
    data[len(data) // 2] ^= 255
    crawl = opened(grown.directory)
    journal.write_bytes(data)
    with pytest.raises(StoreError, match="damaged"):
        Derived(crawl, 1).current()
    crawl.close()


def derive_and_die(directory: Path, step: str) -> None:
    """Derive, and be killed when a file is about to get its name, or those that it takes the place of are to go."""
    setattr(Path, step, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
    asked_of(directory)


@pytest.mark.parametrize("step", ["replace", "unlink"])
def test_a_kill_leaves_what_can_be_gone_on_with(grown, step):
    fork = multiprocessing.get_context("fork")
    asked_of(grown.directory)
    grow(grown, np.random.default_rng(5), 100)
    child = fork.Process(target=derive_and_die, args=(grown.directory, step))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    left = {path.suffix for path in (grown.directory / FOLDER).glob("run-*")}
    assert left == ({".col", ".part"} if step == "replace" else {".col"})
    assert asked_of(grown.directory) == from_memory(grown.directory)
    grow(grown, np.random.default_rng(6), 5)
    assert asked_of(grown.directory) == from_memory(grown.directory)
    folder = grown.directory / FOLDER
    assert {path for _, _, path in run_files(folder)} == set(folder.glob("run-*"))  # nothing that is of no use


def test_two_readers_at_once_say_the_same(grown):
    fork = multiprocessing.get_context("fork")
    with fork.Pool(2) as pool:
        one, other = pool.map(asked_of, [grown.directory] * 2, chunksize=1)
    assert one == other == from_memory(grown.directory)


def test_versions_before_a_page_was_read_are_none(grown):
    crawl = opened(grown.directory)
    runs = Derived(crawl, 1).current().runs
    assert runs.slice("before", 0, 1).tolist() == [NONE]
    crawl.close()


def test_minutes_are_those_of_a_plain_count(grown):
    crawl = opened(grown.directory)
    visits = [event for _, _, event in events(crawl, crawl.journal.sequence) if isinstance(event, Visit)]
    derived = Derived(crawl, 1).current()
    counts = derived.minutes(0.0, np.inf)
    minutes = sorted({int(visit.at // 60) for visit in visits})
    assert counts["minute"].tolist() == minutes
    for name, number in (
        ("visits", lambda visit: 1),
        ("errors", lambda visit: visit.outcome in (Outcome.ERROR, Outcome.REFUSED)),
        ("bytes", lambda visit: visit.wire_bytes),
    ):
        plain = [sum(number(visit) for visit in visits if visit.at // 60 == minute) for minute in minutes]
        assert counts[name].tolist() == plain
    kinds = derived.runs.slice("kind", 0, len(visits))
    assert counts["changes"].sum() == np.count_nonzero(kinds == ChangeKind.CHANGED)
    part = derived.minutes(minutes[2] * 60.0, minutes[5] * 60.0)
    assert part["minute"].tolist() == minutes[2:5]
    crawl.close()
