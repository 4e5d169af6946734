# ruff: noqa: ANN202  (the servers of a test are nested functions, and say more without annotations)
"""Webs without end: redirects, canonicals and refreshes in circles, calendars, paths, parameters, mirrors, sitemaps."""

import re
from collections import Counter
from typing import Self

import pytest

from evercrawl.parse.urls import MAX_URL_CHARS


def endless(hostile, make):
    """Return a server that makes a page for every path."""

    class Endless(hostile.Far):
        async def speak(self, reader, writer):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split()[1].decode()
                self.asked.append(path)
                nothing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
                writer.write(self.replies.get(path) or (nothing if path == "/robots.txt" else make(path)))
                await writer.drain()

    return Endless({})


LOOPS = {
    "a to b to a": {"/": "/b", "/b": "/"},
    "to itself": {"/": "/"},
    "through a fragment": {"/": "/#x"},
    "through three": {"/": "/b", "/b": "/c", "/c": "/b"},
    "through an empty query": {"/": "/?", "/?": "/"},
}


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
@pytest.mark.parametrize("name", LOOPS)
def test_redirects_in_circles_are_walked_once(hostile, name, status):
    far = hostile.Far({path: hostile.moved(to, status) for path, to in LOOPS[name].items()})
    crawled = hostile.crawl(far, exchange_deadline_s=10.0)
    assert set(crawled.outcomes.values()) == {"redirect"}
    assert max(Counter(far.asked).values()) == 1


def test_redirects_that_grow_end_after_ten(hostile):
    trap = endless(hostile, lambda path: hostile.moved(f"{path}x" if len(path) < 5_000 else f"{path}{'y' * 3_000}"))
    trap.replies["/"] = hostile.moved("/" + "x" * 4_000)
    crawled = hostile.crawl(trap)
    assert sorted(crawled.outcomes.values()) == ["error"] + ["redirect"] * 10
    assert len(trap.asked) == 1 + 11  # robots.txt, too


def test_a_location_longer_than_servers_take_leads_nowhere(hostile):
    far = hostile.Far({"/": hostile.moved("/" + "x" * MAX_URL_CHARS)})
    crawled = hostile.crawl(far)
    assert crawled.outcomes == {far.url(): "error"}
    assert len(crawled.visits[0].error) < 300


def test_what_the_heads_of_pages_say_in_circles_is_asked_for_once(hostile):
    """Canonical, refresh, hreflang, frames: each names the other page, and the page itself."""

    def page(own, other):
        head = (
            f'<link rel=canonical href="{other}"><meta http-equiv=refresh content="0;url={other}">'
            f'<link rel=alternate hreflang=de href="{other}"><link rel=alternate hreflang=x-default href="{own}">'
            f'<iframe src="{other}"></iframe><iframe src="{own}"></iframe><base href="{other}">'
        )
        return hostile.reply(f"<title>{own}</title>{head}<a href='{own}'>x</a><a href='{other}'>y</a>{own}".encode())

    far = hostile.Far({"/": page("/", "/b"), "/b": page("/b", "/c"), "/c": page("/c", "/")})
    crawled = hostile.crawl(far)
    assert set(crawled.outcomes.values()) <= {"ok", "duplicate"}
    assert Counter(far.asked) == {"/robots.txt": 1, "/": 1, "/b": 1, "/c": 1}


MAKERS = {
    "a calendar": lambda n: [f"/?m={n + 1}", f"/?m={n + 12}", f"/?m={n + 24}"],
    "session ids": lambda n: [f"/?m={n + 1}&sid={n * 7919 % 10_007}", f"/?sid={n}&m={n + 2}"],
    "a path that grows": lambda n: [f"/{'a/' * (n % 50)}?m={n + 1}", f"/b/../{'c/' * (n % 50)}?m={n + 2}"],
    "parameters in every order": lambda n: [
        f"/?a={n}&m={n + 1}&b=2",
        f"/?m={n + 1}&b=2&a={n}",
        f"/?b=2&a={n}&m={n + 1}",
    ],
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_trap_neither_takes_more_than_its_pages_nor_keeps_others_waiting(hostile, name):
    def make(path):
        found = re.search(r"m=(\d+)", path)
        n = int(found[1]) if found else 0
        return hostile.page(*MAKERS[name](n), title=f"page {n}", text=f"words of {n} " * 20)

    trap = endless(hostile, make)
    other = hostile.Far({"/": hostile.page(*[f"/{i}" for i in range(20)])}, "127.0.9.2")
    other.replies |= {f"/{i}": hostile.page(title=str(i), text=f"other {i} " * 20) for i in range(20)}
    crawled = hostile.crawl(trap, other, max_pages_per_host=40, delay_s=0.005)
    assert crawled.summary.reason == "idle"
    assert len([path for path in trap.asked if "m=" in path]) <= 40
    assert len(trap.asked) <= 60  # addresses that cannot exist, too, which tell a soft 404
    assert sum(url.startswith(other.url()) and label == "ok" for url, label in crawled.outcomes.items()) == 21


def test_a_mirror_is_read_once_for_each_address_and_counts_as_copies(hostile):
    pages = {
        f"/{i or ''}": hostile.page(*[f"/{k}" for k in range(1, 6)], title=str(i), text=f"text {i} " * 30)
        for i in range(6)
    }
    fars = [hostile.Far(dict(pages), f"127.0.9.{i}") for i in range(1, 4)]
    crawled = hostile.crawl(*fars)
    assert Counter(crawled.outcomes.values())["ok"] >= 6
    assert set(crawled.outcomes.values()) <= {"ok", "duplicate"}
    assert all(max(Counter(far.asked).values()) == 1 for far in fars)


# Sitemaps


def sitemap(*locations: str, kind: str = "urlset", item: str = "url"):
    listed = "".join(f"<{item}><loc>{location}</loc></{item}>" for location in locations)
    return f'<?xml version="1.0"?><{kind}>{listed}</{kind}>'.encode()


def with_sitemap(hostile, far_replies, body):
    class Site(hostile.Far):
        async def __aenter__(self) -> Self:
            await super().__aenter__()
            text = f"User-agent: *\nAllow: /\nSitemap: {self.url('/sitemap.xml')}\n".encode()
            self.replies["/robots.txt"] = hostile.reply(text, "Content-Type: text/plain")
            self.replies["/sitemap.xml"] = body(self)
            return self

    return Site({"/": hostile.page("/after"), "/after": hostile.page(title="after"), **far_replies})


def test_sitemaps_that_list_each_other_are_read_once_each(hostile):
    def body(far):
        index = sitemap(*[far.url(f"/s{i}.xml") for i in range(3)], kind="sitemapindex", item="sitemap")
        circle = sitemap(
            far.url("/sitemap.xml"), far.url("/s0.xml"), far.url("/s1.xml"), kind="sitemapindex", item="sitemap"
        )
        for i in range(3):
            far.replies[f"/s{i}.xml"] = hostile.reply(circle, "Content-Type: application/xml")
        return hostile.reply(index, "Content-Type: application/xml")

    far = with_sitemap(hostile, {}, body)
    crawled = hostile.crawl(far)
    assert crawled.summary.reason == "idle"
    assert max(Counter(far.asked).values()) == 1
    assert far.asked.count("/after") == 1


LAUGHS = "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 11))


@pytest.mark.parametrize(
    "start",
    [
        f"<!DOCTYPE u [<!ENTITY a0 'laughs'>{LAUGHS}]>", "<!DOCTYPE u [<!ENTITY a10 SYSTEM 'file:///etc/passwd'>]>",
        "<!DOCTYPE u [<!ENTITY a10 SYSTEM 'http://127.0.8.8/'>]>", "<!DOCTYPE u SYSTEM 'http://127.0.8.8/evil.dtd'>",
    ],
    ids=["laughs", "a file", "a URL", "a DTD"],
)  # fmt: skip
def test_entities_of_a_sitemap_are_never_expanded(hostile, start):
    far = with_sitemap(hostile, {}, lambda far: hostile.reply(
        b"<?xml version='1.0'?>" + start.encode() + sitemap(far.url("/&a10;"))[21:], "Content-Type: application/xml"
    ))  # fmt: skip
    crawled = hostile.crawl(far)
    assert set(crawled.outcomes) == {far.url(), far.url("/after")}
    assert crawled.said[-1].errors.get("sitemap_doctype") == 1


# robots.txt that changes its mind


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ([b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"], True),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nUser-agent: *\nDisallow: /af"] * 9, False),
        ([b""] * 9, False),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 36\r\n\r\n<html>Disallow: / <p>Not here</html>"], True),
    ],
    ids=["flaps", "is cut", "breaks off", "is a page"],
)  # fmt: skip
def test_robots_txt(hostile, monkeypatch, answers, asked):
    """Cut short it closes the site; a page in its place forbids nothing; once it can be had again, so can the site."""
    monkeypatch.setattr("evercrawl.model.rules.robots.MIN_FRESH_S", 0.1)
    left = iter(answers)

    async def robots(say):
        answer = next(left, answers[-1])
        await say(answer)
        return None if len(answers) == 9 else b""

    far = hostile.Far({"/robots.txt": robots, "/": hostile.page("/after"), "/after": hostile.page(title="after")})
    hostile.crawl(far, seconds=2.0 if asked else 1.0)
    assert ("/after" in far.asked) == asked
    assert ("/" in far.asked) == asked
