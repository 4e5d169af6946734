"""Bodies read in other processes: in order, the same as here, whatever becomes of the processes."""

import asyncio
import gzip
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from evercrawl.crawl.backoff import in_trouble
from evercrawl.crawl.visit.parsers import Inline
from evercrawl.crawl.workers import crew
from evercrawl.crawl.workers import workers as module
from evercrawl.crawl.workers.workers import Workers
from evercrawl.model.stored.reading import Before, Fetched, fetched
from evercrawl.types import Exchange, Request
from tests.helpers.hashing import HASHER

HTML = {"content-type": "text/html"}
GZIP = {**HTML, "content-encoding": "gzip"}
TROUBLE = """
    import os, sys, time
    from evercrawl.model.stored import contents as module
    read = module.contents

    def contents(body, **options):
        if body.data.startswith(b"die"):
            os.abort()
        if body.data.startswith(b"hang"):
            time.sleep(600)
        if body.data.startswith(b"raise"):
            raise RuntimeError("a fault of ours")
        if body.data.startswith(b"swell"):
            bytearray(1 << 42)
        return read(body, **options)

    module.contents = contents
"""


def page(number: int, start: bytes = b"") -> bytes:
    draw = random.Random(number)
    links = "".join(f"<a href=/{draw.randrange(999)}>{draw.randrange(999)}</a> " for _ in range(draw.randrange(60)))
    return start + f"<title>{number}</title><p>page {number} {links}".encode()


def reading(number: int, body: bytes | None = None, status: int = 200):
    body = page(number) if body is None else body
    headers, wire = (HTML, body) if number % 3 else (GZIP, gzip.compress(body, mtime=0))
    exchange = Exchange(Request(f"http://example.org/{number}"), 10.0, status=status, headers=headers, wire=wire)
    exchange.packed = True
    return fetched(exchange, None, number, Before())


def said(readings):
    """Return all that was understood, and whether it stands in its place."""
    return [(one.slot, one.exchange.error, one.exchange.truncated, one.content) for one in readings]


def alive(pids):
    return [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]


@pytest.fixture
def environment(tmp_path):
    """Return what makes workers stumble over some bodies."""
    (tmp_path / "sitecustomize.py").write_text(textwrap.dedent(TROUBLE))
    root = str(Path(module.__file__).parents[3])
    return {"PYTHONPATH": os.pathsep.join((str(tmp_path), root, os.environ.get("PYTHONPATH", "")))}


@pytest.fixture
def make():
    """Make workers that are waited for, and that start with the first body."""
    made = []

    def workers(count: int = 1, **more: object) -> Workers:
        more = {"text": True, "longest_bytes": 10 << 20, "waiting": True, "busy_s": 0.0} | more
        made.append(Workers(count, "evercrawl", HASHER, **more))
        return made[-1]

    yield workers
    for one in made:
        pids = one.pids
        one.close()
        assert not alive(pids)
        assert not any(psutil.pid_exists(pid) for pid in pids)  # nor is one a zombie


def inline(bodies):
    here = Inline("evercrawl", HASHER, text=True)
    for one in bodies:
        here.submit(one)
    return here.done()


@pytest.mark.parametrize("count", [1, 3])
def test_they_say_what_is_said_here_in_the_order_of_what_went_in(make, count):
    workers = make(count)
    for number in range(300):
        workers.submit(reading(number, status=404 if number % 7 == 0 else 200))
    assert workers.pending == 300
    there = workers.done()
    assert workers.pids
    assert workers.pending == 0
    here = inline([reading(number, status=404 if number % 7 == 0 else 200) for number in range(300)])
    assert said(there) == said(here)
    assert there[1].content.text


def test_a_body_larger_than_any_buffer_goes_through(make):
    workers = make()
    text = b"<p>" + random.Random(1).randbytes(3 << 20).hex().encode() + b" <a href=/a>b</a>"
    for number in (1, 2, 3):
        workers.submit(reading(number, text))
    there = workers.done()
    assert said(there) == said(inline([reading(number, text) for number in (1, 2, 3)]))
    assert len(there[0].content.text) > 6 << 20


def test_killed_at_any_time_they_are_replaced_and_nothing_is_lost(make):
    workers, draw, there, killed = make(2), random.Random(3), [], set()
    for number in range(600):
        workers.submit(reading(number))
        if number % 97 == 50:
            workers._look()
            pid = draw.choice(workers.pids)
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        if number % 50 == 0:
            there += workers.done()
    there += workers.done()
    assert said(there) == said(inline([reading(number) for number in range(600)]))
    assert "SIGKILL" in workers.message
    assert not killed & set(workers.pids)


@pytest.mark.parametrize(("start", "why"), [(b"die", "SIGABRT"), (b"hang", "for more than 0.4 s")])
def test_a_body_that_ends_two_processes_is_an_error_and_the_others_are_read(make, environment, start, why):
    workers = make(environment=environment, hang_s=0.4)
    for number in range(1, 40):
        workers.submit(reading(number, page(number, start) if number in (20, 22) else None))
    there = workers.done()
    bad = [one for one in there if one.slot in (20, 22)]
    assert [one.exchange.error for one in bad] == ["parser"] * 2
    assert all(why in one.exchange.detail for one in bad)
    assert not any(one.exchange.packed or in_trouble(one.exchange) for one in bad)
    good = [reading(number) for number in range(1, 40) if number not in (20, 22)]
    assert said(one for one in there if one not in bad) == said(inline(good))
    assert "http://example.org/2" in workers.message
    assert len(workers.pids) <= 2


@pytest.mark.parametrize(("start", "why"), [(b"raise", "a fault of ours"), (b"swell", "MemoryError")])
def test_a_fault_of_ours_is_an_error_of_its_page_alone(make, environment, start, why):
    workers = make(environment=environment)
    workers.submit(reading(1))
    workers.done()
    pids = workers.pids
    workers.submit(reading(2, page(2, start)))
    workers.submit(reading(4))
    bad, good = workers.done()
    assert bad.exchange.error == "parser"
    assert why in bad.exchange.detail
    assert said([good]) == said(inline([reading(4)]))
    assert workers.pids == pids


@pytest.mark.parametrize("executable", ["/nowhere/python", "/bin/false"])
def test_where_none_can_be_started_the_crawl_reads_by_itself_and_says_so(make, monkeypatch, executable):
    workers = make(2)
    good = sys.executable
    monkeypatch.setattr(sys, "executable", executable)
    for number in range(9):
        workers.submit(reading(number))
    assert said(workers.done()) == said(inline([reading(number) for number in range(9)]))
    assert "the crawl parses pages itself" in workers.message
    assert not workers.pids
    monkeypatch.setattr(sys, "executable", good)
    workers.submit(reading(9))
    assert not workers.pids  # another try would likely come to the same
    monkeypatch.setattr(crew, "TRIED_AGAIN_S", 0.0)
    workers.submit(reading(10))
    assert len(workers.pids) == 1
    assert len(workers.done()) == 2


def test_where_one_has_ended_and_no_other_can_be_started_nothing_is_lost(make, monkeypatch):
    workers = make()
    workers.submit(reading(0))
    workers.done()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    for number in range(1, 9):
        workers.submit(reading(number))
    os.kill(workers.pids[0], signal.SIGKILL)
    assert said(workers.done()) == said(inline([reading(number) for number in range(1, 9)]))
    assert not workers.pids


def test_there_is_none_before_there_is_work_for_one(make):
    workers = make(2, waiting=False, busy_s=module.BUSY_S)
    for number in range(20):
        workers.submit(reading(number))
    assert len(workers.done()) == 20
    assert not workers.pids


def test_there_is_one_more_where_bodies_wait_and_no_more_than_allowed(make, monkeypatch):
    monkeypatch.setattr(crew, "GROWN_S", 0.0)
    workers = make(2)
    for number in range(2000):
        workers.submit(reading(number))
    workers.done()
    assert len(workers.pids) == 2


def test_what_is_given_and_what_waits_is_bounded_in_bytes(make, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 6 << 20)
    workers = make()
    workers.submit(reading(0))
    workers.done()
    body = random.Random(1).randbytes(1 << 20)
    most = module.MOST_BYTES >> 20
    for number in range(most):
        workers.submit(reading(3 * number + 1, body))
    assert not workers.behind
    workers._look()
    assert crew.WINDOW_BYTES <= workers._crew._processes[0].given_bytes <= crew.WINDOW_BYTES + (1 << 20)
    for number in range(most):
        workers.submit(reading(3 * number + 1, body))
    assert workers.behind
    assert len(workers.done()) == 2 * most
    assert not workers.behind


def test_beside_a_running_loop_the_crawl_is_woken():
    async def crawl() -> list[Fetched]:
        woken = asyncio.Event()
        workers = Workers(2, "evercrawl", HASHER, text=False, longest_bytes=1 << 20, wake=woken.set, busy_s=0.0)
        there, number = [], 0
        try:
            until = time.monotonic() + 60
            while len(there) < 400:
                assert time.monotonic() < until
                while workers.pending < 100 and number < 400:
                    workers.submit(reading(number))
                    number += 1
                there += workers.done()
                if workers.pending and len(there) < 400:
                    await asyncio.wait_for(woken.wait(), 30)
                    woken.clear()
            assert workers.pids
            workers.submit(reading(400))
            await workers.settle()
            there += workers.done()
            pids = workers.pids
        finally:
            workers.close()
        assert not alive(pids)
        return there

    there = asyncio.run(crawl())
    here = inline([reading(number) for number in range(401)])
    assert [one.content.targets for one in there] == [one.content.targets for one in here]
    assert not any(one.content.text for one in there)


@pytest.mark.parametrize("start", [b"", b"hang"])
def test_when_the_owner_is_killed_no_process_is_left(environment, start):
    code = f"""
        import sys
        sys.path[:0] = {sys.path!r}
        from evercrawl.arrays.hasher import Hasher
        from evercrawl.model.stored.reading import Before, fetched
        from evercrawl.crawl.workers.workers import Workers
        from evercrawl.types import Exchange, Request
        more = dict(waiting=True, busy_s=0.0, environment={environment!r})
        workers = Workers(2, "a", Hasher(bytes(16)), text=False, longest_bytes=99999, **more)
        def submit(start):
            exchange = Exchange(Request("http://a/"), 1.0, status=200, wire=start + b"page", packed=True)
            workers.submit(fetched(exchange, None, 0, Before()))
        submit(b"")
        workers.done()
        submit({start!r})
        workers._look()
        print(*workers.pids, flush=True)
        sys.stdin.read()
    """
    owner = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    pids = [int(pid) for pid in owner.stdout.readline().split()]
    assert alive(pids) == pids != []
    owner.kill()
    owner.communicate()
    psutil.wait_procs([psutil.Process(pid) for pid in alive(pids)], timeout=10)
    assert not alive(pids)


def hanging(number: int, host: str = "evil.test", wire: bytes = b"hang") -> Fetched:
    """Return a document, whose parser never ends."""
    headers = {"content-type": "application/pdf"}
    exchange = Exchange(Request(f"http://{host}/{number}"), 10.0, status=200, headers=headers, wire=wire)
    exchange.packed = True
    return fetched(exchange, None, number, Before())


@pytest.fixture
def ready(make, environment, monkeypatch):
    """Return a coroutine function that makes a pool with a process that is ready, and one that takes what is parsed."""
    monkeypatch.setattr(crew, "LATE_S", 0.3)

    async def begun(**more: object) -> tuple[Workers, list[Fetched]]:
        workers = make(waiting=False, environment=environment, **more)
        workers.submit(hanging(0, "sound.test", b"raise"))
        await workers.settle()
        assert workers.done()[0].exchange.error == "parser"
        return workers, []

    return begun


async def until(happened, workers, there):
    last = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < last
        there += workers.done()
        await asyncio.sleep(0.01)


def test_what_hangs_holds_up_no_other_and_no_end(ready, monkeypatch):
    monkeypatch.setattr(module, "ENDING_S", 0.1)

    async def crawl() -> None:
        workers, there = await ready(hang_s=600.0)
        for number in range(1, 30):
            workers.submit(hanging(number) if number == 5 else reading(number))
        await until(lambda: len(there) == 28, workers, there)  # all but one
        assert (workers.pending, workers.apart, workers.behind) == (1, 1, False)
        pids = set(workers.pids)
        for number in range(30, 60):  # those that follow are not tried in the company of others
            workers.submit(hanging(number) if number % 10 == 0 else reading(number))
        await until(lambda: len(there) == 55, workers, there)
        assert len(set(workers.pids) - pids) == 1  # none has been replaced
        assert len(workers.pids) == 2
        assert workers.apart == 4
        await workers.settle()
        there += workers.done()
        assert (workers.pending, workers.pids) == (0, [])
        assert not any(one.exchange.error for one in there)
        assert {one.slot for one in there} == set(range(1, 60)) - {5, 30, 40, 50}

    asyncio.run(crawl())


def test_whoever_is_patient_gets_an_error_for_what_hangs(ready, monkeypatch):
    monkeypatch.setattr(module, "ENDING_S", 0.1)
    monkeypatch.setattr(crew, "LATE_S", 0.2)

    async def crawl() -> None:
        workers, there = await ready(hang_s=1.0)
        for number in range(1, 4):
            workers.submit(hanging(number) if number == 2 else reading(number))
        await workers.settle(patient=True)
        there += workers.done()
        assert {one.slot: bool(one.exchange.error) for one in there} == {1: False, 2: True, 3: False}
        workers.close()

    asyncio.run(crawl())


def test_after_two_bodies_that_hang_those_of_a_site_get_little_time(ready):
    async def crawl() -> None:
        workers, there = await ready(hang_s=0.8)
        for number in range(3):
            workers.submit(hanging(number))
        workers.submit(hanging(9, wire=b"raise"))
        await until(lambda: len(there) == 4, workers, there)
        assert [one.exchange.error for one in there] == ["parser"] * 4
        said = {one.slot: one.exchange.detail for one in there}
        times = sorted(said[number].rpartition("for more than ")[2] for number in range(3))
        assert times == ["0.3 s", "0.8 s", "0.8 s"]
        assert "a fault of ours" in said[9]
        workers.close()

    asyncio.run(crawl())


def test_few_bodies_of_a_slow_site_wait(ready, monkeypatch):
    monkeypatch.setattr(crew, "MOST_OF_A_SITE", 3)

    async def crawl() -> None:
        workers, there = await ready(hang_s=600.0)
        workers.submit(hanging(0))
        workers.submit(reading(1))
        await until(lambda: there and workers.apart, workers, there)
        for number in range(2, 10):
            workers.submit(hanging(number))
        workers.submit(hanging(10, "other.test", b"raise"))
        there += workers.done()
        assert workers.apart >= 4
        refused = [one for one in there if "other bodies of its site" in one.exchange.detail]
        assert len(refused) + workers.apart == 9
        assert len(refused) >= 4
        workers.close()

    asyncio.run(crawl())
