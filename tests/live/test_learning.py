"""What a real crawl learns, told by the log of the server: what changes, what has vanished, and where cash goes."""

import asyncio
from collections import defaultdict
from itertools import pairwise
from typing import Any

import pytest

from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.store.cash import transfers
from evercrawl.store.journal.events import KEEP, LEAVES
from evercrawl.store.records.records import FINDABLE, MEMBER, NEAR, VALIDATED
from evercrawl.types import RETIRED, Outcome


def times(server: Any) -> dict[str, list[float]]:
    """Return when each path was asked for."""
    asked = defaultdict(list)
    for served in sorted(server.log, key=lambda served: served.at):
        asked[served.path].append(served.at)
    return asked


def gaps(server: Any, paths: list[str], since_at: float = 0.0) -> list[float]:
    asked = times(server)
    return [b - a for path in paths for a, b in pairwise(asked[path]) if a >= since_at]


def test_a_page_that_changes_is_refetched_sooner_than_one_that_does_not(live):
    """As many of each kind, of like size and importance, and a rate at which not all of them can be kept fresh."""
    busy, still = ([f"/{kind}/{i}" for i in range(12)] for kind in ("busy", "still"))

    async def go() -> Any:
        async with live.Server(hosts=1) as server:
            edition = iter(range(10_000))
            server.extra["/"] = live.html(*busy, *still, ETag='"front"')
            for path in busy:
                server.extra[path] = lambda headers, at: live.html("/", text=f"words {next(edition)} " * 20)
            for path in still:
                server.extra[path] = live.html("/", text=f"words {path} " * 20)
            await live.crawl(server.seeds[:1], Limits(seconds=6), refresh_after_s=0.15, rate_per_s=60.0)
            return server

    server = asyncio.run(go())
    half_at = server.log[len(server.log) // 2].at
    assert min(map(len, times(server).values())) >= 1
    often, seldom = (len(gaps(server, paths, half_at)) for paths in (busy, still))
    assert often > 1.5 * seldom
    live.verified()


def test_a_page_that_vanished_is_asked_for_with_growing_gaps(live):
    async def go() -> Any:
        async with live.Server(hosts=1) as server:
            there = iter([True, True])
            server.extra["/"] = live.html("/vanishes", "/stays")
            server.extra["/stays"] = live.html("/")
            server.extra["/vanishes"] = lambda headers, at: (
                live.html("/stays") if next(there, False) else Answer(404, {}, b"gone")
            )
            await live.crawl(server.seeds[:1], Limits(seconds=6), refresh_after_s=0.025)
            return server

    server = asyncio.run(go())
    mine = [served for served in server.log if served.path == "/vanishes"]
    statuses = [served.status for served in mine]
    assert statuses == [200, 200] + [404] * (len(mine) - 2)
    assert RETIRED <= len(mine) - 2 <= RETIRED + 2  # 0.025 s, doubled that often, are 6 s
    waits_s = [b.at - a.at for a, b in pairwise(mine[2:])]
    late_s = 0.04  # a request may reach a busy server so much later than it was made
    assert all(wait_s >= 0.025 * 2.0 ** (misses + 1) - late_s for misses, wait_s in enumerate(waits_s))
    with live.partition() as partition:
        state = partition.state
        slot = state.urls.get_many(range(state.known.count)).index(server.web.origins[0] + "/vanishes")
        row = state.records.rows[state.record_of(slot)]
        own = FINDABLE | MEMBER | NEAR | VALIDATED
        assert (row["outcome"], row["importance"], row["flags"] & own) == (Outcome.GONE, 0.0, 0)
        assert state.accounts.sites["members"][0] == 2
    back = [visit for visit in live.visits() if visit.flags & LEAVES]
    assert [visit.outcome for visit in back] == [Outcome.GONE]
    moved = transfers.unpack(back[0].transfer)
    assert moved.moved < 0 < moved.back_internal + moved.back_external
    live.verified()


def test_a_304_moves_cash_along_the_links_of_the_visit_before(live):
    async def go() -> Any:
        async with live.Server(hosts=1) as server:
            seen = Answer(304, {"ETag": '"1"'})
            for path, link in (("/", "/next"), ("/next", "/")):
                page = live.html(link, ETag='"1"')
                server.extra[path] = lambda headers, at, page=page: seen if "if-none-match" in headers else page
            await live.crawl(server.seeds[:1], Limits(pages=30), refresh_after_s=0.02)
            return server

    server = asyncio.run(go())
    assert {served.status for served in server.log[4:] if served.path != "/robots.txt"} == {304}
    same = [visit for visit in live.visits() if visit.status == 304 and visit.transfer]
    assert len(same) > 8
    assert all(visit.flags & KEEP and visit.links and not visit.targets for visit in same)
    with live.partition() as partition:
        x = partition.state.records.rows["importance"][:2]
        assert x.tolist() == pytest.approx([0.5 / (1 - 0.85)] * 2, rel=0.1)
    live.verified()
