"""Which pages are read in a browser."""

import pytest

from evercrawl.crawl.rendering.worth import ALWAYS, AUTO, ONE_IN, TRIED, RenderWorth

SHELL = b"<body><SCRIPT src=a></SCRIPT>"


def rendered(worth, host, times=1, *, text=0, links=0):
    for _ in range(times):
        worth.learn(host, text_bytes=10, links=1, rendered_bytes=10 + text, rendered_links=1 + links)


@pytest.mark.parametrize(
    ("body", "text_bytes", "wanted"),
    [(SHELL, 0, True), (SHELL, 999, True), (SHELL, 1000, False), (b"<p>short, and whole", 19, False)],
)
def test_a_page_with_scripts_and_little_text_is_rendered(body, text_bytes, wanted):
    assert RenderWorth(AUTO).wanted("a.example", body, text_bytes) == wanted
    assert RenderWorth(ALWAYS).wanted("a.example", body, text_bytes)


def test_a_host_whose_pages_bring_nothing_is_tried_now_and_then():
    worth = RenderWorth(AUTO)
    rendered(worth, "a.example", TRIED)
    tried = [worth.wanted("a.example", SHELL, 10) for _ in range(4 * ONE_IN)]
    assert tried.count(True) == 4
    assert worth.wanted("b.example", SHELL, 10)
    assert not worth.pays("a.example")


@pytest.mark.parametrize("gain", [{"text": 100}, {"links": 2}])
def test_one_that_gains_pays_for_others_that_do_not(gain):
    worth = RenderWorth(AUTO)
    rendered(worth, "a.example", 1, **gain)
    rendered(worth, "a.example", 2 * TRIED - 1)
    assert worth.wanted("a.example", SHELL, 10)
    assert worth.pays("a.example")
    rendered(worth, "a.example", 1)
    assert not worth.wanted("a.example", SHELL, 10)
