# ruff: noqa: ANN202  (the servers of a test are nested functions, and say more without annotations)
"""Answers and names that ended a crawl, and ended it again at every start."""

import pytest

from evercrawl.ask.verify.verify import verify

FORGED = ["70000", "2" + "0" * 30, "200" + "0" * 5_000, "1000", "2000", "²00", "600", "000"]
"""What stands in a status line where three digits should."""


def forged(status: str) -> bytes:
    return f"HTTP/1.1 {status} OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi".encode("latin-1")


def test_a_crawl_outlives_forged_statuses_and_its_directory_is_sound(hostile):
    bad = [hostile.Far({"/": forged(status)}, f"127.0.9.{10 + at}") for at, status in enumerate(FORGED)]
    good = hostile.Far({"/": hostile.page("/a"), "/a": hostile.page()})
    for _ in range(2):
        crawled = hostile.crawl(good, *bad, until_idle=False, seconds=2.0)
        want = {good.url(): "ok", good.url("/a"): "ok"} | {far.url(): "error" for far in bad}
        assert crawled.outcomes == want
        assert {visit.status for visit in crawled.visits} == {0, 200}
    assert not verify(hostile.directory).wrong


@pytest.mark.parametrize("status", FORGED[:5], ids=lambda status: status[:8])
def test_a_robots_txt_with_a_forged_status_closes_its_site_and_no_other(hostile, status):
    bad = hostile.Far({"/": hostile.page(), "/robots.txt": forged(status)})
    good = hostile.Far({"/": hostile.page("/a"), "/a": hostile.page()}, "127.0.9.2")
    crawled = hostile.crawl(bad, good, until_idle=False, seconds=1.0)
    assert crawled.outcomes[good.url("/a")] == "ok"
    assert crawled.outcomes[bad.url()] == ""
    assert bad.asked[0] == "/robots.txt"


NAMES = ["xn--zz--a.evil.test", "xn--.evil.test", "xn--0.evil.test", "a.xn--pokxncvks", "xn--a-ecp.test"]


def test_international_names_of_every_kind_lead_somewhere_or_nowhere(hostile, tmp_path):
    """By a link, a redirect of a page, a redirect of robots.txt, and a sitemap that robots.txt names."""
    names = tmp_path / "names"
    names.write_text("".join(f"{name} 127.0.9.3\n" for name in NAMES))
    there = hostile.Far({"/": hostile.page("b"), "/b": hostile.page(), "/s": hostile.reply(b"<urlset/>")}, "127.0.9.3")

    def later(make):  # ports are known once servers run
        async def reply(say):
            return make()

        return reply

    def moved(name, path):
        return later(lambda: hostile.moved(there.url(path, name)))

    paths = [f"/{at}" for at in range(len(NAMES))]
    far = hostile.Far({path: moved(name, "/") for path, name in zip(paths, NAMES, strict=True)})
    far.replies["/"] = later(lambda: hostile.page(*(there.url("/", name) for name in NAMES), *paths, "/good"))
    far.replies["/good"] = hostile.page()
    far.replies["/robots.txt"] = later(
        lambda: hostile.reply("".join(f"Sitemap: {there.url('/s', name)}\n" for name in NAMES).encode())
    )
    movers = [
        hostile.Far({"/": hostile.page(), "/robots.txt": moved(name, "/robots.txt")}, f"127.0.9.{10 + at}")
        for at, name in enumerate(NAMES)
    ]
    for _ in range(2):
        crawled = hostile.crawl(far, *movers, beside=(there,), scope="any", resolve=str(names), seconds=5.0)
        assert crawled.outcomes[far.url("/good")] == "ok"
        assert {crawled.outcomes[far.url(path)] for path in paths} == {"redirect"}
        read = ("ok", "duplicate")
        assert all(crawled.outcomes[there.url(path, name)] in read for name in NAMES for path in ("/", "/b"))
    assert not verify(hostile.directory).wrong
