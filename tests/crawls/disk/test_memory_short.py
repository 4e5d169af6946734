"""A crawl that has too little memory stops asking, ends in order or by its last commit, says why, and resumes."""

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.crawl.loop import MEMORY_WAIT_S
from evercrawl.crawl.memory_use.memory_room import MemoryRoom, container_limit_bytes, resident_bytes
from evercrawl.errors import NoMemoryError
from evercrawl.store.partition import Partition


def world(run):
    made = run.World()
    made.pages = {f"http://a.example/{n}": made.html(f"/{n + 1}", f"/{n + 40}") for n in range(80)}
    return made


SEED = "http://a.example/0"
pytestmark = pytest.mark.usefixtures("reporting")


@pytest.fixture
def short(monkeypatch):
    """Return what makes memory short from the n-th look on, for so many looks."""

    def make(first: int, looks: int) -> list[int]:
        seen = [0]

        def used() -> int:
            seen[0] += 1
            return 99 if first <= seen[0] < first + looks else 10

        import evercrawl.crawl.assemble as assembling

        sound, room = assembling.Crawl, MemoryRoom(100, used)

        def crawl(config: Any, memory: Any, outside: Any, *rest: Any) -> Any:
            return sound(config, memory, replace(outside, room=room), *rest)

        monkeypatch.setattr(assembling, "Crawl", crawl)
        return seen

    return make


def test_a_short_lack_is_waited_for(run, short):
    short(10, 8)
    ran = run(world(run), [SEED])
    assert ran.error is None
    held = [progress for progress in ran.progress if progress.memory_short]
    assert 10 <= len(held) <= 20
    assert "the crawl takes 0 MB of memory and may take 0 MB; give it more with --max-memory" in held[-1].message
    assert len({progress.visits for progress in held[4:]}) == 1, "nothing new was asked for"
    assert len(ran.pages) == 120


def test_a_lasting_lack_ends_the_run_in_order_and_the_next_goes_on(run, short, monkeypatch):
    short(10, 10**9)
    ran = run(world(run), [SEED], raises=False)
    assert isinstance(ran.error, NoMemoryError)
    assert ran.error.exit_code == 6
    assert "--max-memory" in str(ran.error)
    assert ran.took_s == pytest.approx(9 + MEMORY_WAIT_S, abs=5)
    assert list(run.directory.glob("snapshot-*"))
    monkeypatch.undo()
    before = run.outcomes()
    again = run(world(run), [SEED])
    assert not again.repairs
    assert not set(again.pages) & {url for url, (outcome, _) in before.items() if outcome}
    assert len(run.outcomes()) == 120


@pytest.mark.parametrize("step", ["remember", "settle", "leads", "append", "snapshot"])
def test_memory_used_up_in_any_step_loses_nothing_that_was_acknowledged(run, monkeypatch, step):
    from evercrawl.crawl.learn.admission import Admission
    from evercrawl.store.archive.archive import Archive
    from evercrawl.store.cash.cashbook import Cashbook

    owners = {"remember": Partition, "settle": Cashbook, "leads": Admission, "append": Archive, "snapshot": Partition}
    owner = owners[step]
    sound, left = getattr(owner, step), iter(range(0 if step == "snapshot" else 25))

    def broken(*arguments: Any, **named: Any) -> Any:
        if next(left, None) is None:
            raise MemoryError
        return sound(*arguments, **named)

    monkeypatch.setattr(owner, step, broken)
    ran = run(world(run), [SEED], raises=False, snapshot_every_s=5)
    assert isinstance(ran.error, NoMemoryError), ran.error
    monkeypatch.undo()
    acknowledged = {url for url, (outcome, _) in run.outcomes().items() if outcome}
    assert acknowledged
    again = run(world(run), [SEED])
    assert acknowledged <= {url for url, (outcome, _) in run.outcomes().items() if outcome}
    assert not set(again.pages) & acknowledged
    run.same()
    assert not verify(run.directory).wrong


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))
from evercrawl.cli.main import main
sys.exit(main(["crawl", "http://127.0.0.1:9/", "--dir", sys.argv[1], "--seconds", "1", "--quiet"]))
"""


def test_an_address_space_that_is_too_small_is_told_in_a_sentence(tmp_path):
    environment = os.environ | {"EVERCRAWL_WORKERS": "0"}
    asked = [sys.executable, "-c", LIMITED, str(tmp_path / "crawl")]
    ran = subprocess.run(asked, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert ran.returncode == 3, ran.stderr
    assert "ulimit -v" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_what_a_process_takes_and_may_take(tmp_path):
    assert 10 << 20 < resident_bytes() < 4 << 30
    (tmp_path / "max").write_text("max\n")
    (tmp_path / "limit").write_text("1000000\n")
    assert container_limit_bytes((str(tmp_path / "none"), str(tmp_path / "max"), str(tmp_path / "limit"))) == 800_000
    assert container_limit_bytes((str(tmp_path / "max"),)) == 0
    assert not MemoryRoom(0, lambda: 1 << 40).short(0.0)
