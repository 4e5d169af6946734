"""What young pages are thought to be worth in a crawl: the rules, with what the crawl knows put in."""

import numpy as np
import pytest

from evercrawl.config import SETTINGS
from evercrawl.importance.newcomers import RULES
from evercrawl.importance.push import Push
from evercrawl.model.columns import Columns
from evercrawl.model.newcomers import ALONE, Guess
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.policy.schemes import scheme_of, stored
from evercrawl.model.rates import priors_of
from evercrawl.store.journal.events import Switched

SITE = "http://example.org"
SCHEME = stored("aopic", 0.1, "exponential")


@pytest.fixture
def state(made):
    """Three pages read and four not, known since G = 1 and 5 of 9 by now, with 0.01 and 0.03 of cash."""
    made.partition.remember(Switched(made.now, SCHEME))
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b"))
    made.visit(f"{SITE}/a", made.page("A", "/c", "/d"))
    made.visit(f"{SITE}/b", made.page("B", "/e", "/f"))
    state = made.state
    state.born[:7] = 0.5, 0.5, 0.5, 1.0, 1.0, 5.0, 5.0
    state.table.cash[3:7] = 0.01, 0.01, 0.03, 0.03
    state.accounts.total = 9.0
    return state


def test_the_rules_are_those_of_the_library():
    assert set(SETTINGS["newcomers"].kind.metavar.split("|")) == {*RULES, ALONE}


def test_pooled_is_what_pages_never_read_earn(state):
    guess = Guess(state, scheme_of(SCHEME), "pooled")
    assert guess() == pytest.approx((2 * 0.01 + 2 * 0.03) / (2 * 8.0 + 2 * 4.0))
    state.table.cash[3:7] *= 2.0
    assert guess() == pytest.approx(0.08 / 24.0)  # until a fiftieth more is known
    state.visits += 1
    assert guess() == pytest.approx(0.16 / 24.0)


def test_floor_is_what_the_virtual_page_gives(state):
    assert Guess(state, scheme_of(SCHEME), "floor")() == pytest.approx(0.15 / 7)


def test_paper_is_what_those_introduced_lately_are_worth(state):
    scheme, born = scheme_of(SCHEME), np.array([5.0, 5.0])
    scheme.window.length = 4.0
    alone = scheme.importance(np.array([0.03, 0.03]), np.zeros(2), np.zeros(2), 9.0, None, born)
    assert Guess(state, scheme, "paper")() == pytest.approx(alone.mean())
    assert alone.mean() > 0.0


def test_where_nothing_goes_round_there_is_nothing_to_guess(state):
    assert Guess(state, Push(), "pooled")() is None
    assert Guess(state, scheme_of(SCHEME), ALONE)() is None


@pytest.mark.parametrize("rule", RULES)
def test_a_page_that_nothing_leads_to_yet_is_worth_the_guess(state, rule):
    scheme = scheme_of(SCHEME)
    state.table.cash[3] = 0.0
    state.born[3] = 9.0
    columns = Columns(state, scheme, priors_of(state), AnnouncedDates(state.accounts), in_bytes=False, newcomers=rule)
    found = columns(np.array([3], np.uint32)).importance
    assert found.tolist() == pytest.approx([Guess(state, scheme, rule)()])
    columns = Columns(state, scheme, priors_of(state), AnnouncedDates(state.accounts), in_bytes=False)
    assert columns(np.array([3], np.uint32)).importance.tolist() == [0.0]
