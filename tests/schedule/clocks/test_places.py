"""Where a value is a place in an order and no worth, a policy says so in words, and so does `why`."""

import numpy as np
import pytest

from evercrawl.ask.why.explanation import Worth
from evercrawl.cli.verbs.asking.why import value_in_words
from evercrawl.model.policy.policies import policy_of
from evercrawl.schedule import Pages
from evercrawl.schedule.base import Context

HOUR_S = 3600.0


def page(visited_at: float) -> Pages:
    one = np.ones(1)
    return Pages(np.zeros(1, np.uint32), visited_at * one, one, one, one, one, one, one, 0 * one)


@pytest.mark.parametrize("name", ["breadth_first", "cycle", "in_degree", "opic", "pagerank", "larger_sites"])
def test_pages_that_were_read_stand_after_all_that_were_not(name):
    assert policy_of(name).place(page(0.0), Context(3 * HOUR_S)) == "after all pages never read"
    new = policy_of(name).place(page(np.nan), Context(3 * HOUR_S))
    assert new.startswith("before all pages that were read") == (name in ("breadth_first", "cycle"))


def test_a_page_that_chile_leaves_alone_stands_after_all_others():
    policy = policy_of("chile", ["soonest=2h"])
    assert policy.place(page(0.0), Context(HOUR_S)) == "after all pages not visited within soonest"
    assert policy.place(page(0.0), Context(3 * HOUR_S)) == ""


def test_why_says_it_and_how_long_the_page_has_waited():
    worth = Worth("cycle", "visit", -8.59e9, None, 1.0, None, 0.0, 0, 0, place="after all", waited_s=3 * HOUR_S)
    assert value_in_words(worth) == "after all; waited 3 hours, by cycle"
