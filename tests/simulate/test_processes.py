"""Processes that work beside the one that a person started."""

import os
import signal
import subprocess
import sys
import time

import pytest

from evercrawl.errors import EvercrawlError
from evercrawl.simulate.processes import processes

LONG_S = 60.0


def handler(number):
    return signal.getsignal(number), os.environ.get("BEGUN")


def begin(word):
    os.environ["BEGUN"] = word


def test_they_leave_interrupts_to_who_started_them_and_begin_as_they_are_told():
    with processes(1, begin, "yes") as pool:
        assert pool.submit(handler, signal.SIGINT).result() == (signal.SIG_IGN, "yes")
    assert os.environ.get("BEGUN") is None


def interrupted():
    with processes(1) as pool:
        under_way = pool.submit(time.sleep, LONG_S)
        while not under_way.running():
            pass
        raise KeyboardInterrupt


def test_what_is_under_way_is_given_up_when_something_is_raised():
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() < began + LONG_S / 2


def ended():
    os.kill(os.getpid(), signal.SIGKILL)


def test_one_that_is_ended_from_outside_is_told_of():
    with (
        pytest.raises(EvercrawlError, match="was killed, perhaps because memory ran out; use a smaller --jobs"),
        processes(1) as pool,
    ):
        pool.submit(ended).result()


STARTS_TWO = """
import os, time
from evercrawl.simulate.processes import processes

if __name__ == "__main__":
    with processes(2) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 60).result()
"""


def test_they_end_with_who_started_them_even_where_that_is_killed(tmp_path):
    script = tmp_path / "starts_two.py"
    script.write_text(STARTS_TWO)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as one:
        assert one.stdout is not None
        one.stdout.readline()
        one.kill()
        began = time.monotonic()
        assert one.stdout.read() == b""
        assert time.monotonic() < began + LONG_S / 2, "the children held the other end until they were no more"
