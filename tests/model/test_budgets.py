"""Budgets: what comes in of hosts and sites, what is refused, and how it comes in later."""

import pytest

from evercrawl.config import Config
from evercrawl.model.rules.budgets import PER_OWN
from evercrawl.store.journal.events import HAS_LINKS, KEEP, PARTIAL, UNCHANGED, Visit
from evercrawl.types import NO_SLOT

SITE = "http://example.org"


def known(made, url: str) -> bool:
    return int(made.state.find([url])[0]) != NO_SLOT


def paths(count: int, first: int = 0, site: str = SITE) -> list[str]:
    return [f"{site}/{number}" for number in range(first, first + count)]


def last(made) -> Visit:
    return [event for _, _, event in made.partition.journal.replay()][-1]


def test_a_host_has_no_more_unread_urls_than_its_backlog(begun):
    budgets = begun.limited(max_backlog_per_host=50)
    begun.visit(f"{SITE}/", begun.page("Home", *paths(80)))
    assert begun.state.known.count == 50  # the page that is being read waits until it is remembered
    assert budgets.refused == {"max_backlog_per_host": 31}
    assert begun.state.notes["refused_max_backlog_per_host"] == 31
    assert last(begun).flags & PARTIAL
    for path in paths(3):
        begun.visit(path, begun.page(path))
    begun.visit(f"{SITE}/3", begun.page("3", *paths(500, 1000)))
    assert begun.state.known.count == 4 + 4 * PER_OWN  # four that were read, and a hundred to wait for each


def test_nought_is_any_number(begun):
    begun.limited(max_backlog_per_host=0, max_pages_per_link=0, scope="any")
    begun.visit(f"{SITE}/", begun.page("Home", *paths(300), *paths(300, site="http://b.example")))
    assert begun.state.known.count == 601


def test_what_was_refused_comes_in_when_the_page_is_read_again(begun):
    begun.limited(max_backlog_per_host=4)
    body = begun.page("Home", *paths(8))
    begun.visit(f"{SITE}/", body, etag='"1"')
    for path in paths(3):
        begun.visit(path, begun.page(path))
    begun.visit(f"{SITE}/", body, etag='"1"')
    again = last(begun)
    assert again.flags & (UNCHANGED | HAS_LINKS | KEEP | PARTIAL) == UNCHANGED | HAS_LINKS
    assert again.found.urls == paths(5, 3)
    begun.visit(f"{SITE}/", body, etag='"1"')
    assert last(begun).flags & KEEP
    begun.stop()
    from evercrawl.ask.verify.verify import verify

    assert verify(begun.directory).fine


def test_a_site_without_a_seed_has_a_budget_for_each_site_that_links_to_it(made):
    made.config = Config(scope="any")
    budgets = made.limited(scope="any", max_pages_per_link=10)
    seeds = [f"http://{name}.example/" for name in "abc"]
    made.seed(*seeds)
    made.visit(seeds[0], made.page("a", *paths(40, site="http://www.other.example")))
    assert sum(known(made, url) for url in paths(40, site="http://www.other.example")) == 20
    made.visit(seeds[1], made.page("b", *paths(40, 100, "http://blog.other.example")))  # the same site
    assert sum(known(made, url) for url in paths(40, 100, "http://blog.other.example")) == 10
    made.visit(seeds[2], made.page("c", "http://www.other.example/0"))  # a link to what is known counts as well
    made.visit("http://www.other.example/0", made.page("other", *paths(40, 200, "http://www.other.example")))
    assert sum(known(made, url) for url in paths(40, 200, "http://www.other.example")) == 10
    made.visit("http://www.other.example/1", made.page("more", *paths(90, 300, "http://a.example")))
    assert sum(known(made, url) for url in paths(90, 300, "http://a.example")) == 90  # a seed's
    assert budgets.refused == {"max_pages_per_link": 20 + 30 + 30}


def test_names_below_a_domain_cost_nothing_and_bring_nothing(made):
    made.limited(scope="any", max_pages_per_link=10)
    made.seed("http://a.example/")
    names = [f"http://n{number}.trap.example/" for number in range(100)]
    made.visit("http://a.example/", made.page("a", *names))
    for name in names[:20]:
        made.visit(name, made.page(name, *(f"http://m{i}.{name[7:-1]}/" for i in range(30))))
    assert made.state.known.count == 1 + 20


@pytest.mark.parametrize("restart_after", range(8))
def test_a_restart_counts_what_the_crawl_had_counted(made, tmp_path, restart_after):
    """Whenever it comes, the same links come in after it, and the same are refused."""
    other = type(made)(tmp_path / "other")
    limits = {"scope": "any", "max_pages_per_link": 10, "max_backlog_per_host": 30}
    budgets = [crawl.limited(**limits) for crawl in (made, other)]
    made.seed("http://a.example/", "http://b.example/")
    other.seed("http://a.example/", "http://b.example/")
    for number, (url, links, status, more) in enumerate(STEPS):
        if number == restart_after:
            before, budgets[1] = budgets[1].refused, other.limited(**limits)
        for crawl in (made, other):
            crawl.visit(url, crawl.page(url, *links), status, **more)
    urls = [crawl.state.urls.get_many(range(crawl.state.known.count)) for crawl in (made, other)]
    other.partition.close()
    assert urls[0] == urls[1]
    assert before + budgets[1].refused == budgets[0].refused
    assert budgets[0].refused.keys() == {"max_pages_per_link", "max_backlog_per_host"}


STEPS = [
    ("http://a.example/", [*paths(40), *paths(5, site="http://c.example")], 200, {}),
    ("http://b.example/", [*paths(12, 100), *paths(9, 50, "http://c.example")], 200, {}),
    (f"{SITE}/1", ["http://b.example/x"], 200, {}),
    (f"{SITE}/2", [], 404, {}),
    (f"{SITE}/3", [], 200, {}),
    (f"{SITE}/3", [], 301, {"location": "/4"}),
    (
        "http://a.example/",
        [*paths(60, 60), *paths(99, 60, "http://c.example"), *paths(50, site="http://a.example")],
        200,
        {},
    ),
    (f"{SITE}/4", [*paths(300, 500), *paths(40, 500, "http://b.example"), *paths(9, 500, "http://c.example")], 200, {}),
]


def test_a_seed_comes_in_whatever_is_full(begun):
    begun.limited(max_backlog_per_host=1)
    begun.seed(*paths(20))
    assert begun.state.known.count == 21


def test_a_sitemap_is_told_that_not_all_came_in(begun):
    begun.limited(max_backlog_per_host=10)
    assert begun.learner.admit_listing(paths(5), [None] * 5, begun.now)
    assert not begun.learner.admit_listing(paths(20, 5), [None] * 20, begun.now)
    assert begun.state.known.count == 10
