"""URLs of a host that only pages of other sites name: how many come in, and what they teach."""

from evercrawl.config import Config
from evercrawl.model.policy.foresight import Foresight
from evercrawl.model.rules.named_by_others import (
    DAY_S,
    FIRST,
    MOST_PORTS,
    OTHERS_PORTS,
    PER_GOOD,
    VAIN,
)
from evercrawl.store.journal.events import Visit

SITE, EVIL = "http://example.org", "http://evil.test/"


def waiting(made) -> list[str]:
    urls = made.state.urls.get_many(range(made.state.known.count))
    return [url for url in urls if url.startswith(f"{SITE}/j")]


def begin(made, **settings: object) -> None:
    """Read a site with twenty pages that wait, beside another."""
    made.config = Config(scope="any", **settings)
    made.limited(scope="any", **settings)
    made.seed(f"{SITE}/", EVIL)
    made.visit(f"{SITE}/", made.page("Home", *(f"{SITE}/{n}" for n in range(20))))


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
