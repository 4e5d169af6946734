"""Pages that rise were planted, so what a crawl says of them can be held against the truth."""

import numpy as np
import pytest
from rising_web import RisingWeb

from evercrawl.ask.rank.rising import RisingPage, rising_pages
from evercrawl.ask.rank.top import top_pages
from evercrawl.config import Config
from evercrawl.model.view import View
from evercrawl.simulate.living.lives import relive

RISERS, LASTS_S = 6, 25.0


def web(seed: int, passing: int = 1) -> RisingWeb:
    return RisingWeb(
        seed, risers=RISERS, linkers=40, lasts_s=LASTS_S, passing=passing, hosts=6, pages=200, cycle_s=4.0,
        began_at=1_700_000_000.0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def lived() -> tuple[RisingWeb, list[RisingPage], list[str]]:
    made, rising, top = web(3), list[RisingPage](), list[str]()

    def look(partition) -> None:
        view = View(partition, Config(), 0.0)
        rising.extend(rising_pages(view, 3 * RISERS))
        top.extend(page.url for page in top_pages(view, RISERS))

    relive(made, 100.0, LASTS_S, look=look)
    return made, rising, top


def test_links_to_the_risers_grow_and_stay():
    made = web(2)
    for url in made.rising:
        counts = [sum(made.linking(url, made.began_at + at)) for at in np.linspace(0, 2 * LASTS_S, 5)]
        assert counts[0] == 0
        assert counts == sorted(counts)
        assert counts[-1] > 31


def test_the_pages_name_what_they_are_said_to_name():
    made = web(2, passing=0)
    url, at = made.rising[0], made.began_at + LASTS_S
    for number, links in enumerate(made.linking(url, at)):
        origin, _, path = made.urls[number].rpartition("example")
        answer = made.answer(f"{origin}example", path, {}, at)
        assert (f'"{url}"'.encode() in answer.body) == (links or url in made.links(made.urls[number]))


def test_most_pages_that_a_crawl_says_rise_are_those_planted(lived):
    made, rising, _ = lived
    first = [page.url for page in rising[:RISERS]]
    assert sum(url in made.rising for url in first) >= 2 / 3 * RISERS
    assert set(made.rising) <= {page.url for page in rising}


def test_importance_alone_does_not_tell_them(lived):
    made, _, top = lived
    assert sum(url in made.rising for url in top) <= 1 / 3 * RISERS


def test_what_rises_had_less_before(lived):
    _, rising, _ = lived
    assert all(page.short > page.long and page.came for page in rising)
    assert [page.score for page in rising] == sorted((page.score for page in rising), reverse=True)
