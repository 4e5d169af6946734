"""`evercrawl crawl --cluster`: actors of a real Ray, begun on this machine; skipped where it is not installed."""

import contextlib
import json
import os
import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from evercrawl.cluster.birth import read_birth
from evercrawl.simulate.parted.reached import reached

needs_ray = pytest.mark.skipif(
    find_spec("ray") is None and os.environ.get("RAY_TESTS") != "required", reason="Ray is not installed"
)


def of_session(sid: int, name: str) -> list[int]:
    """Return the processes of a session whose command line has a name in it."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            session = int(stat.read_text().rpartition(")")[2].split()[3])
            line = (stat.parent / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if session == sid and name in line:
            found.append(int(stat.parent.name))
    return found


@needs_ray
def test_a_killed_actor_is_begun_again_and_nothing_is_lost(served, monkeypatch):
    """Ray's processes are in a session of their own, so that what is left of them is found.

    Who asks meanwhile does not know the folder where the partitions are, as if it were on another machine.
    """
    crawl = subprocess.Popen(
        served.crawling("--partitions", "2", "--cluster", "--until-idle", "--quiet"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "EVERCRAWL_PARTS_DIR": str(served.folder / "disk")},
    )  # fmt: skip
    try:
        until = time.monotonic() + 100
        while not (actors := of_session(crawl.pid, "ray::PartActor")) or len(served.server.asked) < 20:
            assert crawl.poll() is None, crawl.communicate()
            assert time.monotonic() < until, "no actor crawls"
            time.sleep(0.05)
        assert not list(served.directory.glob("part-*"))
        told = json.loads(served.run("status", "--json", "--dir", str(served.directory)).stdout)
        assert (told["running"], told["partitions"], told["answered"]) == (True, 2, 2)
        assert told["visits"] > 0
        os.kill(actors[0], signal.SIGKILL)
        out, err = crawl.communicate(timeout=100)
        assert crawl.returncode == 0, out + err
    finally:
        crawl.kill()
        while left := of_session(crawl.pid, ""):
            for pid in left:
                with contextlib.suppress(ProcessLookupError):  # it has ended since
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
    monkeypatch.setenv("EVERCRAWL_PARTS_DIR", str(served.folder / "disk"))
    found, birth = served.read(), read_birth(served.directory)
    assert found.wrong == []
    assert found.under_way == 0.0
    assert reached(served.server.web, served.server.seed) == set(found.visited)
    assert birth.lives >= 3
    assert len(birth.places) == 2
    again = subprocess.run(served.crawling(seed=False), capture_output=True, text=True, check=False)
    assert (again.returncode, "--cluster" in again.stderr) == (2, True), again.stderr


def refused(served, *given: str, **env: str) -> str:
    done = subprocess.run(
        served.crawling(*given), capture_output=True, text=True, check=False, env={**os.environ, **env}
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert not served.directory.exists() or not list(served.directory.iterdir())
    return done.stderr


def test_a_cluster_needs_partitions(served):
    assert "give --partitions" in refused(served, "--cluster")


def test_another_ray_is_refused_and_nothing_is_written(served):
    """A package of that name and another version comes first on the path."""
    there = served.folder / "other" / "ray-2.61.0.dist-info"
    there.mkdir(parents=True)
    (there / "METADATA").write_text("Metadata-Version: 2.1\nName: ray\nVersion: 2.61.0\n")
    (there.parent / "ray.py").write_text("")
    path = os.pathsep.join([str(there.parent), os.environ.get("PYTHONPATH", "")])
    said = refused(served, "--partitions", "2", "--cluster", PYTHONPATH=path)
    assert "need Ray 2.60, and 2.61.0 is installed" in said


@needs_ray
def test_the_shipped_machines_are_what_ray_up_takes():
    """Ray's own schema of such a file, and the commands that it is to have on every machine."""
    import jsonschema
    import yaml

    root = Path(__file__).parents[2]
    spec = find_spec("ray")
    assert spec is not None
    assert spec.origin is not None
    schema = json.loads((Path(spec.origin).parent / "autoscaler" / "ray-schema.json").read_text())
    made = yaml.safe_load((root / "deploy" / "ray.yaml").read_text())
    jsonschema.validate(made, schema)
    for start in ("head_start_ray_commands", "worker_start_ray_commands"):
        assert "EVERCRAWL_PARTS_DIR=" in made[start][-1]
        assert "RAY_AUTH_MODE=token" in made[start][-1]
    assert {
        each["groupName"]
        for each in yaml.safe_load((root / "deploy" / "kuberay.yaml").read_text())["spec"]["workerGroupSpecs"]
    } == {"one", "two"}
