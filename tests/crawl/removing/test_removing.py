"""Old versions that leave, damage that is repaired, and pages that are forgotten, in any order: all stays readable."""

import contextlib
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config
from evercrawl.crawl.mending import repairing
from evercrawl.crawl.removing.forgetting import forget
from evercrawl.crawl.removing.keeping import keep_less
from evercrawl.store import keeping
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.archive.warc_read import walk
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.events import Lost
from evercrawl.store.partition import Partition
from evercrawl.store.requisites.losing import gone_records, record_of
from tests.helpers.hand_made import SITE, HandMade

NAMES = "abc"
KEPT = Config(keep_versions=1)


class KilledError(Exception):
    """The process ends here."""


@pytest.fixture(scope="module")
def versions(tmp_path_factory) -> Path:
    """Return a crawl in two segments of three pages with three versions each, ended in order; not to be written to."""
    made = HandMade(tmp_path_factory.mktemp("versions") / "crawl", segment_bytes=9000)
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", *(f"/{name}" for name in NAMES)))
    revise(made, *NAMES, *NAMES, *NAMES)
    made.stop()
    return made.directory


def revise(made: HandMade, *names: str) -> None:
    for name in names:
        made.visit(f"{SITE}/{name}", made.page(f"page-{name}", text=f"{name} {os.urandom(400).hex()}"))


@pytest.fixture
def copy(versions, tmp_path) -> Path:
    return Path(shutil.copytree(versions, tmp_path / "crawl"))


def crawled(directory: Path, *names: str) -> None:
    """Have pages visited once more, as by a run that then ends in order."""
    made = HandMade(directory, segment_bytes=9000)
    made.now = max(made.now, made.state.last_at())
    revise(made, *names)
    made.stop()


def repaired(directory: Path) -> None:
    for _ in range(4):  # as often as a person would who is told that there is more
        found = verify(directory)
        for step in repairing.plan(directory, found.damage, found.mends, cut=True).steps:
            step.act()
        if verify(directory).fine:
            return


def segment(directory: Path, number: int) -> Path:
    return sorted(directory.glob("archive/*.warc.gz"))[number]


def truncated(directory: Path, share: float) -> None:
    file = segment(directory, -1)
    os.truncate(file, int(file.stat().st_size * share))
    repaired(directory)


def flipped(directory: Path, share: float) -> None:
    file = segment(directory, 0)
    data = bytearray(file.read_bytes())
    at = int(len(data) * share)
    data[at : at + 4] = bytes(byte ^ 0x55 for byte in data[at : at + 4])
    file.write_bytes(data)
    repaired(directory)


def assert_sound(directory: Path, forgotten: set[str]) -> None:
    """Every reader gets through the archive, every record that should be there is, and nothing of what is forgotten."""
    found = verify(directory)
    assert found.fine, found.wrong
    disk = RealDisk(directory, read_only=True)
    for file in directory.glob("archive/*.warc.gz"):
        name, records = str(file.relative_to(directory)), list(walk(disk, str(file.relative_to(directory))))
        assert sum(one.length for one in records) == disk.size(name)
        assert not {one.record.url for one in records} & {f"{SITE}/{each}" for each in forgotten}
        for each in forgotten:
            assert not any(f"page-{each}".encode() in one.record.block for one in records)
    disk.close()
    with contextlib.closing(Partition(directory, os.urandom, now=0.0, writable=False)) as crawl:
        gone = gone_records(crawl.journal.replay())
        for _, number, event in crawl.journal.replay():
            where = record_of(event)
            if where is not None and gone.get(where, -1) < number:
                assert crawl.archive.whole(where)


STEPS = st.one_of(
    st.tuples(st.just("keep"), st.integers(1, 2)),
    st.tuples(st.just("truncate"), st.floats(0.05, 0.95)),
    st.tuples(st.just("flip"), st.floats(0.05, 0.95)),
    st.tuples(st.just("crawl"), st.sampled_from(NAMES)),
    st.tuples(st.just("forget"), st.sampled_from(NAMES)),
)


@settings(max_examples=8)
@given(st.lists(STEPS, min_size=2, max_size=5))
@example([("keep", 1), ("forget", "a")])
@example([("truncate", 0.4), ("crawl", "b"), ("forget", "a"), ("keep", 1)])
@example([("flip", 0.3), ("forget", "b"), ("forget", "c")])
def test_in_whatever_order_nothing_is_damaged_and_a_takedown_is_carried_out(versions, tmp_path_factory, steps):
    directory = Path(shutil.copytree(versions, tmp_path_factory.mktemp("orders") / "crawl"))
    forgotten = set[str]()
    for what, how in steps:
        match what:
            case "keep":
                keep_less(directory, Config(keep_versions=how), 1.8e9)
            case "truncate":
                truncated(directory, how)
            case "flip":
                flipped(directory, how)
            case "crawl" if how not in forgotten:
                crawled(directory, how)
            case "forget":
                forget(directory, [f"{SITE}/{how}"])
                forgotten.add(how)
        assert_sound(directory, forgotten)
    shutil.rmtree(directory)


def interrupted(directory: Path, monkeypatch) -> None:
    """Have old versions removed, and be killed when the journal says that they are gone and none was overwritten."""

    def killed(*_: object, **__: object) -> None:
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(keeping, "overwrite", killed)
        with pytest.raises(KilledError):
            keep_less(directory, KEPT, 1.8e9)
    assert (directory / keeping.PLAN).exists()


def test_what_was_to_go_has_gone_before_anything_is_forgotten(copy, monkeypatch):
    interrupted(copy, monkeypatch)
    forget(copy, [f"{SITE}/a"])
    assert not (copy / keeping.PLAN).exists()
    assert_sound(copy, {"a"})
    keep_less(copy, KEPT, 1.8e9)
    assert_sound(copy, {"a"})


def test_what_was_to_go_has_gone_before_others_are_written_in_its_place(copy, monkeypatch):
    interrupted(copy, monkeypatch)
    os.truncate(segment(copy, -1), 2000)
    crawled(copy, *NAMES)
    assert_sound(copy, set())
    keep_less(copy, KEPT, 1.8e9)
    assert_sound(copy, set())


def test_a_record_in_the_place_of_one_that_was_given_up_counts_as_there():
    where, other = Pointer(0, 100, 50), Pointer(0, 150, 50)
    events = [Lost(0, 0, 1.0, where, ""), Lost(0, 0, 2.0, other, ""), Lost(0, 0, 3.0, where, "")]
    gone = gone_records((0, number, event) for number, event in zip((4, 5, 9), events, strict=True))
    assert gone == {where: 9, other: 5}  # the record that event 10 names is another than the one that event 9 gave up
