"""Signals end a crawl cleanly; a second Ctrl-C ends it at once."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from evercrawl.cli import running
from evercrawl.progress import Summary

SUMMARY = Summary(visits=1, fetched=1, known=1, elapsed_s=1.0, reason="stopped")


async def until(stop: asyncio.Event, number: int | None) -> Summary:
    if number is not None:
        os.kill(os.getpid(), number)
        await stop.wait()
    return SUMMARY


@pytest.mark.parametrize("number", [None, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_summary_comes_back(number):
    assert running.until_stopped(lambda stop: until(stop, number)) is SUMMARY


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda *_: None])
def test_a_hangup_that_is_ignored_or_handled_ends_nothing(handler):
    """As under nohup, and of a run with a log, which it reopens."""

    async def hung_up(stop: asyncio.Event) -> Summary:
        os.kill(os.getpid(), signal.SIGHUP)
        await asyncio.sleep(0)
        assert not stop.is_set()
        return SUMMARY

    signal.signal(signal.SIGHUP, handler)
    running.obey_from_now()
    assert running.until_stopped(hung_up) is SUMMARY
    assert signal.getsignal(signal.SIGHUP) is handler


def test_what_does_not_end_by_itself_is_cancelled(monkeypatch):
    monkeypatch.setattr(running, "GRACE_S", 0.01)
    tidied = []

    async def deaf(_: asyncio.Event) -> Summary:
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            await asyncio.sleep(60)
        finally:
            tidied.append(True)
        return SUMMARY

    assert running.until_stopped(deaf) is None
    assert tidied == [True]


def test_errors_pass_through():
    async def wrong(_: asyncio.Event) -> Summary:
        raise LookupError("x")

    with pytest.raises(LookupError):
        running.until_stopped(wrong)


def process(body: str) -> subprocess.Popen[str]:
    script = f"import asyncio, time\nfrom evercrawl.cli import running\n{body}"
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def test_a_second_ctrl_c_ends_at_once():
    body = (
        "async def deaf(stop):\n print('ready', flush=True)\n await stop.wait()\n print('asked', flush=True)\n"
        " await asyncio.sleep(60)\nrunning.until_stopped(deaf)"
    )
    with process(body) as child:
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "asked\n"
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=5) == -signal.SIGINT


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_before_anything_is_open_a_signal_is_a_clean_end(number):
    with process("running.obey_from_now()\nprint('ready', flush=True)\ntime.sleep(60)") as child:
        child.send_signal(number)
        assert child.wait(timeout=5) == 0
