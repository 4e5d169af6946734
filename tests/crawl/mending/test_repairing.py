"""Directories damaged in every kind of file are mended, and what is lost is named; also where the repair is killed."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.cli.main import main
from evercrawl.crawl.learn.reindex import reindex
from evercrawl.errors import StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.store.archive.warc_read import walk
from evercrawl.store.backups.backup import backup
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.events import Event, Found, Visit
from evercrawl.store.journal.frame import Press
from evercrawl.store.journal.journal import Journal
from evercrawl.store.journal.segment import HEADER_BYTES, frames
from tests.helpers.hand_made import HandMade

SITE = "http://example.org"
LATER = "https://example.org/later"


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Return a crawl of three segments and a search index, ended in order; not to be written to."""
    crawl = HandMade(tmp_path_factory.mktemp("whole") / "crawl", segment_bytes=3000)
    crawl.seed(*(f"{SITE}/seed/{number}" for number in range(100)))
    crawl.save()
    crawl.fill()
    crawl.save()
    crawl.seed(LATER)
    crawl.stop()
    reindex(crawl.directory)
    (crawl.directory / "usage.jsonl").write_text('{"at": 1.0, "query": "a"}\n')
    for name in ("policy.json", "memory.json", "quarantine.json", "cookies.json"):
        (crawl.directory / name).write_text("{}")
    found = verify(crawl.directory)
    assert found.fine, found.wrong
    return crawl.directory


@pytest.fixture
def copy(whole, tmp_path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "crawl"))


def repair(directory: Path, capsys, *flags: str) -> dict:
    code = main(["verify", "--repair", "--yes", "--json", "--dir", str(directory), *flags])
    said = json.loads(capsys.readouterr().out)
    assert code == (0 if said["fine"] else 1)
    return said


def flip(path: Path, place: float) -> None:
    data = bytearray(path.read_bytes())
    first = min(int(len(data) * place), len(data) - 1)
    for at in range(first, min(first + 4, len(data))):
        data[at] ^= 0x55
    path.write_bytes(bytes(data))


def cut(path: Path, place: float) -> None:
    os.truncate(path, int(path.stat().st_size * place))


def pages(directory: Path) -> int:
    """Return how many records of answers the archive holds, by reading it from front to back."""
    disk = RealDisk(directory, read_only=True)
    names = [name for name in disk.names("archive/") if name.endswith(".warc.gz")]
    found = [one.record for name in names for one in walk(disk, name)]
    assert not any(record.damaged for record in found)
    return sum(record.kind in ("response", "revisit") for record in found)


KINDS = [
    "archive/*00000.warc.gz", "archive/*00001.warc.gz", "archive/*00000.cdxj", "archive/indexed.json", "snapshot-*",
    "blocks-*", "known.bin", "urls.log", "urls.idx", "crawl.json", "crawl-copy.json", "crawl.key", "crawl.toml",
    "policy.json", "memory.json", "quarantine.json", "cookies.json", "search/pages/meta.json", "journal-*",
]  # fmt: skip
HARM = {
    "first bits": lambda path: flip(path, 0.0),
    "bits in the middle": lambda path: flip(path, 0.5),
    "last bits": lambda path: flip(path, 0.99),
    "cut": lambda path: cut(path, 0.6),
    "gone": lambda path: path.unlink(),
}


VITAL = [(kind, harm) for kind in ("archive/*00000.warc.gz", "journal-*") for harm in HARM]
OTHERS = [(kind, harm) for kind in KINDS for harm in ("bits in the middle", "cut", "gone")]


@pytest.mark.parametrize(("kind", "harm"), sorted({*VITAL, *OTHERS}))
def test_whatever_is_damaged_is_mended_or_named_and_then_all_is_well(copy, whole, kind, harm, capsys):
    path = sorted(copy.glob(kind))[0]
    HARM[harm](path)
    before = verify(copy)
    said = repair(copy, capsys, "--cut")
    assert said["fine"], (before.wrong, said)
    assert [sentence for sentence in verify(copy).mends if not sentence.startswith("the search index")] == []
    if not before.fine:
        assert said["repair"]["done"]
    if not kind.startswith(("archive", "journal", "crawl.toml")):
        assert said["repair"]["lost"] == []
    if kind.startswith("archive/*0") and kind.endswith("gz") and not before.fine:
        assert said["repair"]["lost"]
        assert all(
            sentence.startswith(("http://", "the ")) or sentence.endswith(": no answer")
            for sentence in said["repair"]["lost"]
        )
    if not kind.startswith("journal"):  # what was acknowledged is all there, and what was intact of the archive
        assert Journal.open(RealDisk(copy, read_only=True), writable=False).sequence >= (
            Journal.open(RealDisk(whole, read_only=True), writable=False).sequence
        )
        assert pages(copy) + len(said["repair"]["lost"]) >= pages(whole)


@pytest.mark.parametrize("harm", list(HARM))
@pytest.mark.parametrize("kind", [*KINDS[:2], "journal-*"])
def test_with_a_backup_nothing_is_lost(copy, whole, tmp_path, kind, harm, capsys):
    backup(whole, tmp_path / "backup", 0.0)
    path = sorted(copy.glob(kind))[0]
    HARM[harm](path)
    said = repair(copy, capsys, "--from", str(tmp_path / "backup"))
    assert said["fine"], said
    assert said["repair"]["lost"] == []
    assert path.read_bytes() == sorted(whole.glob(kind))[0].read_bytes()


def test_settings_come_back_from_a_backup(copy, whole, tmp_path, capsys):
    backup(whole, tmp_path / "backup", 0.0)
    (copy / "crawl.toml").write_text("[pace]\ndelay_s = 'soon'\n", encoding="utf-8")
    assert repair(copy, capsys, "--from", str(tmp_path / "backup"))["fine"]
    assert (copy / "crawl.toml").read_bytes() == (whole / "crawl.toml").read_bytes()
    assert "soon" in (copy / "damaged" / "crawl.toml").read_text(encoding="utf-8")


def test_a_backup_of_another_crawl_is_refused(copy, tmp_path, capsys):
    other = HandMade(tmp_path / "other")
    other.fill()
    other.stop()
    assert main(["verify", "--repair", "--dir", str(copy), "--from", str(other.directory)]) == 2
    assert "holds another crawl" in capsys.readouterr().err
    assert main(["verify", "--repair", "--dir", str(copy), "--from", str(tmp_path / "none")]) == 2


def test_both_birth_certificates_gone_are_worked_out(copy, whole, capsys):
    for name in ("crawl.json", "crawl-copy.json"):
        (copy / name).write_text("{")
    said = repair(copy, capsys)
    assert said["fine"], said
    assert json.loads((copy / "crawl.json").read_bytes()) == json.loads((whole / "crawl.json").read_bytes())


def test_nothing_is_changed_before_somebody_agrees(copy, capsys):
    for kind in ("snapshot-*", "known.bin", "archive/*00000.warc.gz", "crawl.toml"):
        flip(sorted(copy.glob(kind))[0], 0.5)
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    assert main(["verify", "--repair", "--dir", str(copy)]) == 1
    out = capsys.readouterr().out
    assert "steps would be taken" in out
    assert "nothing was changed; give --yes" in out
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_damage_within_the_journal_is_given_up_only_when_told_and_kept(copy, whole, capsys):
    path = next(copy.glob("journal-*"))
    flip(path, 0.1)
    damaged = path.read_bytes()
    said = repair(copy, capsys)
    assert not said["fine"]
    assert "--from DIRECTORY, or give up what follows with --cut" in said["repair"]["unmendable"][0]
    assert path.read_bytes() == damaged
    said = repair(copy, capsys, "--cut")
    assert said["fine"], said
    assert "events at the end of the journal cannot be recovered" in said["repair"]["lost"][0]
    kept = {file.name.partition("-")[2]: file.read_bytes() for file in (copy / "damaged").iterdir()}
    assert damaged.endswith(kept[path.name])
    assert sum(name.endswith(".warc.gz") for name in kept) >= 1


def urls_of(directory: Path) -> set[str]:
    with contextlib.closing(opened(directory)) as one:
        return {one.state.urls.get(slot) for slot in range(one.state.known.count)}


@pytest.mark.parametrize("place", [0.1, 0.3, 0.5, 0.8])
def test_urls_that_whole_frames_behind_the_damage_made_known_stay_known(copy, whole, place, capsys):
    path = next(copy.glob("journal-*"))
    disk = RealDisk(copy, read_only=True)
    damaged = int(path.stat().st_size * place)
    spared = set[str]()
    for frame in frames(disk, 0, HEADER_BYTES):
        if not any(frame.offset <= damaged + at < frame.offset + frame.size for at in range(4)):
            events = [msgspec.msgpack.decode(data, type=Event) for data in Press().unpack(frame)]
            for event in events:
                if isinstance(event, Visit | Found) and event.found is not None:
                    spared.update(event.found.urls)
    flip(path, place)
    said = repair(copy, capsys, "--cut")
    assert said["fine"], said
    assert urls_of(copy) == spared
    assert "the URLs saved from the end of the journal are made known again" in said["repair"]["done"]
    assert not (copy / "damaged" / "urls-to-know-again.jsonl").exists()
    assert len(urls_of(whole)) > 100


def lose_journal(directory: Path, place: float, *, between_frames: bool) -> None:
    """Cut the journal, in the middle of a frame or between two; all of it at 0."""
    path = next(directory.glob("journal-*"))
    if not place:
        path.unlink()
        return
    disk = RealDisk(directory, read_only=True)
    ends = [frame.offset + frame.size for frame in frames(disk, 0, HEADER_BYTES)]
    size = int(path.stat().st_size * place)
    os.truncate(path, max((end for end in ends if end <= size), default=HEADER_BYTES) if between_frames else size)


LOSSES = [(0.0, False), (0.0001, True), (0.3, False), (0.3, True), (0.9, False), (0.9, True)]


@pytest.mark.parametrize(("place", "between_frames"), LOSSES)
def test_events_that_are_gone_are_given_up_only_when_told(copy, whole, capsys, place, between_frames):
    lose_journal(copy, place, between_frames=between_frames)
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file() and path.name != "lock"}
    with pytest.raises(StoreError, match="acknowledged events are lost"):
        HandMade(copy)
    said = repair(copy, capsys)
    assert not said["fine"]
    assert "give up what follows with --cut" in said["repair"]["unmendable"][0]
    assert {path: path.read_bytes() for path in before} == before
    said = repair(copy, capsys, "--cut")
    assert said["fine"], said
    assert "cannot be recovered" in said["repair"]["lost"][0]
    known = Journal.open(RealDisk(copy, read_only=True), writable=False).sequence
    assert ("give its seeds" in said["repair"]["lost"][0]) == (not known)


@pytest.mark.parametrize("cutting", [(), ("--cut",)])
def test_an_archive_without_a_journal_is_wrong_and_given_up_only_when_told(copy, capsys, cutting):
    """As where only the archive was copied, with the file that names the crawl."""
    for path in [*copy.glob("journal-*"), *copy.glob("snapshot-*"), *copy.glob("blocks-*")]:
        path.unlink()
    held = {file.name: file.read_bytes() for file in copy.glob("archive/*.warc.gz")}
    assert any("the journal no event" in sentence for sentence in verify(copy).wrong)
    assert repair(copy, capsys, *cutting)["fine"] == bool(cutting)
    if not cutting:
        assert {file.name: file.read_bytes() for file in copy.glob("archive/*.warc.gz")} == held
    else:
        kept = {file.name.partition("-")[2]: file.read_bytes() for file in (copy / "damaged").iterdir()}
        assert {name: kept[name] for name in held} == held


def test_a_start_without_any_event_keeps_the_archive_that_it_cuts(copy):
    for path in [*copy.glob("journal-*"), *copy.glob("snapshot-*")]:
        path.unlink()
    held = {file.name: file.read_bytes() for file in copy.glob("archive/*.warc.gz")}
    HandMade(copy).partition.close()
    kept = {file.name.partition("-")[2]: file.read_bytes() for file in (copy / "damaged").iterdir()}
    assert {name: kept[name] for name in held} == held


def test_a_repair_keeps_the_archive_of_events_that_the_journal_lost(copy, capsys):
    """Nothing names these records any more, so that they are cut off; what they hold was acknowledged once."""
    cut(next(copy.glob("journal-*")), 0.6)
    archive = {file.name: file.read_bytes() for file in copy.glob("archive/*.warc.gz")}
    assert repair(copy, capsys, "--cut")["fine"]
    kept = list((copy / "damaged").iterdir())
    assert kept
    for name, data in archive.items():
        now = copy / "archive" / name
        parts = [now.read_bytes()] if now.exists() else []
        parts += [file.read_bytes() for file in kept if file.name.endswith(name)]
        assert b"".join(parts) == data


def test_a_page_whose_newer_content_is_whole_is_kept(copy, capsys):
    """The front page was read twice; the first answer is damaged."""
    journal = Journal.open(RealDisk(copy, read_only=True), writable=False)
    visits = [event for _, _, event in journal.replay() if isinstance(event, Visit) and event.archive is not None]
    first = visits[0]
    assert [event.slot for event in visits].count(first.slot) == 2
    path = next(copy.glob(f"archive/*{first.archive[0]:05d}.warc.gz"))
    data = bytearray(path.read_bytes())
    data[first.archive[1] + 60 : first.archive[1] + 64] = b"\0\0\0\0"
    path.write_bytes(bytes(data))
    said = repair(copy, capsys)
    assert said["fine"], said
    assert [sentence.endswith("newer content of it is there") for sentence in said["repair"]["lost"]] == [True]
    assert main(["get", f"{SITE}/", "--dir", str(copy)]) == 0
    assert "Home again" in capsys.readouterr().out


def test_a_running_crawl_is_not_repaired(copy, capsys):
    from evercrawl.store.disk.lock import Lock

    lock = Lock.take(copy, "evercrawl crawl", 0.0)
    assert main(["verify", "--repair", "--dir", str(copy)]) == 3
    assert "stop it before the repair" in capsys.readouterr().err
    lock.release()


def test_the_flags_of_a_repair_want_a_repair(copy, capsys):
    assert main(["verify", "--cut", "--dir", str(copy)]) == 2
    assert "belong to --repair" in capsys.readouterr().err


KILLED_ANYWHERE = """
import contextlib, io, json, os, shutil, signal, sys
from pathlib import Path
from evercrawl.cli.main import main

REPAIR = ["verify", "--repair", "--yes", "--cut", "--json"]
DEADLY = ("pwrite", "ftruncate", "fsync", "fdatasync", "unlink", "rename", "replace")

def deadly(sound, left):
    def call(*arguments, **named):
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return sound(*arguments, **named)
    return call

def repaired(directory, calls):
    child = os.fork()  # of a process without threads
    if child == 0:
        left = iter(range(calls))
        for name in DEADLY:
            setattr(os, name, deadly(getattr(os, name), left))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os._exit(main([*REPAIR, "--dir", str(directory)]))
    return os.waitpid(child, 0)[1]

whole, folder = Path(sys.argv[1]), Path(sys.argv[2])
calls, ended = 0, []

def damaged(name):
    directory = Path(shutil.copytree(whole, folder / name))
    for kind in sys.argv[3:]:
        path = sorted(directory.glob(kind))[0]
        data = bytearray(path.read_bytes())
        place = int(len(data) * 0.4)
        data[place : place + 4] = bytes(byte ^ 0x55 for byte in data[place : place + 4])
        path.write_bytes(bytes(data))
    return directory

with contextlib.redirect_stdout(io.StringIO()):  # whoever is started from here has all modules
    main([*REPAIR, "--dir", str(damaged("first"))])
while True:
    directory = damaged(str(calls))
    status = repaired(directory, calls)
    if not os.WIFSIGNALED(status):
        break
    ended.append([calls, repaired(directory, 1 << 30)])
    calls += 1 if calls < 3 else 8
print(json.dumps(ended))
"""


@pytest.mark.parametrize("kinds", [["archive/*00000.warc.gz", "known.bin", "crawl.toml"], ["journal-*", "snapshot-*"]])
def test_a_repair_that_is_killed_anywhere_is_finished_by_the_next(whole, tmp_path, kinds):
    asked = [sys.executable, "-c", KILLED_ANYWHERE, str(whole), str(tmp_path), *kinds]
    ran = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=300)
    ended = json.loads(ran.stdout)
    assert len(ended) > 6
    assert [code for _, code in ended] == [0] * len(ended), ran.stderr


@pytest.mark.parametrize("place", [0.02, 0.2, 0.5, 0.8])
def test_a_damaged_column_of_the_search_index_is_told_and_the_index_made_anew(copy, place, capsys):
    [path] = (copy / "search" / "pages").glob("*.fast")
    flip(path, place)
    before = verify(copy)
    assert not before.fine or before.mends
    assert repair(copy, capsys)["fine"]
    assert verify(copy).mends == []
