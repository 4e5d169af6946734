"""What pages need to be shown is fetched beside them, once while it stays the same, and goes with them."""

import asyncio
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evercrawl.ask.status import status
from evercrawl.ask.why.why import why
from evercrawl.crawl.removing.forgetting import forget
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View, settings
from evercrawl.parse.requisites import of_body
from evercrawl.progress import Limits
from evercrawl.simulate.surroundings.loopback import NETWORK
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.store.requisites.book import read_book

ROOT = Path(__file__).parents[2]
WITH = {"requisites": True, "probe_share": 0.0, "sitemaps": False, "refresh_after_s": 1000.0}


def answer(kind: str, body: bytes, status: int = 200, **fields: str) -> Answer:
    return Answer(status, {"Content-Type": kind, **{name.replace("_", "-"): v for name, v in fields.items()}}, body)


def validated(kind: str, body: bytes, **fields: str) -> Any:
    """Return what answers 304 to who has it."""

    def told(headers: dict[str, str], _: float) -> Answer:
        held = any(name.lower() == "if-none-match" and value == '"one"' for name, value in headers.items())
        return answer(kind, b"" if held else body, 304 if held else 200, ETag='"one"', **fields)

    return told


def page(live: Any, *links: str, head: str = "", text: str = "words") -> Answer:
    return live.html(*links, head=head, text=text)


def site(live: Any) -> dict[str, Any]:
    """Return a small site: two pages that share a style and a picture, and something of its own for each."""
    style, pictures = "<link rel=stylesheet href=/a.css>", "<img src=/logo.png><img src=/gone.png>"
    return {
        "/": page(live, "/two", head=style, text="<img src=/logo.png srcset='/large.png 2x'><img src=/private/no.png>"),
        "/two": page(live, "/", head=f"{style}<script src=/s.js></script>", text=pictures),
        "/a.css": validated("text/css", b"@import 'b.css'; @font-face { src: url(f.woff2) }", Cache_Control="no-cache"),
        "/b.css": answer("text/css", b"body { background: url(/bg.png) } p { background: url(/moved.png) }"),
        "/moved.png": Answer(302, {"Location": "/target.png"}, b""),
        "/gone.png": answer("text/html", b"no", 404),
        "/s.js": answer("text/javascript", b"import './m.js'; document.title = 'x'"),
        "/m.js": answer("text/javascript", b"export const a = 1"),
        "/f.woff2": answer("font/woff2", b"font"),
        "/robots.txt": answer("text/plain", b"User-agent: *\nDisallow: /private/\n"),
        **{f"/{name}.png": answer("image/png", name.encode()) for name in ("logo", "large", "bg", "target")},
    }  # fmt: skip


NEEDED = [
    "/a.css", "/b.css", "/f.woff2", "/bg.png", "/moved.png", "/target.png", "/logo.png", "/large.png", "/s.js", "/m.js",
    "/gone.png",
]  # fmt: skip


async def crawled(live: Any, extra: dict[str, Any], *, limits: Limits | None = None, again: Any = None, **more: Any):
    """Crawl a site, and once more after `again(server)`; return how often each path was asked for, run by run."""
    counts = list[Counter[str]]()
    async with live.Server() as server:
        server.extra |= extra
        for run in (0, 1)[: 1 + (again is not None)]:
            if run:
                again(server)
            before = len(server.log)
            ends = limits or Limits(until_idle=True, seconds=600)
            await live.crawl([server.web.origins[0] + "/"], ends, **WITH | more)
            counts.append(Counter(served.path for served in server.log[before:]))
        return server.web.origins[0], counts


def test_all_that_pages_need_is_fetched_once_and_archived(live):
    origin, (asked,) = asyncio.run(crawled(live, site(live)))
    assert {path: asked[path] for path in NEEDED} == dict.fromkeys(NEEDED, 1)
    assert "/private/no.png" not in asked  # robots.txt holds for what pages need too
    records = live.records()
    assert all(records["response", origin + path] == 1 for path in NEEDED)
    with read_book(live.directory) as book:
        assert book is not None
        assert (book.counts().archived, book.counts().owed, book.counts().failed) == (len(NEEDED), 0, 1)
    live.verified()


def test_none_of_it_is_fetched_by_default_and_it_is_no_page(live):
    _, (asked,) = asyncio.run(crawled(live, site(live), requisites=False))
    assert not set(NEEDED) & set(asked)
    asyncio.run(crawled(live, site(live)))
    assert {urlsplit(url).path for url in live.urls()} == {"/", "/two"}


def test_what_fails_here_on_one_of_them_is_written_down_and_costs_only_that_one(live, monkeypatch):
    def fails(body: bytes, url: str, kind: str) -> list[str]:
        if url.endswith("/s.js"):
            raise ZeroDivisionError("a fault of ours")
        return of_body(body, url, kind)

    monkeypatch.setattr("evercrawl.crawl.requisites.requisites.of_body", fails)
    origin, (asked,) = asyncio.run(crawled(live, site(live), workers=0, limits=Limits(until_idle=True, seconds=8)))
    assert asked["/target.png"] == asked["/logo.png"] == 1
    assert asked["/m.js"] == 0
    logged = (live.directory / "errors.log").read_text()
    assert f"{origin}/s.js" in logged
    assert "ZeroDivisionError: a fault of ours" in logged


def test_a_later_visit_asks_whether_it_has_changed(live):
    def later(server: Any) -> None:
        server.extra["/s.js"] = answer("text/javascript", b"import './n.js'")  # fresh for a day: not asked for
        server.extra["/"] = page(live, "/two", head="<link rel=stylesheet href=/a.css>", text="<img src=/new.png>")
        server.extra["/new.png"] = answer("image/png", b"new")

    from evercrawl.crawl.requisites import requisites

    least, requisites.FRESH_S = requisites.FRESH_S, (0.0, *requisites.FRESH_S[1:])
    try:
        origin, (first, asked) = asyncio.run(crawled(live, site(live), again=later, refresh_after_s=0.0,
                                                 limits=Limits(pages=4, seconds=30)))  # fmt: skip
    finally:
        requisites.FRESH_S = least
    assert asked["/a.css"] >= 1  # it says no-cache, and answers that it is the same
    assert asked["/new.png"] == 1
    assert asked["/logo.png"] == asked["/s.js"] == asked["/n.js"] == 0
    records = live.records()
    assert records["revisit", origin + "/a.css"] == first["/a.css"] + asked["/a.css"] - 1
    assert records["response", origin + "/a.css"] == 1
    live.verified()


def test_other_hosts_are_asked_only_where_that_is_allowed(live):
    async def go(**more: Any) -> tuple[str, list[str]]:
        async with live.Server(hosts=2) as server:
            first, second = server.web.origins
            server.extra |= {first + "/": page(live, text=f"<img src={second}/i.png><img src=http://10.9.9.9/i.png>")}
            server.extra["/i.png"] = answer("image/png", b"i")
            await live.crawl([first + "/"], Limits(until_idle=True, seconds=600), **WITH | more)
            return second, [served.origin for served in server.log if served.path == "/i.png"]

    second, asked = asyncio.run(go())
    assert asked == [second]
    with read_book(live.directory) as book:
        assert book is not None
        (inside,) = [one for one in book.of(range(book.count)) if "10.9.9.9" in one.url]
        assert inside.error.startswith("refused_address")  # the guard holds
    live.directory = live.directory.with_name("other")
    assert asyncio.run(go(requisites_from="site"))[1] == []


def test_what_exclude_matches_is_not_fetched(live):
    _, (asked,) = asyncio.run(crawled(live, site(live), exclude=(r"\.woff2$", "large")))
    assert not {"/f.woff2", "/large.png"} & set(asked)
    assert "/logo.png" in asked


def test_endless_styles_end(live):
    def style(_: dict[str, str], at: float) -> Answer:
        return answer("text/css", f"@import '/x{at}.css'; a {{ b: url(/y{at}.png) }}".encode())

    extra = {"/": page(live, head="<link rel=stylesheet href=/x0.css>")}

    class Endless(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            return style if "/x" in key else super().get(key, default)

    async def go() -> int:
        async with live.Server() as server:
            server.web.extra = Endless(extra)
            await live.crawl([server.web.origins[0] + "/"], Limits(until_idle=True, seconds=600), **WITH)
            return sum("/x" in served.path for served in server.log)

    assert asyncio.run(go()) == 6


def test_pages_come_first_by_their_share(live):
    links = [f"/{n}" for n in range(12)]
    pages = {url: page(live, *links, text="".join(f"<img src={url}-{i}.png>" for i in range(4))) for url in links}
    pages |= {"/": page(live, *links)}
    pages |= {f"/{n}-{i}.png": answer("image/png", b"p") for n in range(12) for i in range(4)}

    async def go() -> list[str]:
        async with live.Server() as server:
            server.extra |= pages
            await live.crawl([server.web.origins[0] + "/"], Limits(until_idle=True, seconds=600),
                             **WITH | {"requisites_share": 0.5, "delay_s": 0.002})  # fmt: skip
            return [served.path for served in server.log if served.path != "/robots.txt"]

    asked = asyncio.run(go())
    last_page = max(i for i, path in enumerate(asked) if path in links)
    among = sum(path.endswith(".png") for path in asked[:last_page])
    assert among <= 14  # as many as there were pages
    assert sum(path.endswith(".png") for path in asked) == 48  # and the others afterwards


def test_what_only_a_forgotten_page_needs_is_forgotten_with_it(live):
    origin, _ = asyncio.run(crawled(live, site(live)))
    forget(live.directory, [origin + "/two"])
    records = live.records()
    assert not [url for _, url in records if url.endswith(("/s.js", "/m.js", "/gone.png"))]
    assert records["response", origin + "/a.css"] == records["response", origin + "/logo.png"] == 1
    live.verified()
    asyncio.run(live.crawl([], Limits(until_idle=True, seconds=20), **WITH))  # the server is gone: nothing is owed
    with read_book(live.directory) as book:
        assert book is not None
        assert not book.numbers([origin + "/s.js"])
        assert book.counts().owed == 0
        assert book.numbers([origin + "/logo.png"])


def test_status_and_why_tell_of_it(live):
    origin, _ = asyncio.run(crawled(live, site(live)))
    crawl = opened(live.directory)
    try:
        told = status(live.directory).requisites
        assert told is not None
        assert (told.known, told.owed) == (len(NEEDED) + 1, 0)
        view = View(crawl, settings(live.directory)[0], 1.0)
        shown = why(view, origin + "/two").requisites
        assert shown is not None
        assert shown.missing == {origin + "/gone.png": "status 404"}
        font = why(view, origin + "/f.woff2")
        assert font.state == "requisite"
        assert "2 pages need it" in font.reasons[0]
    finally:
        crawl.close()


def test_what_is_owed_outlives_a_kill(live):
    async def go() -> tuple[Counter[str], Counter[str]]:
        async with live.Server() as server:
            server.extra |= site(live)
            url = server.web.origins[0] + "/"
            words = [
                "crawl",
                url,
                "--dir",
                str(live.directory),
                "--requisites",
                "--delay",
                "0.15",
                "--allow-net",
                NETWORK,
            ]
            killed = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "evercrawl", *words, stdout=-3, stderr=-3, cwd=ROOT
            )
            while sum(served.path in NEEDED for served in server.log) < 3:  # noqa: ASYNC110 the server is of another make
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.15)
            killed.kill()
            await killed.wait()
            before = len(server.log)
            await live.crawl([url], Limits(until_idle=True, seconds=600), **WITH)
            return tuple(Counter(each.path for each in part) for part in (server.log[:before], server.log[before:]))

    before, after = asyncio.run(go())
    assert 0 < sum(path in before for path in NEEDED) < len(NEEDED)
    assert all(before[path] + after[path] >= 1 for path in NEEDED)
    assert sum(before[path] and after[path] for path in NEEDED) <= 2  # what was acknowledged is not fetched again
    with read_book(live.directory) as book:
        assert book is not None
        assert (book.counts().archived, book.counts().owed) == (len(NEEDED), 0)
    live.verified()
