"""A crawl whose pages are read by other processes is the same crawl, byte for byte, even where these are killed."""

import asyncio
import contextlib
import os
import signal

import pytest

from evercrawl.arrays.hasher import Hasher
from evercrawl.crawl.workers.workers import Workers
from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import MadeWeb

SEEDS = ["http://a.example/", "http://b.example/"]


def files(run):
    """Return what the journal and the archive consist of."""
    return {
        path.name: path.read_bytes()
        for path in sorted(run.directory.rglob("*"))
        if path.name.startswith("journal-") or path.name.endswith(".warc.gz")
    }


def crawled(run, directory, parsers=None, during=None):
    directory.mkdir()
    one = type(run)(directory / "crawl")
    world = one.World(MadeWeb(seed=5, origins=("http://a.example", "http://b.example"), pages=40), seed=5, trouble=0.1)
    for limits in (Limits(pages=30), Limits(until_idle=True, seconds=86_400)):
        ran = one(world, SEEDS, limits, parsers=parsers, during=during, refresh_after_s=120.0)
    return ran.digest, files(one)


@pytest.mark.parametrize("count", [1, 2])
def test_other_processes_read_the_same_crawl(run, tmp_path, count):
    made = []

    def parsers(hasher: Hasher) -> Workers:
        one = Workers(count, "evercrawl", hasher, text=False, longest_bytes=10 << 20, waiting=True, busy_s=0.0)
        made.append(one)
        return one

    try:
        here = crawled(run, tmp_path / "here")
        there = crawled(run, tmp_path / "there", parsers)
        assert there == here
        assert all(one.pids for one in made)
    finally:
        for one in made:
            one.close()


def test_so_they_do_where_they_are_killed(run, tmp_path):
    made, killed = [], []

    def parsers(hasher: Hasher) -> Workers:
        made.append(Workers(1, "evercrawl", hasher, text=False, longest_bytes=10 << 20, waiting=True, busy_s=0.0))
        return made[-1]

    async def kill_now_and_then(_: object) -> None:
        while True:
            await asyncio.sleep(20.0)
            for pid in made[-1].pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    try:
        here = crawled(run, tmp_path / "here")
        there = crawled(run, tmp_path / "there", parsers, kill_now_and_then)
        assert there == here
        assert len(set(killed)) > 1
    finally:
        for one in made:
            one.close()
