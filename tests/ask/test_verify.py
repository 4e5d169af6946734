"""Whether damage is found, and only damage."""

import os
import shutil
from pathlib import Path

import msgspec
import pytest

from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.verify import verify
from evercrawl.store.cash import transfers
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.events import JOINS, Discovery, Lost, Visit
from evercrawl.store.journal.journal import Journal

SITE = "http://example.org"


def flip(path: Path, offset: int) -> None:
    """Damage four bytes, for a single one may mean nothing: deflate has a bit or two to spare."""
    data = bytearray(path.read_bytes())
    for at in range(offset, min(offset + 4, len(data))):
        data[at] ^= 0x40
    path.write_bytes(bytes(data))


def only(directory: Path, pattern: str) -> Path:
    (path,) = directory.glob(pattern)
    return path


def wrong(directory: Path) -> str:
    found = verify(directory)
    assert not found.fine, "nothing was found"
    return "\n".join(found.wrong)


def test_a_crawl_that_was_ended_in_order_is_fine(filled):
    found = verify(filled.directory)
    assert found.wrong == []
    assert found.mends == []
    assert found.checked["visits"] == 12
    assert found.checked["known URLs"] == found.checked["URL texts"] == 11
    assert found.checked["archive records"] == 1 + 10 * 2  # two visits without an answer
    assert found.checked["contents"] == 5
    assert found.checked["index lines"] == 9  # a 304 is not indexed


def test_several_segments_are_fine(tmp_path, made):
    crawl = type(made)(tmp_path / "small", segment_bytes=2000)
    crawl.fill()
    crawl.stop()
    found = verify(crawl.directory)
    assert found.wrong == []
    assert found.checked["archive segments"] > 2


def test_a_crawl_that_goes_on_is_fine(filled):
    crawl = type(filled)(filled.directory)
    crawl.now = filled.now
    crawl.visit(f"{SITE}/later", crawl.page("Later", "/even-later"))
    crawl.stop()
    assert verify(crawl.directory).wrong == []


def test_a_running_crawl_is_fine_whatever_is_on_its_way(made):
    made.fill()
    made.snapshot()
    made.visit(f"{SITE}/later", made.page("Later"))
    made.save()
    made.visit(f"{SITE}/later", made.page("Later still"))
    made.partition.archive.sync()
    found = verify(made.directory)
    assert found.wrong == []
    assert found.checked["visits"] == 13


def test_what_a_kill_leaves_is_to_be_mended_and_not_wrong(made):
    made.fill()
    made.save()
    made.visit(f"{SITE}/later", made.page("Later"))
    made.partition.archive.sync()
    made.partition.close()
    with only(made.directory, "journal-*").open("ab") as journal:
        journal.write(b"torn")
    found = verify(made.directory)
    assert found.wrong == []
    told = "\n".join(found.mends)
    assert "4 bytes of an interrupted write" in told
    assert f"{SITE}/later" in told
    crawl = type(made)(made.directory)
    crawl.stop()
    assert (verify(made.directory).wrong, verify(made.directory).mends) == ([], [])


def test_what_a_kill_leaves_soon_after_a_clean_end_and_a_new_start_is_to_be_mended(made):
    """The newest snapshot is of all events that were acknowledged, but the run that was killed wrote none."""
    made.fill()
    made.stop()
    os.utime(only(made.directory, "snapshot-*"), (made.now - 100_000, made.now - 100_000))
    crawl = type(made)(made.directory)
    crawl.visit(f"{SITE}/later", crawl.page("Later"))
    crawl.partition.archive.sync()
    crawl.partition.close()
    with only(made.directory, "journal-*").open("ab") as journal:
        journal.write(b"torn")
    found = verify(made.directory)
    assert found.wrong == []
    assert "4 bytes of an interrupted write" in "\n".join(found.mends)


def test_an_index_that_was_written_when_the_kill_came_is_fine(made):
    """It names more than it is said to; the next run completes it anyway."""
    made.fill()
    made.stop()
    said = (made.directory / "archive" / "indexed.json").read_bytes()
    crawl = type(made)(made.directory)
    crawl.now = made.now
    crawl.visit(f"{SITE}/later", crawl.page("Later"))
    crawl.save()
    crawl.partition.index_archive()
    crawl.partition.close()
    (made.directory / "archive" / "indexed.json").write_bytes(said)
    found = verify(made.directory)
    assert found.wrong == []
    assert "1 CDXJ indexes are behind" in "\n".join(found.mends)


@pytest.mark.parametrize("place", [0.01, 0.3, 0.6, 0.99])
@pytest.mark.parametrize(
    "pattern", ["archive/*.warc.gz", "archive/*.cdxj", "journal-*", "known.bin", "snapshot-*", "archive/indexed.json"]
)
def test_a_flipped_bit_is_found_and_its_file_named(filled, pattern, place):
    path = only(filled.directory, pattern)
    flip(path, int(path.stat().st_size * place))
    assert path.name in wrong(filled.directory)


@pytest.mark.parametrize("name", ["urls.log", "urls.idx"])
def test_a_flipped_bit_in_the_url_log_is_found(made, name):
    made.seed(*(f"{SITE}/{i}" for i in range(100)))
    made.fill()
    made.stop()
    flip(made.directory / name, 20)
    assert "urls." in wrong(made.directory)


@pytest.mark.parametrize("pattern", ["archive/*.warc.gz", "journal-*", "known.bin", "snapshot-*"])
def test_a_file_cut_short_is_found(filled, pattern):
    path = only(filled.directory, pattern)
    os.truncate(path, path.stat().st_size - 30)
    assert path.name in wrong(filled.directory)


@pytest.mark.parametrize("pattern", ["archive/*.warc.gz", "archive/*.cdxj"])
def test_a_file_that_is_gone_is_found(filled, pattern):
    path = only(filled.directory, pattern)
    path.unlink()
    assert path.name in wrong(filled.directory)


def test_a_record_that_no_event_names_is_found(filled):
    path = only(filled.directory, "archive/*.warc.gz")
    path.write_bytes(path.read_bytes() * 2)
    assert "no journal event names the record of" in wrong(filled.directory)


def test_a_segment_of_another_crawl_is_found(filled):
    path = only(filled.directory, "archive/*.warc.gz")
    shutil.copy(path, path.with_name("evercrawl-00000000-00007.warc.gz"))
    assert "is not a segment of this crawl" in wrong(filled.directory)


def test_settings_that_cannot_be_read_are_found(filled):
    (filled.directory / "crawl.toml").write_text("[pace]\ndelay_s = 'soon'\n", encoding="utf-8")
    assert "crawl.toml" in wrong(filled.directory)


def test_a_journal_that_is_gone_is_found(filled):
    only(filled.directory, "journal-*").unlink()
    assert "journal-0000000000000000.log: acknowledged events are missing at its end" in wrong(filled.directory)


def test_a_damaged_birth_certificate_is_found(filled):
    (filled.directory / "crawl.json").write_text("{", encoding="utf-8")
    assert "crawl.json" in wrong(filled.directory)


def test_a_format_that_is_newer_is_found(filled):
    path = filled.directory / "crawl.json"
    path.write_bytes(msgspec.json.encode(msgspec.json.decode(path.read_bytes()) | {"format": 99}))
    assert "newer evercrawl (format 99" in wrong(filled.directory)


def test_a_snapshot_that_tells_another_story_is_found(made):
    made.fill()
    made.state.records.rows["digest"][0] ^= 1
    made.state.table.cash[3] += 0.5
    made.state.table.cash[4] -= 0.5
    made.state.accounts.sites["members"][0] += 1
    made.state.wire_bytes += 1
    made.stop()
    told = wrong(made.directory)
    for what in ("digest of row 0", "cash: slot 3", "2 slots differ", "members of site 0", "bytes received"):
        assert what in told


def test_a_snapshot_whose_cash_does_not_add_up_is_not_used(made):
    made.fill()
    made.state.cashbook.audit_some = lambda: True
    made.state.table.cash[3] += 1e-5
    made.stop()
    assert "the cash of snapshot snapshot-" in wrong(made.directory)
    assert "does not add up; rebuilt from the journal" in wrong(made.directory)


def test_cash_is_off_by_no_more_than_rounding(filled):
    found = verify(filled.directory)
    assert found.checked["pages with cash"] > 5
    assert found.checked["sites"] == 1
    assert found.measured["cash in all"] < 1e-12
    assert 0.0 < found.measured["cash of a page"] < 1e-7


@pytest.mark.parametrize(
    ("place", "factor", "what"),
    [(2, 1.001, "but its in-links bring"), (0, 1.001, "but its in-links bring"), (3, 0.0, "but its in-links bring")],
)
def test_a_visit_that_moved_something_else_is_found(made, place, factor, what):
    """Too much moved, too much history, or a payment that went nowhere: in all, cash is as it was."""
    made.fill()
    visits = [event for _, _, event in made.partition.journal.replay() if isinstance(event, Visit)]
    moved = list(transfers.unpack(visits[-1].transfer))
    moved[place] *= factor
    retell(made, {"transfer": transfers.pack(transfers.Moved(*moved))})
    told = "\n".join(verify(made.directory).wrong)
    assert what in told
    assert "the total is off by" not in told


def test_a_member_that_no_page_claims_to_be_is_found(made):
    made.fill()
    made.visit(f"{SITE}/later", made.page("Later"))
    visits = [event for _, _, event in made.partition.journal.replay() if isinstance(event, Visit)]
    retell(made, {"flags": visits[-1].flags & ~JOINS})
    assert "site example.org has 4 members, but 5 pages are marked so" in "\n".join(verify(made.directory).wrong)


def retell(made, change: dict[str, object]) -> None:
    """Write the journal of an unstopped crawl anew, its last visit changed."""
    made.save()
    made.partition.close()
    disk = RealDisk(made.directory)
    events = [event for _, _, event in Journal.open(disk, writable=False).replay()]
    only(made.directory, "journal-*").unlink()
    journal = Journal.open(RealDisk(made.directory))
    for event in [*events[:-1], msgspec.structs.replace(events[-1], **change)]:
        journal.append(event)
    journal.write(journal.seal())


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"visits": 7}, "it is visit 7 of its page, but the next number is 2"),
        ({"changes": 7}, "it counts 7 changes of its page, but there were 1"),
        ({"slot": 99}, "it names slot 99 of 11"),
        ({"host": 5}, "on host 5, not 0"),
        ({"outcome": 77}, "77 is not an outcome"),
        ({"alias": 50}, "leads to a slot beyond 11"),
        ({"at": 1_700_000_999.0}, "is of http://example.org/ at 2023-11-14T22:15:20"),
        ({"archive": (0, 12, 300)}, "names byte 12, which is inside or before an earlier record"),
        ({"archive": None}, "no journal event names the record of"),
        ({"digest": 1}, "does not have the content that the journal describes"),
        ({"found": Discovery(12, [f"{SITE}/new"], [0], 1, [])}, "the journal leaves out a URL"),
        ({"found": Discovery(11, [f"{SITE}/a"], [0], 1, [])}, "the journal names a URL twice"),
        ({"found": Discovery(11, [f"{SITE}/new"], [3], 1, [])}, "names a host that no event introduced"),
    ],
)
def test_an_event_that_does_not_follow_is_found(made, change, what):
    made.fill()
    retell(made, change)
    found = verify(made.directory)
    assert what in "\n".join(found.wrong + found.mends)


def test_a_record_given_up_is_not_missed(made):
    made.fill()
    made.save()
    visits = [event for _, _, event in made.partition.journal.replay() if isinstance(event, Visit) and event.archive]
    victim = visits[-1]
    path = only(made.directory, "archive/*.warc.gz")
    made.partition.close()
    os.truncate(path, victim.archive[1] + 10)
    assert path.name in wrong(made.directory)
    crawl = type(made)(made.directory)
    assert any(isinstance(event, Lost) for _, _, event in crawl.partition.journal.replay())
    crawl.now = made.now
    crawl.visit(f"{SITE}/", crawl.page("Home once more"), squeeze=True)
    crawl.stop()
    assert verify(made.directory).wrong == []


def test_sentences_of_one_kind_are_capped():
    found = Findings()
    for number in range(300):
        found.blame(f"x {number}", "x")
    assert (len(found.wrong), found.unsaid["x"]) == (200, 100)
