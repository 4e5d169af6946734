"""Machines of a Ray that come and go while something is begun on them; a played Ray has them, and begins nothing."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evercrawl.cluster import on_ray
from evercrawl.cluster.birth import ROOT, ClusterBirth, write_birth
from evercrawl.cluster.copies.node_copies import NodeCopies
from evercrawl.cluster.disks import PartDisk, disk_here
from evercrawl.cluster.on_ray import RayLauncher
from evercrawl.cluster.plan import PartPlan
from evercrawl.config import Config
from evercrawl.errors import ConfigError


class PlayedRay:
    """What a launcher asks of Ray."""

    exceptions = SimpleNamespace(RayError=RuntimeError)
    util = SimpleNamespace(get_node_ip_address=lambda: "127.0.0.1")

    def __init__(self, folder: Path) -> None:
        self.folder, self.there = folder, set[str]()

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": n, "Alive": True, "NodeManagerAddress": n, "Resources": {}} for n in sorted(self.there)]

    def remote(self, **_: object) -> Any:
        return lambda _: _Asked()

    def wait(self, answers: list[str], timeout: float) -> tuple[list[str], list[str]]:
        return answers, []

    def get(self, node: str) -> PartDisk:
        return PartDisk(f"disk of {node}", self.folder / node)


@pytest.fixture
def ray(tmp_path, monkeypatch):
    there = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node_id, soft: node_id)
    monkeypatch.setattr(on_ray, "import_module", lambda name: there)
    monkeypatch.setattr(on_ray, "LOOK_S", 0.0)
    return PlayedRay(tmp_path)


class _Asked:
    """A function that runs on a machine, and answers with that."""

    def options(self, scheduling_strategy: str) -> "_Asked":
        self.node = scheduling_strategy
        return self

    def remote(self, *_: object) -> str:
        return self.node


def test_a_machine_that_vanishes_while_something_is_begun_there_is_missed_at_the_next_look(ray, tmp_path):
    """What was seen at one look fits together, and what is begun where nobody is ends."""
    ray.there = {"a", "b"}
    birth = ClusterBirth(1, "c", 2, "00" * 16, 0, places=["disk of a", "disk of b"], keepers={0: "disk of b"})

    async def run() -> None:
        launcher = RayLauncher(ray, tmp_path, birth)
        assert launcher.missing(0)
        launcher.look()
        copies, kept = NodeCopies(tmp_path, birth, launcher, print), Config(durable="keeper")
        assert copies.missing(0, launcher.missing(0), kept) == ""
        ray.there = set()
        plan = PartPlan(launcher.directory(0), birth.share(0), b"", 3, kept, ())
        assert "disk of b" in copies.planned(plan, kept).keeper
        assert sorted(launcher.disks()) == ["disk of a", "disk of b"]
        launcher.look()
        assert launcher.disks() == {}
        assert "waits for the machine" in copies.missing(0, launcher.missing(0), kept)
        ray.there = {"a", "b"}
        launcher.look()
        assert launcher.missing(1) == ""

    asyncio.run(run())


def test_a_crawl_whose_partitions_are_all_here_stays_here_wherever_they_belong(ray, tmp_path, monkeypatch):
    """As one that was restored from a backup, of which the first partition was never crawled."""
    ray.there, directory = {"a", "b"}, tmp_path / "wide"

    async def settled(*parts: Path) -> list[str]:
        for part in parts:
            part.mkdir(parents=True)
        birth = ClusterBirth(1, "c", 2, "00" * 16, 0, begun=[1])
        write_birth(directory, birth)
        try:
            return RayLauncher(ray, directory, birth).settle().places
        finally:
            for part in parts:
                part.rmdir()

    directory.mkdir()
    here = disk_here(directory, "c").id
    assert asyncio.run(settled(directory / "part-1")) == [here, here]
    monkeypatch.setenv(ROOT, str(tmp_path / "fast"))
    with pytest.raises(ConfigError, match=f"move part-0, part-1 and so on to {tmp_path / 'fast' / 'c'}"):
        asyncio.run(settled(directory / "part-1"))
    fast = asyncio.run(settled(tmp_path / "fast" / "c" / "part-1"))
    assert fast == [disk_here(directory, "c").id] * 2 != [here, here]
    assert sorted(asyncio.run(settled())) == ["disk of a", "disk of b"]
