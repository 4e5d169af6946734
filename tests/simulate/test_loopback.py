"""The small web that demos and live tests crawl."""

import asyncio
import urllib.error
import urllib.request

import pytest

from evercrawl.simulate.surroundings.loopback import Loopback
from evercrawl.simulate.worlds.made_web import MadeWeb

WEB = MadeWeb(seed=1, origins=("http://a", "http://b"), pages=12)


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object):
        return None


def asked(url: str, headers: dict[str, str]) -> int:
    opener = urllib.request.build_opener(Stay)
    try:
        with opener.open(urllib.request.Request(url, headers=headers)) as answer:
            answer.read()
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_every_url_answers_as_foretold():
    status = {"ok": 200, "copy": 200, "redirect": 3, "gone": 404, "refused": 200}

    async def ask_all() -> Loopback:
        async with Loopback(hosts=2, pages=6) as server:
            for url, outcome in server.web.urls().items():
                found = await asyncio.to_thread(asked, url, {})
                assert status[outcome] in (found, found // 100)
            assert await asyncio.to_thread(asked, f"{server.web.origins[0]}/nowhere", {}) == 404
        return server

    server = asyncio.run(ask_all())
    assert len(server.log) == len(server.web.urls()) + 1
    assert [f"{served.origin}{served.path}" for served in server.log[:-1]] == list(server.web.urls())
    assert all(served.at <= served.ended_at for served in server.log)


def test_all_pages_are_reached_by_links_from_the_front_page():
    web = WEB
    seen, found = set(), [f"{origin}/" for origin in web.origins]
    while found:
        url = found.pop()
        if url in seen:
            continue
        seen.add(url)
        origin, path = url[:8], url[8:]
        html = (web.content(origin, path, 0.0) or b"").decode()
        links = [part.split('"')[0] for part in html.split('href="')[1:]]
        found += [link if link.startswith("http") else origin + link for link in links]
    assert seen == set(web.urls()) - {f"{origin}/hop2" for origin in web.origins}


def test_a_validator_saves_the_body_until_the_page_changes():
    first = WEB.answer("http://a", "/p/5", {}, at=0.0)
    again = WEB.answer("http://a", "/p/5", {"if-none-match": first.headers["ETag"]}, at=2.9)
    later = WEB.answer("http://a", "/p/5", {"if-none-match": first.headers["ETag"]}, at=3.0)
    assert (first.status, again.status, again.body, later.status) == (200, 304, b"", 200)
    assert WEB.content("http://a", "/p/1", 0.0) == WEB.content("http://a", "/p/1", 1e6)


def test_contents_differ_but_for_the_copy():
    contents = [
        WEB.content(origin, path, 0.0) for origin in WEB.origins for path in ["/", *(f"/p/{i}" for i in range(12))]
    ]
    assert len(set(contents)) == len(contents)
    assert WEB.content("http://a", "/copy", 0.0) == WEB.content("http://a", "/p/1", 0.0)


@pytest.mark.parametrize("other", [MadeWeb(2, WEB.origins, 12), MadeWeb(1, WEB.origins, 12)])
def test_the_seed_draws_the_web(other):
    same = other.content("http://a", "/p/3", 0.0) == WEB.content("http://a", "/p/3", 0.0)
    assert same is (other.seed == WEB.seed)
