"""Retired pages are asked for no more, until something new is said of them."""

import numpy as np
import pytest

from evercrawl.crawl.learn.retirees import Retirees
from evercrawl.model.rules.waits import wait_s
from evercrawl.types import RETIRED

SITE = "http://example.org"
DAY_S = 86_400.0
HOUR_S = 3600.0


@pytest.fixture
def retired(made):
    """A crawl that has given a page up that was there once, and one that never was."""
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/once", "/never", "/other"))
    made.visit(f"{SITE}/once", made.page("Once"))
    made.visit(f"{SITE}/other", made.page("Other", "/once"))
    for _ in range(RETIRED):
        made.now += 6 * DAY_S
        gone(made, "once")
        gone(made, "never")
    return made


def gone(made, path):
    """Visit a page that is gone, and return how many more wait then."""
    before = made.frontier.seen_count
    made.visit(f"{SITE}/{path}", b"no", 404)
    return made.frontier.seen_count - before


def slots_of(made):
    return {url: slot for slot, url in enumerate(made.state.urls.get_many(range(made.state.known.count)))}


def announced(made, path, ago_s):
    """Announce that a page changed so long ago, and return how many more wait then."""
    before = made.frontier.seen_count
    made.learner.admit_listing([f"{SITE}/{path}"], [made.now - ago_s], made.now)
    return made.frontier.seen_count - before


@pytest.mark.parametrize("path", ["once", "never"])
def test_a_retired_page_waits_no_more_and_once_it_is_dated_anew_it_does_again(retired, path):
    assert gone(retired, path) == 0
    retired.now += HOUR_S
    assert announced(retired, path, 2 * HOUR_S) == 0, "the visit came after that"
    assert announced(retired, path, 0.0) == 1
    assert announced(retired, path, -1.0) == 0, "it waits already"
    assert gone(retired, path) == 0
    assert announced(retired, path, -1.0) == 1


def test_where_it_is_gone_again_it_waits_twice_as_long_each_time(retired):
    waits, frontier, slots = [], retired.frontier, slots_of(retired)
    while frontier.take_first(frontier.hosts[0]) is not None:
        pass
    for path in ("", "other"):
        frontier.take_page(frontier.hosts[0], slots[f"{SITE}/{path}"])
    for _ in range(3):
        assert announced(retired, "once", -1.0) == 1
        waits.append(frontier.next_at() - retired.now)
        assert frontier.take_page(frontier.hosts[0], slots[f"{SITE}/once"])
        gone(retired, "once")
    assert waits == pytest.approx(wait_s(np.arange(RETIRED, RETIRED + 3), HOUR_S), rel=0.01)


def test_a_page_that_was_not_retired_is_not_queued_twice(retired):
    assert announced(retired, "other", -1.0) == 0


def test_who_links_to_it_anew_has_it_asked_for(retired):
    before = retired.frontier.seen_count
    retired.visit(f"{SITE}/other", retired.page("Other", "/once", text="it changed"))
    assert retired.frontier.seen_count - before == 1, "only itself: the link is an old one"
    retired.visit(f"{SITE}/other", retired.page("Other", "/once", "/never"))
    assert retired.frontier.seen_count - before == 3, "itself, and what it had not linked to"
    retired.visit(f"{SITE}/other", retired.page("Other", "/once", "/never", text="once more"))
    assert retired.frontier.seen_count - before == 4


def test_a_page_dated_before_it_was_found_gone_is_no_news(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home"))
    slots = np.zeros(1, np.uint32)
    announced(made, "", -5.0)
    assert made.columns(slots).neg_log_unchanged[0] > 0
    made.visit(f"{SITE}/", b"no", 404)
    announced(made, "", 5.0)
    assert made.columns(slots).neg_log_unchanged[0] == 0
    announced(made, "", -5.0)
    assert made.columns(slots).neg_log_unchanged[0] > 0


def test_a_crawl_that_goes_on_knows_who_is_retired(retired):
    slot = slots_of(retired)[f"{SITE}/once"]
    again = Retirees(retired.state, retired.frontier, HOUR_S)
    before = retired.frontier.seen_count
    again.announced(slot, retired.now + 1.0)
    assert retired.frontier.seen_count == before + 1
    again = Retirees(retired.state, retired.frontier, HOUR_S)
    again.queued(np.array([slot], np.uint32))
    again.announced(slot, retired.now + 1.0)
    assert retired.frontier.seen_count == before + 1, "who is named waits already"
