"""A crawl on machines that are folders."""

import pytest

from evercrawl.cluster import coordinator
from evercrawl.cluster.birth import ClusterBirth, write_birth
from evercrawl.cluster.hauling import haul_process, lending
from tests.cluster.folder_machines import FolderMachines
from tests.cluster.hauling.moved_partitions import visit


@pytest.fixture(autouse=True)
def _quick(monkeypatch) -> None:
    monkeypatch.setattr(haul_process, "LOOK_S", 0.005)
    monkeypatch.setattr(haul_process, "END_S", 0.5)
    monkeypatch.setattr(lending, "LOOK_S", 0.005)
    monkeypatch.setattr(coordinator, "TURN_S", 0.02)
    monkeypatch.setattr(coordinator, "END_S", 0.1)
    monkeypatch.setattr(coordinator, "LAST_WORDS_S", 0.05)


@pytest.fixture
def wide(tmp_path):
    """Return a crawl of two partitions on two machines, of which the first has been crawled, and a third machine."""
    directory = tmp_path / "wide"
    directory.mkdir()
    birth = ClusterBirth(1, "c", 2, "00" * 16, 0, lives=8, begun=[0, 1], places=["", ""])
    machines = FolderMachines(tmp_path, birth, "abc")
    by_name = {disk.root.name: disk.id for disk in machines.there.values()}
    birth.places[:] = [by_name["a"], by_name["b"]]
    write_birth(directory, birth)
    (tmp_path / "a" / "part-0").mkdir()
    visit(tmp_path / "a" / "part-0")
    return directory, machines
