"""Which pages are read in a browser."""

from types import SimpleNamespace

import pytest

from evercrawl.crawl.rendering.worth import ALWAYS, AUTO, ONE_IN, Plain, RenderWorth
from evercrawl.store.journal.events import RENDER_FAILED, RENDER_GAINED, RENDER_VAIN
from evercrawl.store.render_gains import TRIED, RenderGains

SHELL = b"<body><SCRIPT src=a></SCRIPT>"
POOR = Plain.of(SHELL, 10, 1)
HERE, THERE, ELSEWHERE = range(3)  # hosts: the first two of one site


def worth_of(mode=AUTO, learned=()):
    """Return what decides, once the visits of a site's pages had these flags."""
    state = SimpleNamespace(render_gains=RenderGains(), site_of=[0, 0, 1])
    for flags in learned:
        state.render_gains.learn(0, flags)
    return RenderWorth(mode, state)


def wanted(worth, host, pages=4 * ONE_IN):
    return sum(worth.wanted(POOR, host, slot, 0) for slot in range(100, 100 + pages))


@pytest.mark.parametrize(
    ("body", "text_bytes", "poor"),
    [(SHELL, 0, True), (SHELL, 999, True), (SHELL, 1000, False), (b"<p>short, and whole", 19, False)],
)
def test_a_page_with_scripts_and_little_text_is_rendered(body, text_bytes, poor):
    page = Plain.of(body, text_bytes, 0)
    assert worth_of().wanted(page, HERE, 100, 0) == poor
    assert worth_of(ALWAYS).wanted(page, HERE, 100, 0)


def test_a_site_whose_pages_bring_nothing_is_tried_now_and_then():
    worth = worth_of(learned=[RENDER_VAIN] * TRIED)
    assert [wanted(worth, host) for host in (HERE, THERE, ELSEWHERE)] == [4, 4, 4 * ONE_IN]
    assert sum(worth.wanted(POOR, HERE, 100, visits) for visits in range(4 * ONE_IN)) == 4
    assert not worth.gained(HERE)


def test_renderings_that_gain_pay_for_others_that_do_not():
    learned = [RENDER_GAINED, *[RENDER_VAIN] * (2 * TRIED - 1)]
    assert wanted(worth_of(learned=learned), THERE) == 4 * ONE_IN
    assert worth_of(learned=learned).gained(THERE)
    assert wanted(worth_of(learned=[*learned, RENDER_VAIN]), THERE) == 4


def test_a_page_that_fails_says_less_of_its_site_than_one_that_brings_nothing():
    assert wanted(worth_of(learned=[RENDER_FAILED] * (4 * TRIED - 1)), HERE) == 4 * ONE_IN
    assert wanted(worth_of(learned=[RENDER_FAILED] * 4 * TRIED), HERE) == 4


@pytest.mark.parametrize(
    ("text", "links", "flag"), [(100, 0, RENDER_GAINED), (0, 2, RENDER_GAINED), (99, 1, RENDER_VAIN)]
)
def test_text_or_links_are_a_gain(text, links, flag):
    assert POOR.verdict(10 + text, 1 + links) == flag
    assert Plain(5000, 1, poor=False).verdict(5000 + text, 1 + links) == (flag if flag == RENDER_GAINED else 0)
