"""Pages that scripts build are found and read, and what harms a browser costs its page alone."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from script_site import HARM, ScriptSite

from evercrawl.crawl.rendering.browser import LOST, MOST_EVENTS, ChromiumPool, FloodError, HangError, RenderError
from evercrawl.crawl.rendering.chromium import FOLDER
from evercrawl.crawl.rendering.processes import descendants, end
from evercrawl.progress import Limits
from evercrawl.store.requisites.book import read_book
from evercrawl.types import Outcome

pytestmark = pytest.mark.browser
READ = {"render": "auto", "render_time_s": 5.0, "refresh_after_s": 1000.0, "probe_share": 0.0, "delay_s": 0.005}


@pytest.fixture(autouse=True)
def _there_is_a_browser() -> None:
    if os.environ.get("LOOK_TESTS") != "required":
        pytest.skip("`make look` runs it")
    try:
        import playwright.async_api  # noqa: F401

        found = bool(shutil.which("chromium") or shutil.which("google-chrome"))
    except ImportError:
        found = False
    if not found:
        pytest.fail("there is no Chromium, or no Playwright: run .ci/replay")


class Canary:
    """Counts connections to an address that is not allowed."""

    async def __aenter__(self) -> "Canary":
        self.connections = 0
        self.server = await asyncio.start_server(self.count, "127.0.7.7", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()

    def count(self, _: Any, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.close()


def crawled(live, *, seconds: float = 90.0, path: str = "/", settings: Any = None, **site: Any):
    async def go() -> Any:
        async with Canary() as canary, ScriptSite(canary=canary.port, **site) as server:
            limits = Limits(until_idle=True, seconds=seconds)
            settled = READ | {"allow_net": ("127.0.0.1/32",)} | (settings or {})
            await live.crawl([server.url(path)], limits, **settled)
            return server, canary

    return asyncio.run(go())


def texts(live) -> dict[str, str]:
    """Return the text of what is held of each page, by path."""
    from evercrawl.model.stored.answers import answer_of, exchange_of

    found = {}
    with live.partition() as partition:
        for visit in live.visits():
            if visit.archive is not None and visit.outcome == Outcome.OK:
                answer = answer_of(partition, visit)
                found["/" + answer.url.split("/", 3)[3]] = exchange_of(visit, answer).body.decode()
    return found


def test_twenty_pages_that_scripts_build_are_found_and_read(live):
    server, _ = crawled(live)
    found = texts(live)
    read = [number for number in range(20) if f"scripts of page{number} wrote" in found.get(f"/page/{number}", "")]
    assert read == list(range(20))
    assert server.paths.count("/app.js") == 1  # it serves all pages that want it
    records = live.records()
    assert sum(count for (kind, url), count in records.items() if kind == "resource") == 20
    assert ("response", server.url("/app.js")) in records
    live.verified()


def test_what_the_browser_fetched_is_a_requisite_that_is_there(live):
    server, _ = crawled(live, path="/styled", settings={"requisites": True, "render": "always"})
    asked = [path for path in server.paths if path.endswith((".css", ".woff2", ".png", "late.js"))]
    assert sorted(asked) == ["/b.css", "/f.woff2", "/i.png", "/late.js", "/s.css"]
    with read_book(live.directory) as book:
        assert book is not None
        assert (book.counts().archived, book.counts().owed) == (5, 0)
    live.verified()


def test_nothing_of_it_is_read_by_default(live):
    server, _ = crawled(live, settings={"render": "never"})
    assert {path for path in server.paths if path.startswith("/page/")} == {"/page/0"}
    assert not any(path.endswith(".js") for path in server.paths)


def test_no_browser_is_begun_for_pages_that_need_none(live, monkeypatch):
    monkeypatch.setenv("EVERCRAWL_BROWSER", "/bin/false")
    server, _ = crawled(live, path="/plain/1", plain=5, seconds=3.0, settings={"browser": "/bin/false"})
    assert "/plain/1" in server.paths


def test_a_page_that_harms_the_browser_costs_itself_alone(live):
    harm = ("/loops", "/eats", "/asks", "/opens", "/ticks")
    settings = {"render_memory_bytes": 700 << 20, "render_requests": 30}
    server, _ = crawled(live, harm=harm, settings=settings, seconds=500.0)
    outcomes = {url.partition(str(server.port))[2]: label for url, label in live.outcomes().items()}
    assert [outcomes[path] for path in harm] == ["ok"] * len(harm)
    assert [number for number in range(20) if outcomes.get(f"/page/{number}") == "ok"] == list(range(20))
    assert sum("?n=" in asked for asked in server.paths) <= 30
    assert sum("?t=" in asked for asked in server.paths) <= 30
    live.verified()


def test_strange_scripts_cost_their_page_alone_and_reach_nothing(live):
    harm = ("/alerts", "/workers", "/downloads", "/leads", "/frames", "/huge", "/deep", "/calls")
    settings = {"render_memory_bytes": 700 << 20, "render_requests": 30}
    server, canary = crawled(live, harm=harm, settings=settings, seconds=500.0)
    outcomes = {url.partition(str(server.port))[2]: label for url, label in live.outcomes().items()}
    assert [outcomes[path] for path in harm] == ["ok"] * len(harm)
    assert [number for number in range(20) if outcomes.get(f"/page/{number}") == "ok"] == list(range(20))
    assert canary.connections == 0
    assert "/serve.js" not in server.paths
    assert not any(path.startswith(("/frames?", "/x0")) for path in server.paths)
    live.verified()


def test_nothing_that_a_page_asks_for_passes_the_guard_or_robots_txt(live):
    server, canary = crawled(live, path="/inside")
    assert canary.connections == 0
    assert "/to-inside" in server.paths  # the way there was walked
    assert "/private/x" not in server.paths
    assert not any(path.startswith("POST") for path in server.paths)


class Pages:
    """Answers what a browser asks for with documents of the test; `ends` are those that end the browser."""

    def __init__(self, pool: Any, ends: tuple[str, ...] = ()) -> None:
        self.pool, self.ends, self.ended = pool, ends, 0

    async def read(self, name: str, body: str) -> str:
        async def answer(route: Any) -> None:
            if name in self.ends:
                self.ended += 1
                end([pid for pid in descendants(os.getpid()) if b"--remote-debugging-pipe" in command(pid)])
                return
            await route.fulfill(status=200, headers={"content-type": "text/html"}, body=body)

        return await self.pool.rendered(f"http://made.example/{name}", answer, lambda: 0)


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def pooled(work: Any, **options: Any) -> Any:
    async def go() -> Any:
        settings = {"pages": 2, "time_s": 3.0, "memory_bytes": 1 << 30, "most_bytes": 1 << 20} | options
        pool = ChromiumPool("", "test", **settings)
        try:
            return await work(pool)
        finally:
            await pool.close()

    return asyncio.run(go())


def test_an_end_of_the_browser_counts_against_no_page_but_the_one_that_ends_it():
    async def work(pool: ChromiumPool) -> Any:
        pages = Pages(pool, ends=("ends",))
        names = ["a", "ends", "b", "c"]
        wanted = (pages.read(name, f"<p>words of {name}</p>") for name in names)
        return pages, dict(zip(names, await asyncio.gather(*wanted, return_exceptions=True), strict=True))

    pages, came = pooled(work)
    assert isinstance(came["ends"], RenderError)
    assert [f"words of {name}" in came[name] for name in "abc"] == [True] * 3
    assert pages.ended == LOST + 1


def test_no_temporary_files_are_left_of_a_browser_that_is_killed(tmp_path, monkeypatch):
    """Driver and browser make folders for themselves, which who is killed does not remove."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    async def work(pool: ChromiumPool) -> list[str]:
        pages = Pages(pool, ends=("ends",))
        await asyncio.gather(*(pages.read(name, "<p>words") for name in ("a", "ends")), return_exceptions=True)
        return [path.name for path in tmp_path.iterdir()]

    during = pooled(work)
    assert [name for name in during if not name.startswith(FOLDER)] == []
    assert [*tmp_path.iterdir()] == []


def test_a_page_that_hangs_is_read_once_where_the_browser_answers():
    async def work(pool: ChromiumPool) -> Any:
        asked = list[str]()

        async def answer(route: Any) -> None:
            asked.append(route.request.url)
            await route.fulfill(status=200, headers={"content-type": "text/html"}, body=HARM["/loops"])

        with pytest.raises(HangError):
            await pool.rendered("http://made.example/loops", answer, lambda: 0)
        return asked

    assert len(pooled(work, time_s=1.0)) == 1


@pytest.mark.parametrize(
    "floods",
    ["for(k=0;k<200;k++)fetch('/f'+i++).catch(()=>0)", "for(k=0;k<50;k++)new WebSocket('ws://made.example/'+i++)"],
)
def test_a_page_that_floods_the_browser_with_requests_is_given_up_at_once(floods):
    """Each costs the crawl time and memory, although it is refused.

    The page also waits for an answer, so it is not read before, as one that only opens sockets may be.
    """

    async def work(pool: ChromiumPool) -> int:
        asked, body = 0, f"<script>i=0;setInterval(()=>{{{floods}}},20)</script>"

        async def answer(route: Any) -> None:
            nonlocal asked
            asked += 1
            if asked == 1:
                await route.fulfill(status=200, headers={"content-type": "text/html"}, body=body)
            else:
                await route.abort()

        with pytest.raises(FloodError):
            await pool.rendered("http://made.example/floods", answer, lambda: 1)
        return asked

    assert pooled(work) < 5 * MOST_EVENTS


def test_a_page_with_hundreds_of_pictures_is_no_flood():
    async def work(pool: ChromiumPool) -> str:
        return await Pages(pool).read("pictures", "<p>words" + "".join(f"<img src=/{n}>" for n in range(300)))

    assert "words" in pooled(work)


@pytest.mark.parametrize(
    "eats",
    [
        HARM["/eats"],
        "<script>a=[];for(;;)a.push(['x'+a.length])</script>",
        "<script>for(;;)document.body.append(document.createElement('p'))</script>",
    ],
)
def test_pages_that_eat_memory_stay_within_the_bound_and_leave_others_alone(eats):
    async def work(pool: ChromiumPool) -> Any:
        pages = Pages(pool)
        wanted = [pages.read("eats", f"<body>{eats}"), *(pages.read(str(n), f"<p>words {n}") for n in range(4))]
        came = await asyncio.gather(*wanted, return_exceptions=True)
        return pool.peak_bytes, came

    peak_bytes, (_, *others) = pooled(work)
    assert peak_bytes <= 1 << 30
    assert all(f"words {number}" in other for number, other in enumerate(others))
