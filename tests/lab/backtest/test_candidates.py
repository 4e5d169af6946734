"""Candidates are the pages that are known, and between two looks the most promising of them."""

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.backtest.candidates import Candidates
from evercrawl.lab.backtest.discovery import Births
from evercrawl.lab.backtest.recorded import Recorded
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.backtest.spending import Spending
from evercrawl.lab.backtest.truth import truth
from evercrawl.lab.polling.conditions import Conditions
from evercrawl.lab.polling.polled import HeldColumns
from evercrawl.schedule.policies.cycle import Cycle

DAY_S = 86_400.0
FOLDER = np.array([0, 0, 1, 1, 2, 2], np.uint32)


@pytest.fixture(name="six")
def six_pages(written):
    """Return six pages, all known and last visited on days 5, 4, 3, 2, 1, 0; and what is kept of their visits."""
    history = written([*((0, page, "born", 1) for page in range(6)), (90, 0, "changed", 2)])
    world = Recorded(truth(history, ReplaySetting(0.1, since=0.0)), np.ones(6))
    held = HeldColumns(world, Cycle(), Conditions(), 10 * DAY_S, seed=1)
    held.visited_at[:] = np.arange(5, -1, -1) * DAY_S
    made = Candidates(Cycle(), held)
    made.add(np.arange(6))
    return made, held


def chosen(made, most=6):
    return made.choose(9 * DAY_S, most).rows.tolist()


def test_the_best_come_first(six):
    assert chosen(six[0]) == [5, 4, 3, 2, 1, 0]
    assert chosen(six[0], 2) == [5, 4]


def test_between_two_looks_there_are_the_most_promising_and_what_was_found_since(six):
    made, held = six
    made.look(9 * DAY_S, 10 * DAY_S, 2)
    assert chosen(made) == [5, 4]
    held.visited_at[0] = np.nan
    made.drop(np.array([0]))
    assert (chosen(made), made.known) == ([5, 4], 5)
    made.add(np.array([0, 3]))
    assert chosen(made) == [0, 5, 4], "3 was known before; 0 is new"
    assert made.known == 6
    made.look(9 * DAY_S, 10 * DAY_S, 6)
    assert chosen(made) == [0, 5, 4, 3, 2, 1]


def test_a_page_that_changed_brings_those_in_its_folder(six):
    made, _ = six
    made.look(9 * DAY_S, 10 * DAY_S, 1)
    made.drop(np.array([2]))
    made.stir(np.array([3]), FOLDER)
    assert chosen(made) == [5, 3], "2 is not known any more"
    made.stir(np.array([0]), FOLDER)
    assert chosen(made) == [5, 3, 1, 0]


def test_a_page_that_is_gone_is_never_visited(six):
    made, held = six
    made.drop(np.array([5, 1]))
    assert np.isnan(held.visited_at[[1, 5]]).all()
    assert chosen(made) == [4, 3, 2, 0]


def test_a_budget_comes_at_a_constant_rate_for_each_live_page(written):
    history = written([(0, 0, "born", 1), (50, 1, "born", 1), (80, 1, "gone", 0), (100, 0, "changed", 2)])
    pages = truth(history, ReplaySetting(0.5, since=0.0))
    spending = Spending(pages, Births(pages), 0.5)
    polls = spending.polls(0, len(spending))
    day = (spending.at - pages.start) / DAY_S
    assert polls.sum() == pytest.approx(0.5 * 130, abs=1)
    assert polls[day <= 50].sum() == pytest.approx(25, abs=1)
    assert polls[(day > 50) & (day <= 80)].sum() == pytest.approx(30, abs=1)


def test_what_is_not_wanted_is_lost_but_for_one_poll(written):
    history = written([*((0, page, "born", 1) for page in range(30)), (40, 0, "changed", 2)])
    pages = truth(history, ReplaySetting(0.5, since=0.0))
    spending, other = (Spending(pages, Births(pages), 0.5) for _ in range(2))
    spending.spend(0, 600, 0)
    other.spend(0, 600, int(other.polls(0, 600).sum()))
    assert other.polls(600, 640).sum() <= spending.polls(600, 640).sum() <= other.polls(600, 640).sum() + 1
    with pytest.raises(ConfigError, match="budget"):
        Spending(pages, Births(pages), 0.0)
    with pytest.raises(ConfigError, match=r"1e\+09 polls per page and day are too many to replay .* at most"):
        Spending(pages, Births(pages), 1e9)
