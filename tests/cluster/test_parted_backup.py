"""`evercrawl backup` of a crawl in partitions: copies that were made at different times fit together."""

import contextlib
import json
import shutil
import signal
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from evercrawl.ask.verify.together import Together, together
from evercrawl.cli.main import main
from evercrawl.cluster import parted_backup
from evercrawl.cluster.birth import ClusterBirth, part_directories, read_birth, write_birth
from evercrawl.cluster.parted_backup import backup_parted
from evercrawl.errors import ConfigError, EvercrawlError, StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.simulate.parted.reached import reached
from evercrawl.store.backups.backup import backup, catch_up
from evercrawl.store.birth import UNFINISHED
from evercrawl.store.disk.crawl_files import CrawlFilesHere
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.stamped import SNAPSHOT, stamped
from evercrawl.store.journal.journal import Journal
from evercrawl.store.journal.segment import segments
from evercrawl.store.post.cut import JournalCut
from tests.cluster.conftest import ServedNames
from tests.cluster.folder_machines import FolderMachines
from tests.cluster.hauling.lending_line import LendingLine


def read(directory: Path) -> Together:
    partitions = [opened(part) for part in part_directories(directory)]
    try:
        return together(partitions)
    finally:
        for partition in partitions:
            partition.close()


def caught_up(part: Path, copy: Path) -> int | None:
    with contextlib.closing(CrawlFilesHere(part)) as files:
        return catch_up(files, str(part), copy, 2.0)


def fine(directory: Path, capsys) -> list[dict]:
    capsys.readouterr()
    code = main(["verify", "--dir", str(directory), "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert code == 0, [row for row in rows if not row.get("fine", True)]
    assert [row["of"] for row in rows] == ["part-0", "part-1", "between partitions"]
    return rows


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A crawl in two partitions that is over, and as it was when it had been stopped after a few pages."""
    folder = tmp_path_factory.mktemp("kept")
    served = ServedNames(folder, sites=24, pages=4, addresses=3)
    try:
        for more in (["--partitions", "2", "--pages", "30"], ["--until-idle"]):
            crawl = served.start("--quiet", *more, seed="--pages" in more)
            out, err = crawl.communicate(timeout=300)
            assert crawl.returncode == 0, out + err
            if "--pages" in more:
                shutil.copytree(served.directory, folder / "earlier")
    finally:
        served.close()
    return folder


@pytest.fixture
def wide(kept, tmp_path) -> Path:
    return Path(shutil.copytree(kept / "crawl", tmp_path / "wide"))


def test_a_running_crawl_is_backed_up_and_goes_on_from_each_backup(served, capsys):
    """Letters are written and applied all the time; each backup is read with all partitions together."""
    crawl, copy, made = served.start("--partitions", "2", "--quiet"), served.folder / "copy", 0
    until = time.monotonic() + 240
    while made < 3:
        assert crawl.poll() is None, crawl.communicate()
        assert time.monotonic() < until
        if len(served.server.asked) < 20 * (made + 1):
            time.sleep(0.05)
            continue
        assert main(["backup", str(copy), "--dir", str(served.directory), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["partitions"], told["target"]) == (2, str(copy))
        rows = fine(copy, capsys)
        made += rows[-1]["checked"]["letters"] > 0
    crawl.send_signal(signal.SIGTERM)
    out, err = crawl.communicate(timeout=100)
    assert crawl.returncode == 0, out + err
    served.directory = copy
    again = served.start("--until-idle", "--quiet", seed=False)
    out, err = again.communicate(timeout=200)
    assert again.returncode == 0, out + err
    found = served.read()
    assert found.wrong == []
    assert reached(served.server.web, served.server.seed) == set(found.visited)


def test_partitions_of_different_times_do_not_fit_together_and_their_backup_does(kept, wide, tmp_path, capsys):
    """It is as if the first was copied before the letters to the second were sent, and that after it received them."""
    shutil.rmtree(wide / "part-0")
    shutil.copytree(kept / "earlier" / "part-0", wide / "part-0")
    torn = read(wide)
    assert any("never sent" in sentence for sentence in torn.wrong)
    made = backup_parted(wide, tmp_path / "copy", time.time())
    assert made.left_out > 0
    assert read(tmp_path / "copy").wrong == []
    rows = fine(tmp_path / "copy", capsys)
    assert rows[-1]["checked"]["letters"] > 0
    assert sum(row["checked"]["events"] for row in rows[:2]) == made.events


def test_cash_for_a_url_that_no_partition_knows_is_told(wide):
    partitions = [opened(part) for part in part_directories(wide)]
    post = partitions[0].state.post
    assert post is not None
    post.waiting[12_345] = 0.25
    found = together(partitions)
    for partition in partitions:
        partition.close()
    assert "partition 0 holds 0.25 of cash for a URL that no partition knows" in found.wrong


def test_partitions_of_other_machines_are_fitted_too(kept, wide, tmp_path, capsys):
    """As above; the partitions are on machines that are folders, and the letters of one are received by the other."""
    (tmp_path / "machines").mkdir()
    machines = FolderMachines(tmp_path / "machines", read_birth(wide), "ab")
    machines.birth.places[:] = list(machines.there)
    write_birth(wide, machines.birth)
    for number, source in enumerate((kept / "earlier", wide)):
        shutil.copytree(source / f"part-{number}", machines.directory(number))
    shutil.rmtree(wide / "part-0")
    shutil.rmtree(wide / "part-1")
    with LendingLine(wide, machines):
        made = backup_parted(wide, tmp_path / "copy", time.time())
    assert (made.partitions, made.left_out > 0) == (2, True)
    assert fine(tmp_path / "copy", capsys)[-1]["checked"]["letters"] > 0


def test_a_journal_cut_off_where_a_run_had_ended_is_followed_by_no_records(kept, wide, tmp_path, monkeypatch, capsys):
    """The archive has records of the next run, which the next start cuts off: nothing is wrong about them."""
    ends = list[JournalCut]()
    for part in ("part-0", "part-1"):
        with contextlib.closing(RealDisk(kept / "earlier" / part, read_only=True)) as disk:
            ends.append(JournalCut(segments(disk)[-1].end, Journal.open(disk, writable=False).sequence))
    assert all((wide / f"part-{part}" / stamped(SNAPSHOT, end.sequence)).is_file() for part, end in enumerate(ends))
    monkeypatch.setattr(parted_backup, "consistent", lambda accounts: ends)
    made = backup_parted(wide, tmp_path / "copy", time.time())
    assert (made.events, made.left_out > 0) == (sum(end.sequence for end in ends), True)
    fine(tmp_path / "copy", capsys)


def test_a_partition_that_begins_during_the_backup_is_not_said_to_be_in_it(wide, tmp_path, monkeypatch, capsys):
    shutil.move(wide / "part-1", tmp_path / "part-1")
    birth = json.loads((wide / "cluster.json").read_text())
    (wide / "cluster.json").write_text(json.dumps(birth | {"begun": [0]}))
    fitted = parted_backup.consistent

    def begins(accounts: Any) -> Any:
        shutil.move(tmp_path / "part-1", wide / "part-1")
        (wide / "cluster.json").write_text(json.dumps(birth | {"begun": [0, 1]}))
        return fitted(accounts)

    with monkeypatch.context() as patched:
        patched.setattr(parted_backup, "consistent", begins)
        assert backup_parted(wide, tmp_path / "copy", time.time()).partitions == 1
    assert read_birth(tmp_path / "copy").begun == [0]
    assert backup_parted(wide, tmp_path / "copy", time.time()).partitions == 2
    assert read_birth(tmp_path / "copy").begun == [0, 1]
    fine(tmp_path / "copy", capsys)


def test_a_later_backup_copies_only_what_is_new(wide, tmp_path, capsys):
    copy = tmp_path / "copy"
    first = backup_parted(wide, copy, time.time())
    again = backup_parted(wide, copy, time.time())
    assert again.copied_bytes < first.copied_bytes / 10
    assert again.events == first.events
    assert fine(copy, capsys)
    birth, here = read_birth(wide), read_birth(copy)
    assert (here.id, here.lives, here.secret, here.begun) == (birth.id, birth.lives, birth.secret, birth.begun)
    for name in ("cluster.json", "crawl.toml"):
        assert stat.S_IMODE((copy / name).stat().st_mode) == 0o600
    assert (copy / "crawl.toml").read_bytes() == (wide / "crawl.toml").read_bytes()


def test_an_interrupted_backup_is_refused_until_it_is_finished(wide, tmp_path, monkeypatch, capsys):
    copy = tmp_path / "copy"
    for _ in range(2):  # the first one, and a later one
        with monkeypatch.context() as patched:
            patched.setattr(parted_backup, "catch_up", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            assert main(["backup", str(copy), "--dir", str(wide)]) == 130
        capsys.readouterr()
        for asked in (["status"], ["verify"], ["crawl", "--seconds", "0", "--quiet"], ["pause"]):
            assert main([*asked, "--dir", str(copy)]) == 3
            assert f"finish it with: evercrawl backup {copy}" in capsys.readouterr().err
        assert main(["backup", str(tmp_path / "other"), "--dir", str(copy)]) == 3
        capsys.readouterr()
        assert main(["backup", str(copy), "--dir", str(wide)]) == 0
        assert not (copy / UNFINISHED).exists()
        fine(copy, capsys)


def test_what_is_forgotten_meanwhile_is_not_left_in_the_backup(wide, tmp_path, monkeypatch, capsys):
    copy, times = tmp_path / "copy", list[int]()
    page = next(
        url for url, parts in read(wide).visited.items() if 0 in parts and url[-4:-1] == "/p/" and url[-1] != "1"
    )
    backup(wide / "part-0", tmp_path / "one", 1.0)
    assert caught_up(wide / "part-0", tmp_path / "one") == 0

    def followed(*given: Any) -> int | None:
        times.append(len(times))
        if len(times) == 1:
            assert main(["forget", page, "--yes", "--dir", str(wide)]) == 0
        return catch_up(*given)

    monkeypatch.setattr(parted_backup, "catch_up", followed)
    backup_parted(wide, copy, time.time())
    assert len(times) == 3  # once in vain, and again for both
    assert caught_up(wide / "part-0", tmp_path / "one") is None
    fine(copy, capsys)
    assert page not in read(copy).visited
    for path in copy.rglob("*"):
        assert not path.is_file() or page.encode() not in path.read_bytes()


def test_a_moved_partition_is_in_the_backup_which_needs_no_other_directory(wide, tmp_path, capsys):
    assert main(["move", "1", str(tmp_path / "moved"), "--dir", str(wide)]) == 0
    backup_parted(wide, tmp_path / "copy", time.time())
    shutil.rmtree(tmp_path / "moved")
    shutil.rmtree(wide)
    fine(tmp_path / "copy", capsys)
    assert read_birth(tmp_path / "copy").homes == {}


def test_a_crawl_that_has_gone_on_is_no_place_for_its_backup(kept, wide, tmp_path, capsys):
    backup_parted(kept / "earlier", tmp_path / "copy", time.time())
    before = {path: path.read_bytes() for path in wide.rglob("*") if path.is_file() and path.name != "lock"}
    assert main(["backup", str(wide), "--dir", str(tmp_path / "copy")]) == 2
    assert "has gone on itself" in capsys.readouterr().err
    with Lock.take(wide, "evercrawl crawl", time.time()):
        assert main(["backup", str(wide), "--dir", str(kept / "crawl")]) == 3
    assert "is in use by process" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in wide.rglob("*") if path.is_file() and path.name != "lock"} == before
    assert main(["backup", str(tmp_path / "copy"), "--dir", str(wide)]) == 0  # the other way round


def test_what_cannot_be_backed_up_and_where_it_cannot_be_is_said(wide, tmp_path):
    def refused(target: Path, why: str, error: type[EvercrawlError] = ConfigError) -> None:
        with pytest.raises(error, match=why):
            backup_parted(wide, target, time.time())

    refused(wide / "copy", "in the crawl itself")
    refused(wide / "part-1", "in the crawl itself")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("")
    refused(tmp_path / "full", "not empty")
    (tmp_path / "other").mkdir()
    birth = read_birth(wide)
    write_birth(tmp_path / "other", ClusterBirth(1, "other", 2, "00" * 16, birth.site_rules))
    refused(tmp_path / "other", "another crawl")
    (wide / "part-1").rename(tmp_path / "away")
    refused(tmp_path / "copy", "is its disk mounted")
    afar = ClusterBirth(1, birth.id, 2, birth.secret, birth.site_rules, places=["a", "b"], begun=[0, 1])
    write_birth(wide, afar)
    refused(tmp_path / "copy", r"partition 0 is on the disk a, .*; start the crawl .*and give the same", StoreError)
    assert not (tmp_path / "copy").exists()
