"""Which disk a partition is on."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from evercrawl.cluster.birth import ROOT, ClusterBirth, note_begun, part_directories, read_birth, write_birth
from evercrawl.cluster.disks import disk_here, disk_or_why, shared_out
from evercrawl.cluster.questions import QUESTIONS, each


def test_a_disk_has_one_id_whoever_asks_first(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: disk_here(tmp_path / "crawl", "c").id, range(8)))
    assert len(found) == 1
    assert len(list((tmp_path / "crawl").iterdir())) == 1


def test_a_machine_says_where_partitions_are(tmp_path, monkeypatch):
    monkeypatch.setenv(ROOT, str(tmp_path / "fast"))
    disk = disk_here(tmp_path / "crawl", "c")
    assert disk.part(3) == tmp_path / "fast" / "c" / "part-3"
    assert not (tmp_path / "crawl").exists()


def test_the_partitions_that_were_crawled_are_listed_in_order_whichever_reports_first(tmp_path):
    write_birth(tmp_path, ClusterBirth(1, "c", 4, "00" * 16, 0))
    for number in (2, 0, 2, 3):
        note_begun(tmp_path, number)
    assert read_birth(tmp_path).begun == [0, 2, 3]


def test_questions_go_to_the_partitions_of_this_machine_and_say_that_others_are_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv(ROOT, str(tmp_path / "fast"))
    places = [disk_here(tmp_path, "c").id, "there"]
    write_birth(tmp_path, ClusterBirth(1, "c", 2, "00" * 16, 0, places=places))
    monkeypatch.delenv(ROOT)
    assert part_directories(tmp_path)[0] == tmp_path / "part-0"
    monkeypatch.setenv(ROOT, str(tmp_path / "fast"))
    (here, _) = part_directories(tmp_path)
    assert here == tmp_path / "fast" / "c" / "part-0"
    here.mkdir()
    monkeypatch.setitem(QUESTIONS, "name", lambda part: part.name)
    found = each(tmp_path, str, "name")
    assert found.answers == {0: "part-0"}
    assert found.note == (
        "1 of 2 partitions answered (partition 1: it is on another machine, and the crawl does not run: start it, or "
        "ask there)"
    )


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot store partitions" in disk_or_why(tmp_path / "file" / "crawl", "c", 1.0)


@pytest.mark.parametrize("parts", [2, 8, 64])
def test_partitions_are_shared_out_by_cpus(parts):
    places = shared_out(parts, {"a": 8.0, "b": 4.0, "c": 4.0})
    assert [abs(places.count(disk) - parts * share) < 1 for disk, share in (("a", 0.5), ("b", 0.25), ("c", 0.25))] == [
        True
    ] * 3
