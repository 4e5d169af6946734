"""Of doubted hosts, the URLs that only other sites name wait behind the others: which of them, and until when."""

import numpy as np
import pytest

from evercrawl.model.rules.named_by_others import DOUBT

HOST, EVIL = "http://other.test", "http://evil.test/"


@pytest.fixture
def named(made):
    """A site with pages of its own that wait, of which another one names the front page and ten that are not there."""
    made.limited(scope="any")
    made.seed(f"{HOST}/a", EVIL)
    made.visit(f"{HOST}/a", made.page("A", *(f"{HOST}/own{n}" for n in range(9))))
    made.visit(EVIL, made.page("evil", *(f"{HOST}/j{n}" for n in range(10)), f"{HOST}/"))
    return made


def doubt(made):
    for n in range(DOUBT):
        made.visit(f"{HOST}/j{n}", b"nothing here", 404)


def held(made):
    """Return which pages wait behind the others of their host, by the end of their URLs."""
    slots = made.frontier.held.among(np.arange(made.state.known.count, dtype=np.uint32))
    return {url.removeprefix(HOST) for url in made.state.urls.get_many(slots)}


def test_those_that_wait_do_so_behind_the_others_except_the_front_page(named):
    assert held(named) == set()
    doubt(named)
    assert held(named) == {"/j6", "/j7", "/j8", "/j9"}
    assert named.frontier.new_count == named.state.known.count  # none is lost; visits by hand take none from the queues


def test_further_ones_do_so_too_except_a_front_page(named):
    doubt(named)
    named.visit(
        EVIL, named.page("evil anew", f"{HOST}/j20", f"{HOST}/j7", "https://other.test/", "http://third.test/x")
    )
    assert held(named) == {"/j6", "/j7", "/j8", "/j9", "/j20"}


@pytest.mark.parametrize("late", [True, False])
def test_what_its_own_pages_name_too_does_not(named, late):
    if late:
        doubt(named)
    named.visit(f"{HOST}/own0", named.page("Own", f"{HOST}/j7", f"{HOST}/j20"))
    named.visit(EVIL, named.page("evil anew", f"{HOST}/j20", f"{HOST}/j8"))
    if not late:
        doubt(named)
    assert held(named) == {"/j6", "/j8", "/j9"}


@pytest.mark.parametrize("late", [True, False])
def test_what_its_sitemaps_list_too_does_not(named, late):
    if late:
        doubt(named)
    named.learner.admit_listing([f"{HOST}/j7", f"{HOST}/listed"], [None, None], named.now)
    if not late:
        doubt(named)
    assert held(named) == {"/j6", "/j8", "/j9"}


def test_all_are_released_when_as_many_were_pages(named):
    doubt(named)
    waiting = named.frontier.new_count
    for n in range(DOUBT - 1):
        named.visit(EVIL, named.page(f"evil {n}", f"{HOST}/good{n}"))
        named.visit(f"{HOST}/good{n}", named.page(f"a page {n}"))
    assert held(named) >= {"/j6", "/j7", "/j8", "/j9"}
    named.visit(f"{HOST}/j6", named.page("it is there after all"))
    assert held(named) == set()
    assert named.frontier.new_count == waiting + DOUBT - 1


def test_pages_that_it_names_itself_end_no_doubt(named):
    others = [f"{HOST}/both{n}" for n in range(DOUBT)]
    named.visit(EVIL, named.page("evil anew", *others, *(f"{HOST}/j{n}" for n in range(10))))
    named.visit(f"{HOST}/own0", named.page("Own", *others))
    for url in others:
        named.visit(url, named.page(f"the text of {url}"))
    doubt(named)
    assert held(named) == {"/j6", "/j7", "/j8", "/j9"}
