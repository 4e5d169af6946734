"""How big the journal of a large crawl is, and how long the crawl takes to start again."""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import Figure
from urls import web

from evercrawl.clock import SystemClock
from evercrawl.config import Config
from evercrawl.crawl.assemble import assemble
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.ports import Outside
from evercrawl.crawl.timekeeping import fill
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.parse.urls import hostname
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.store.journal.codec import encode_slots
from evercrawl.store.journal.events import HAS_LINKS, Discovery, Visit
from evercrawl.store.partition import Partition
from evercrawl.types import NO_SLOT, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NEW, LINKS, BATCH = 10, 40, 500  # new URLs and known links of a page; visits between two commits
NEAR = 0.85  # of the links go to pages that were found near this one, on the same site; the others anywhere


def restarting(count: int) -> Iterator[Figure]:
    """Make a crawl of `count` known URLs, a tenth of them visited, and open it again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        visits = asyncio.run(grown(folder, count))
        size = sum(file.stat().st_size for file in folder.glob("journal-*"))
        yield Figure("journal", size / visits, f"B an event ({LINKS} links, {NEW} new URLs)", at_most=200)
        yield Figure("journal without new URLs' text", _bare(folder, visits), "B an event")
        wall, cpu = time.perf_counter(), time.process_time()
        partition = Partition(folder, os.urandom, now=time.time(), site=found_site, site_rules=site_rules())
        _resume(partition)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        assert partition.state.known.count >= count
        partition.close()
        yield Figure(f"restart at {count / 1e6:.0f} M URLs, CPU", cpu, "s", at_most=5 * count / 1e7)
        yield Figure(f"restart at {count / 1e6:.0f} M URLs, wall", wall, "s")


async def grown(folder: Path, count: int) -> int:
    """Visit pages that make `NEW` URLs known each until `count` are; return how many."""
    partition = Partition(folder, os.urandom, now=time.time(), site=found_site, site_rules=site_rules())
    state, source, draw = partition.state, web(), np.random.default_rng(1)
    visits = 0
    while state.table.known < count:
        for _ in range(BATCH):
            _visit(partition, list(itertools.islice(source, NEW)), draw, visits)
            visits += 1
        partition.flush()
        partition.journal.write(partition.journal.seal())
    await partition.snapshot(_nothing, _inline)
    partition.close()
    return visits


def _visit(partition: Partition, urls: list[str], draw: np.random.Generator, slot: int) -> None:
    state = partition.state
    if slot == 0:
        urls = [*urls, "https://seed.example/"]
    first, key = state.table.known, state.hasher.keys(urls)
    _, new = state.table.intern(key)
    urls, key = [url for url, fresh in zip(urls, new.tolist(), strict=True) if fresh], key[new]
    first_host, new_hosts = len(state.hosts), list[str]()
    hosts = [state.host_number(hostname(url), new_hosts) for url in urls]
    source, depth = (slot, 1) if slot else (NO_SLOT, 0)  # the first URLs are seeds
    found = Discovery(first, urls, hosts, first_host, new_hosts, source=source, depth=depth)
    at = state.epoch + slot * 0.01
    state.admit(found, at, key)
    everywhere = (draw.random(LINKS) ** 3 * state.table.known).astype(np.uint32)
    near = np.minimum(slot * NEW + draw.integers(0, 20 * NEW, LINKS), state.table.known - 1).astype(np.uint32)
    known = np.where(draw.random(LINKS) < NEAR, near, everywhere)
    targets = np.concatenate([known, np.arange(first, state.table.known, dtype=np.uint32)])
    digest, simhash = (int(value) for value in draw.integers(1, 2**63, 2))
    event = Visit(
        slot=slot, host=hosts[0] if hosts else 0, at=at, outcome=Outcome.OK, status=200, flags=HAS_LINKS, visits=1,
        fetch_s=0.123456, size_bytes=int(draw.integers(1_000, 90_000)), wire_bytes=int(draw.integers(500, 20_000)),
        digest=digest, simhash=simhash, archive=(0, slot * 11_000, 10_000), targets=encode_slots(targets),
        etag=f'"{digest:x}"', last_modified="Sat, 21 Nov 2026 10:00:00 GMT", mime="text/html",
        title=" ".join(url.rpartition("/")[2] for url in urls[:2]), language="en", found=found,
    )  # fmt: skip
    partition.remember(event)


def _bare(folder: Path, visits: int) -> float:
    """Return the journal's bytes an event less what the text of new URLs takes in the URL log's own blocks."""
    text = sum((folder / name).stat().st_size for name in ("urls.log", "urls.idx"))
    return (sum(file.stat().st_size for file in folder.glob("journal-*")) - text) / visits


def _resume(partition: Partition) -> None:
    """Fill the frontier, as a crawl does before its first exchange."""
    nothing: Any = None
    idle: Any = type("Network", (), {"wake": lambda: None, "idle_s": 0.0})
    config = Config()
    outside = Outside(idle, nothing, SystemClock(), _inline, nothing)
    memory = Memory.beside(partition, config, None)
    crawl = assemble(config, memory, outside, policy=BreadthFirst())
    fill(partition.state, crawl.frontier, [], [], config.refresh_after_s)
    memory.close()


async def _nothing() -> None:
    return None


async def _inline(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)
