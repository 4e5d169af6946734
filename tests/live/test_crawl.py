"""A real crawl of a few hundred pages, and again; what redirects, trouble and scope do to it."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.store.journal.events import CHANGED, HAS_LINKS, UNCHANGED
from evercrawl.types import NO_SLOT, Outcome


def moved(to: str, status: int = 302) -> Answer:
    return Answer(status, {"Location": to, "Content-Type": "text/plain"}, b"over there")


def test_a_few_hundred_pages_are_fetched_completely_and_once(live):
    async def go() -> Any:
        async with live.Server(hosts=6, pages=60) as server:
            summary = await live.crawl(server.seeds, delay_s=0.02)
            return server, summary

    server, summary = asyncio.run(go())
    foretold = server.web.urls()
    assert summary.reason == "idle"
    assert server.pages == Counter({url: 1 for url, what in foretold.items() if what != "refused"})
    assert min(min(gaps) for gaps in server.gaps().values()) >= 0.02 - 0.002
    found = live.outcomes()
    assert {url: found[url] for url, what in foretold.items() if what != "copy"} == {
        url: what for url, what in foretold.items() if what != "copy"
    }
    asked = [served.path for served in server.log]
    assert asked.count("/robots.txt") == 6
    assert not [path for path in asked if path.startswith("/private")]
    assert {served.headers["user-agent"].split("/")[0] for served in server.log} == {"evercrawl"}
    records = live.records()
    assert {url for kind, url in records if kind == "response"} == set(server.pages)
    assert set(records.values()) == {1}
    live.verified()


def test_the_delay_is_kept_at_the_server(live):
    async def go() -> Any:
        async with live.Server(hosts=3, pages=4, latency_s=0.05) as server:
            await live.crawl(server.seeds, delay_s=0.2)
            return server

    server = asyncio.run(go())
    gaps = [gap for host in server.gaps().values() for gap in host]
    assert min(gaps) >= 0.2 - 0.005
    assert sorted(gaps)[len(gaps) // 2] < 0.35


def test_a_second_pass_over_unchanged_pages_is_304_and_leaves_revisits(live):
    async def go() -> Any:
        async with live.Server(hosts=4, pages=25) as server:
            await live.crawl(server.seeds)
            first = len(server.log)
            await live.crawl([], Limits(pages=4 * 33), refresh_after_s=0.05)
            return server, server.log[first:]

    server, second = asyncio.run(go())
    statuses = Counter(served.status for served in second if not served.path.startswith("/robots"))
    pages = {url for url, what in server.web.urls().items() if what in ("ok", "copy")}
    assert statuses[200] == 0
    assert statuses[304] >= len(pages) * 0.9
    assert all("if-none-match" in served.headers for served in second if served.status == 304)
    records = live.records()
    revisits = Counter({url: n for (kind, url), n in records.items() if kind == "revisit"})
    assert revisits == Counter(served.origin + served.path for served in second if served.status == 304)
    assert {visit.flags & (UNCHANGED | CHANGED | HAS_LINKS) for visit in live.visits() if visit.status == 304} == {
        UNCHANGED
    }
    live.verified()


def test_changed_pages_are_seen_to_have_changed(live):
    edition = {"n": 0}

    async def go() -> Any:
        async with live.Server() as server:
            server.extra["/changing"] = lambda headers, at: live.html("/p/0", f"/new{edition['n']}", text=f"{edition}")
            server.extra["/same"] = lambda headers, at: live.html("/p/0", text="no validators, the same words")
            server.extra["/new1"] = live.html(text="news")
            server.extra["/front"] = live.html("/changing", "/same")
            seed = server.web.origins[0] + "/front"
            await live.crawl([seed], max_depth=1)
            edition["n"] = 1
            await live.crawl([], Limits(seconds=1.0), refresh_after_s=0.05)
            return server

    server = asyncio.run(go())
    urls = live.urls()
    last = {urls[visit.slot]: visit for visit in live.visits()}
    origin = server.web.origins[0]
    assert last[f"{origin}/changing"].changes == 1
    assert last[f"{origin}/same"].changes == 0
    assert last[f"{origin}/same"].flags & UNCHANGED
    assert last[f"{origin}/new1"].outcome == Outcome.OK
    assert live.records()["revisit", f"{origin}/same"] == last[f"{origin}/same"].visits - 1
    live.verified()


# Redirects


def test_each_hop_is_a_visit_and_permanent_ones_are_aliases(live):
    async def go() -> Any:
        async with live.Server() as server:
            server.extra |= {
                "/1": moved("/2", 301), "/2": moved("/3", 308), "/3": moved("/4", 302), "/4": moved("/5", 307),
                "/5": moved("/6", 303), "/6": live.html(text="the end"),
            }  # fmt: skip
            await live.crawl([server.web.origins[0] + "/1"])
            return server

    server = asyncio.run(go())
    assert [served.path for served in server.log] == ["/robots.txt", *(f"/{i}" for i in range(1, 7))]
    visits = live.visits()
    assert [visit.outcome for visit in visits] == [*[Outcome.REDIRECT] * 5, Outcome.OK]
    assert [visit.alias for visit in visits] == [1, 2, *[NO_SLOT] * 4]
    live.verified()


@pytest.mark.parametrize(("most", "visited"), [(3, 4), (10, 11), (0, 1)])
def test_redirects_that_never_end_are_given_up(live, most, visited):
    async def go() -> Any:
        async with live.Server() as server:
            server.extra |= {f"/{i}": moved(f"/{i + 1}") for i in range(20)}
            await live.crawl([server.web.origins[0] + "/0"], max_redirects=most)
            return server

    server = asyncio.run(go())
    assert sum(server.pages.values()) == visited
    last = live.visits()[-1]
    assert (last.outcome, last.error) == (Outcome.ERROR, f"redirect: more than {most} in a row")


@pytest.mark.parametrize("circle", [["/a"], ["/a", "/b"], ["/a", "/b", "/c"]])
def test_redirects_in_a_circle_end(live, circle):
    async def go() -> Any:
        async with live.Server() as server:
            server.extra |= {page: moved(circle[(i + 1) % len(circle)], 301) for i, page in enumerate(circle)}
            await live.crawl([server.web.origins[0] + "/a"])
            return server

    server = asyncio.run(go())
    assert sum(server.pages.values()) == len(circle)
    assert set(live.outcomes().values()) <= {"redirect", "error"}
    live.verified()


def test_a_seed_that_moves_to_another_host_takes_the_crawl_there(live):
    async def go() -> Any:
        async with live.Server(hosts=2) as server:
            old, new = server.web.origins
            server.extra[f"{old}/"] = moved(f"{new}/", 301)
            server.extra[f"{old}/p/0"] = moved(f"{new}/p/0", 301)
            await live.crawl([f"{old}/"])
            again = await live.crawl([])
            return server, again

    server, _ = asyncio.run(go())
    new = server.web.origins[1]
    assert {url for url, what in server.web.urls().items() if url.startswith(new) and what != "refused"} <= set(
        server.pages
    )


def test_a_page_that_moves_to_a_host_out_of_scope_is_not_followed(live):
    async def go() -> Any:
        async with live.Server(hosts=2) as server:
            here, there = server.web.origins
            server.extra[f"{here}/front"] = live.html("/leaves")
            server.extra[f"{here}/leaves"] = moved(f"{there}/p/1")
            await live.crawl([f"{here}/front"])
            return server

    server = asyncio.run(go())
    assert {served.origin for served in server.log} == {server.web.origins[0]}


# Trouble


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_keeps_the_whole_host_waiting(live, status):
    async def go() -> Any:
        async with live.Server() as server:
            said = [Answer(status, {"Retry-After": "1"}), live.html(text="now")]
            server.extra["/busy"] = lambda headers, at: said.pop(0)
            server.extra["/front"] = live.html("/busy", "/p/1")
            await live.crawl([server.web.origins[0] + "/front"], Limits(pages=4), max_depth=1)
            return server

    server = asyncio.run(go())
    after = [served.path for served in server.log].index("/busy") + 1
    wait_s = server.log[after].at - server.log[after - 1].ended_at
    assert 1.0 <= wait_s < 3.0
    assert live.outcomes()[server.web.origins[0] + "/busy"] == "ok"
    assert any(progress.waiting.get("back-off") for progress in live.said)


def test_every_kind_of_failure_has_its_class(live):
    async def go() -> Any:
        async with live.Server() as server:
            server.extra |= {
                "/front": live.html("/big", "/401", "/404", "/410", "/500", "/odd", "/slow", "http://127.0.9.9:1/",
                                    "http://127.0.1.1:25/"),
                "/big": live.html(text="x" * 100_000), "/401": Answer(401), "/410": Answer(410), "/500": Answer(500),
                "/odd": Answer(204),
            }  # fmt: skip
            seed = server.web.origins[0] + "/front"
            await live.crawl([seed], Limits(seconds=3.0), body_max_bytes=20_000, scope="any", max_depth=1)
            return server.web.origins[0]

    origin = asyncio.run(go())
    found = {url.removeprefix(origin): label for url, label in live.outcomes().items()}
    assert found == {
        "/front": "ok", "/big": "truncated", "/401": "error", "/404": "gone", "/410": "gone", "/500": "error",
        "/odd": "error", "/slow": "gone", "http://127.0.9.9:1/": "refused", "http://127.0.1.1:25/": "refused",
    }  # fmt: skip
    errors = live.said[-1].errors
    assert errors["status"] >= 3
    assert errors["truncated"] == 1
    assert errors["refused_port"] == 2
    live.verified()


# Scope


def site(live, server) -> None:
    server.extra |= {
        "/robots.txt": Answer(404),
        "/": live.html("/a/1", "/b/1", "/c?x=1"),
        "/a/1": live.html("/a/2", text="a1"), "/a/2": live.html("/a/3", text="a2"), "/a/3": live.html(text="a3"),
        "/b/1": live.html("/b/2", text="b1"), "/b/2": live.html(text="b2"),
        "/c?x=1": live.html(text="c"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "paths"),
    [
        ({}, "/ /a/1 /b/1 /c?x=1 /a/2 /b/2 /a/3"),
        ({"exclude": (r"\?",)}, "/ /a/1 /b/1 /a/2 /b/2 /a/3"),
        ({"exclude": ("/a/2$",)}, "/ /a/1 /b/1 /c?x=1 /b/2"),
        ({"include": ("/a/",)}, "/ /a/1 /a/2 /a/3"),
        ({"include": ("/a/", "/b/"), "exclude": ("/2$",)}, "/ /a/1 /b/1"),
        ({"max_depth": 1}, "/ /a/1 /b/1 /c?x=1"),
        ({"max_depth": 2}, "/ /a/1 /b/1 /c?x=1 /a/2 /b/2"),
        ({"max_pages_per_host": 3}, "/ /a/1 /b/1"),
        ({"max_pages_per_host": 5}, "/ /a/1 /b/1 /c?x=1 /a/2"),
    ],
)
def test_scope(live, settings, paths):
    async def go() -> Any:
        async with live.Server() as server:
            site(live, server)
            await live.crawl(server.seeds, **settings)
            return server

    server = asyncio.run(go())
    asked = [served.path for served in server.log if served.path != "/robots.txt"]
    assert (asked[0], sorted(asked)) == ("/", sorted(paths.split()))


@pytest.mark.parametrize(
    ("scope", "hosts"),
    [
        ("hosts", ["www.one.example"]),
        ("domains", ["www.one.example", "one.example", "deep.down.one.example"]),
        ("any", ["www.one.example", "one.example", "deep.down.one.example", "two.example"]),
    ],
)
def test_hosts_domains_or_any(live, tmp_path, scope, hosts):
    names = tmp_path / "names"
    names.write_text("".join(
        f"{name} 127.0.1.1\n" for name in ("www.one.example", "one.example", "deep.down.one.example", "two.example")
    ))  # fmt: skip

    async def go() -> Any:
        async with live.Server() as server:
            port = server.web.origins[0].rpartition(":")[2]
            links = [f"http://{name}:{port}/x" for name in ("one.example", "deep.down.one.example", "two.example")]
            server.extra |= {"/robots.txt": Answer(404), "/": live.html(*links), "/x": live.html(text="x")}
            await live.crawl([f"http://www.one.example:{port}/"], scope=scope, resolve=str(names), delay_s=0.02)
            return server

    server = asyncio.run(go())
    asked = {served.headers["host"].partition(":")[0] for served in server.log}
    assert asked == set(hosts)
