"""URLs of a host that only pages of other sites name: how many come in, and what they teach."""

import pytest

from evercrawl.config import Config
from evercrawl.model.policy.foresight import Foresight
from evercrawl.model.rules.named_by_others import (
    DAY_S,
    DOUBT,
    FIRST,
    MOST_PORTS,
    OTHERS_PORTS,
    PER_GOOD,
    VAIN,
    NamedByOthers,
)
from evercrawl.parse.sites import site_rules
from evercrawl.store.journal.events import Visit
from evercrawl.store.post.messages import NamedUrl
from evercrawl.store.post.ownership import Share
from tests.helpers.hand_made import HandMade

SITE, EVIL = "http://example.org", "http://evil.test/"


def waiting(made) -> list[str]:
    urls = made.state.urls.get_many(range(made.state.known.count))
    return [url for url in urls if url.startswith(f"{SITE}/j")]


def begin(made, **settings: object) -> NamedByOthers:
    """Read a site with twenty pages that wait, beside another; return what counts the URLs that others name."""
    made.config = Config(scope="any", **settings)
    others = made.limited(scope="any", **settings).others
    made.seed(f"{SITE}/", EVIL)
    made.visit(f"{SITE}/", made.page("Home", *(f"{SITE}/{n}" for n in range(20))))
    return others


def name(made, first: int, count: int = 900) -> None:
    made.visit(EVIL, made.page(f"evil {first}", *(f"{SITE}/j{n}" for n in range(first, first + count))))


def test_a_few_wait_and_more_for_each_that_was_a_page(made):
    begin(made)
    name(made, 0)
    assert len(waiting(made)) == FIRST
    for n in range(3):
        made.visit(f"{SITE}/j{n}", made.page(f"a page {n}"))
    name(made, 1000)
    assert len(waiting(made)) - 3 == FIRST + 3 * PER_GOOD
    made.visit(f"{SITE}/0", made.page("0", *(f"{SITE}/own{n}" for n in range(900))))
    assert made.state.find_one(f"{SITE}/own899") < made.state.known.count  # its own pages may name more


def test_more_may_wait_while_no_url_does_that_its_own_pages_name(made):
    made.limited(scope="any")
    made.seed(f"{SITE}/", EVIL)
    made.visit(f"{SITE}/", made.page("Home"))
    name(made, 0, 1200)
    assert len(waiting(made)) == 1000


def test_a_tenth_of_the_backlog_is_the_most(made):
    begin(made, max_backlog_per_host=2_100)
    name(made, 0)
    for n in range(5):
        made.visit(f"{SITE}/j{n}", made.page(f"a page {n}"))
    name(made, 1000)
    assert len(waiting(made)) - 5 == 210


def test_none_comes_in_once_too_many_led_to_nothing_and_each_day_half_of_that_is_forgotten(made):
    begin(made)
    name(made, 0)
    for n in range(VAIN):
        made.visit(f"{SITE}/j{n}", b"nothing here", 404)
    name(made, 1000)
    assert len(waiting(made)) == FIRST
    made.visit(f"{SITE}/0", made.page("0", f"{SITE}/own"))
    assert made.state.find_one(f"{SITE}/own") < made.state.known.count
    made.now += DAY_S
    made.visit(f"{SITE}/1", made.page("1"))
    name(made, 3000)
    assert len(waiting(made)) == VAIN + FIRST


def test_a_host_is_doubted_once_most_led_to_nothing_and_until_that_is_forgotten(made):
    others = begin(made)
    name(made, 0)
    host = made.state.hosts.find("example.org")
    for n in range(DOUBT):
        assert not others.doubted(host)
        made.visit(f"{SITE}/j{n}", b"nothing here", 404)
    assert others.doubted(host)
    for n in range(20, 20 + DOUBT):
        made.visit(f"{SITE}/j{n}", made.page(f"a page {n}"))
    assert not others.doubted(host)
    made.visit(f"{SITE}/j50", b"nothing here", 404)
    assert others.doubted(host)
    made.now += DAY_S
    made.visit(f"{SITE}/1", made.page("1"))
    assert not others.doubted(host)


@pytest.mark.parametrize(("status", "doubted"), [(200, False), (404, True)])
def test_a_redirect_led_to_something_if_what_it_made_known_is_a_page(made, status, doubted):
    others = begin(made)
    name(made, 0)
    for n in range(DOUBT + 1):
        made.visit(f"{SITE}/j{n}", b"", 301, location=f"/moved{n}")
    host = made.state.hosts.find("example.org")
    assert others.doubted(host)
    for n in range(DOUBT):
        made.visit(f"{SITE}/moved{n}", made.page(f"a page that moved {n}"), status)
    assert others.doubted(host) == doubted


def test_what_is_unread_and_named_by_others_alone_is_known_after_a_restart_too(made):
    begin(made)
    name(made, 0, 20)
    made.visit(f"{SITE}/j3", b"nothing here", 404)
    for others in (made.limited(scope="any").others, NamedByOthers(made.state, 10_000)):
        urls = made.state.urls.get_many([n for n in range(made.state.known.count) if others.named(n)])
        assert urls == [f"{SITE}/j{n}" for n in range(20) if n != 3]


def test_a_restart_counts_what_waits_and_what_was_a_page(made):
    begin(made)
    name(made, 0)
    made.visit(f"{SITE}/j0", made.page("a page"))
    made.limited(scope="any")
    name(made, 1000)
    assert len(waiting(made)) - 1 == FIRST + PER_GOOD


def test_others_name_few_ports_of_a_host_and_its_own_pages_some(made):
    begin(made)
    made.visit(EVIL, made.page("evil", *(f"{SITE}:{port}/" for port in range(2000, 2100)), f"{SITE}:2000/b"))
    urls = made.state.urls.get_many(range(made.state.known.count))
    assert [url for url in urls if ":20" in url] == [f"{SITE}:{2000 + n}/" for n in range(OTHERS_PORTS)] + [
        f"{SITE}:2000/b"
    ]
    made.visit(f"{SITE}/1", made.page("own", *(f"{SITE}:{port}/" for port in range(3000, 3100))))
    urls = made.state.urls.get_many(range(made.state.known.count))
    assert sum(":3" in url for url in urls) == MOST_PORTS - OTHERS_PORTS
    made.seed(f"{SITE}:9999/")
    assert made.state.find_one(f"{SITE}:9999/") < made.state.known.count


def test_what_others_name_and_is_not_there_teaches_nothing_of_the_sites_own_pages(made):
    begin(made)
    name(made, 0)
    foresight = Foresight(made.state, 1.0)
    before = foresight.prospects.state()["groups"].tolist()
    made.visit(f"{SITE}/j0", b"nothing here", 404)
    made.visit(f"{SITE}/0", b"nothing here", 404)
    first, second = [event for _, _, event in made.partition.journal.replay()][-2:]
    assert isinstance(first, Visit)
    assert isinstance(second, Visit)
    foresight.take(first, f"{SITE}/j0")
    assert foresight.prospects.state()["groups"].tolist() == before
    foresight.take(second, f"{SITE}/0")
    assert foresight.prospects.state()["groups"].tolist() != before


def test_what_a_sitemap_of_any_length_lists_is_not_named_by_others(made):
    """Eight URLs begin with the importance of those that another partition names."""
    begin(made)
    for first in range(0, 8 * VAIN, 8):
        urls = [f"{SITE}/listed{n}" for n in range(first, first + 8)]
        assert made.learner.admit_listing(urls, [None] * 8, made.now)
        made.visit(urls[0], b"nothing here", 404)
    name(made, 0)
    assert len(waiting(made)) == FIRST


@pytest.fixture
def part(tmp_path):
    """Partition 0 of two."""
    crawl = HandMade(tmp_path / "part-0", share=Share(0, 2, "c", site_rules()))
    crawl.limited(scope="any")
    yield crawl
    crawl.partition.close()


def site_of(part, number: int) -> str:
    """Return a site of a partition."""
    return next(f"http://{i}.test" for i in range(99) if part.state.post.ownership.of(f"{i}.test") == number)


def test_a_partition_counts_what_others_name_again_after_a_restart(part):
    site = site_of(part, 0)
    part.seed(f"{site}/")
    part.visit(f"{site}/", part.page("Home", *(f"{site}/{n}" for n in range(20))))

    def sent(first: int) -> int:
        part.learner.admit_named([NamedUrl(f"{site}/j{n}", 3) for n in range(first, first + 300)], part.now)
        urls = part.state.urls.get_many(range(part.state.known.count))
        return sum("/j" in url for url in urls)

    assert sent(0) == FIRST
    part.visit(f"{site}/j0", part.page("a page"))
    part.limited(scope="any")
    assert sent(300) == FIRST + 1 + PER_GOOD


def test_a_partition_names_to_another_all_that_its_pages_link_to(part):
    """Here, they would wait for ever, and there, they are counted."""
    evil, other = site_of(part, 0), site_of(part, 1)
    part.limited(scope="any", max_pages_per_link=0)
    part.seed(f"{evil}/")
    links = [f"{other}/{n}" for n in range(2000)]
    part.visit(f"{evil}/", part.page("Home", f"{other}/"))
    part.visit(f"{evil}/", part.page("Home", *links[:1000]))
    part.visit(f"{evil}/", part.page("Home", *links[1000:]))
    assert all(slot < part.state.known.count for slot in part.state.find(links).tolist())
