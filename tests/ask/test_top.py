"""What matters most."""

import numpy as np
import pytest

from evercrawl.ask.rank.top import largest, top_pages
from evercrawl.config import Config
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View

SITE, OTHER = "http://example.org", "http://other.example"


@pytest.fixture
def view(made):
    """A hub that three pages link to, on one site; on another a single page that only a link names."""
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/hub"))
    for name in "ab":
        made.visit(f"{SITE}/{name}", made.page(name, "/hub"))
    made.visit(f"{SITE}/hub", made.page("Hub"))
    made.visit(f"{SITE}/a", made.page("a", "/hub", text="another"))
    made.visit(f"{SITE}/hub", made.page("Hub"))
    made.seed(f"{OTHER}/x")
    made.stop()
    crawl = opened(made.directory)
    yield View(crawl, Config(), made.now + 3600.0)
    crawl.close()


def test_the_page_that_others_link_to_comes_first(view, made):
    first, *others = top_pages(view, 5)
    assert (first.rank, first.url, first.outcome) == (1, f"{SITE}/hub", "ok")
    assert (first.visits, first.visited_at) == (2, made.now)
    assert 0 < first.fresh < 1
    never = next(page for page in others if page.url == f"{OTHER}/x")
    assert (never.outcome, never.visits, never.visited_at, never.fresh, never.rate_per_s) == (None, 0, None, None, None)


def test_importance_is_in_shares_and_in_units_of_the_mean(view):
    pages = top_pages(view, 100)
    assert len(pages) == 5
    assert sum(page.importance for page in pages) == pytest.approx(1.0)
    assert sum(page.times_mean for page in pages) / len(pages) == pytest.approx(1.0)
    assert [page.importance for page in pages] == sorted((page.importance for page in pages), reverse=True)


def test_a_clock_that_was_set_back_makes_no_copy_younger_than_it_is(view, made):
    behind = View(view.partition, Config(), made.now - 1e6)
    assert behind.now == pytest.approx(made.now, abs=0.1)
    assert all(0 < page.fresh <= 1 for page in top_pages(behind, 5) if page.fresh is not None)


def test_a_crawl_that_knows_nothing_has_no_top(made):
    made.save()
    crawl = opened(made.directory)
    view = View(crawl, Config(), made.now)
    assert top_pages(view, 5) == []
    crawl.close()


def test_the_largest_are_those_of_a_full_sort():
    values = np.random.default_rng(1).integers(0, 20, 500).astype(np.float64)
    full = np.lexsort((np.arange(500), -values))
    for most in (1, 7, 499, 500, 501):
        assert largest(values, most).tolist() == full[:most].tolist()


def test_a_copy_of_the_first_instant_is_a_copy(made):
    """Instants are kept to a sixteenth of a second, so this one is kept as 0."""
    made.seed(f"{SITE}/")
    made.now -= 10.0
    made.visit(f"{SITE}/", made.page("Home"))
    made.stop()
    crawl = opened(made.directory)
    (page,) = top_pages(View(crawl, Config(), made.now + 60.0), 1)
    assert 0.9 < page.fresh < 1
    crawl.close()
