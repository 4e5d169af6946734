"""Which sites an archive should keep."""

import itertools

import numpy as np
import pytest

from evercrawl.ask.rank.select import UNITS, SelectableSites, most_for, select, sites_of
from evercrawl.config import Config
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View


def sites(importance, pages=None, sizes=None) -> SelectableSites:
    n = len(importance)
    pages = np.ones(n, int) if pages is None else np.array(pages)
    sizes = np.ones(n) if sizes is None else np.array(sizes, float)
    names = [f"s{i}.example" for i in range(n)]
    return SelectableSites(names, np.array(importance, float), np.zeros(n, int), np.zeros(n), pages, sizes)


def test_of_sites_the_most_important_are_kept():
    found = select(sites([0.1, 0.4, 0.2, 0.3]), 2)
    assert [(site.rank, site.site) for site in found.sites] == [(1, "s1.example"), (2, "s3.example")]
    assert (found.of, found.spent, found.importance) == (4, 2, pytest.approx(0.7))


@pytest.mark.parametrize(
    ("by", "names"), [("importance", ["a", "b"]), ("linking", ["c", "a"]), ("of_pages", ["d", "c"])]
)
def test_another_measure_may_decide(by, names):
    there = SelectableSites(["a", "b", "c", "d"], np.array([0.4, 0.3, 0.2, 0.1]), np.array([3, 2, 9, 0]),
                  np.array([0.1, 0.1, 0.3, 0.5]), np.ones(4, int), np.ones(4))  # fmt: skip
    found = select(there, 2, by=by)
    assert [(site.rank, site.site) for site in found.sites] == list(enumerate(names, 1))
    assert found.importance == pytest.approx(sum(site.importance for site in found.sites))


def test_of_pages_and_bytes_those_are_kept_that_bring_most_for_what_they_take():
    there = sites([0.5, 0.3, 0.2], pages=[100, 10, 8], sizes=[20.0, 900.0, 30.0])
    assert [site.site for site in select(there, 20, "pages").sites] == ["s1.example", "s2.example"]
    found = select(there, 60, "bytes")
    assert [site.site for site in found.sites] == ["s0.example", "s2.example"]
    assert found.spent == 50


def test_a_site_is_kept_whole_or_not_at_all_and_smaller_ones_still_fit():
    found = select(sites([0.7, 0.2, 0.1], pages=[50, 6, 5]), 11, "pages")
    assert [(site.rank, site.pages) for site in found.sites] == [(2, 6), (3, 5)]


@pytest.mark.parametrize("unit", UNITS)
def test_all_is_kept_where_there_is_room_and_nothing_where_nothing_fits(unit):
    there = sites([0.6, 0.4], pages=[3, 4], sizes=[3.0, 4.0])
    assert len(select(there, 100, unit).sites) == 2
    assert len(select(sites([0.6], pages=[300], sizes=[300.0]), 1, unit).sites) == (unit == "sites")
    assert select(sites([]), 5, unit).sites == []


def test_what_is_taken_is_never_less_than_half_of_the_best_and_never_too_much():
    draw = np.random.default_rng(1)
    for _ in range(60):
        values, costs = draw.random(9), draw.integers(1, 20, 9).astype(float)
        budget = float(draw.integers(5, 60))
        taken = most_for(values, costs, budget)
        choices = [np.array(bits, bool) for bits in itertools.product((0, 1), repeat=9)]
        best = max(values[of].sum() for of in choices if costs[of].sum() <= budget)
        assert costs[taken].sum() <= budget
        assert values[taken].sum() >= best / 2


def test_what_has_no_importance_is_not_kept():
    assert [site.site for site in select(sites([1.0, 0.0]), 2).sites] == ["s0.example"]


def test_pages_and_sizes_are_those_that_there_are_to_keep(made):
    """Of a.example two pages are held and one was never read; what is gone or only leads elsewhere takes no room."""
    made.scope.add_root("b.example")
    made.seed("http://a.example/")
    links = ("/big", "/later", "/gone", "/moved", "/copy", "http://b.example/", "http://b.example/x")
    made.visit("http://a.example/", made.page("Home", *links))
    made.visit("http://a.example/big", made.page("Big", text="word " * 400))
    made.visit("http://a.example/gone", b"no", 404)
    made.visit("http://a.example/moved", b"", 301, location="/big")
    made.visit("http://a.example/copy", made.page("Big", text="word " * 400))
    made.visit("http://b.example/", b"", 0, error="timeout")
    made.stop()
    crawl = opened(made.directory)
    found = sites_of(View(crawl, Config(), made.now))
    crawl.close()
    held = [len(made.page("Home", *links)), len(made.page("Big", text="word " * 400))]
    assert found.names == ["a.example", "b.example"]
    assert found.pages.tolist() == [3, 2]
    assert found.size_bytes.tolist() == pytest.approx([3 * np.mean(held), 2 * np.mean(held)])
    assert found.linking.tolist() == [0, 1]
