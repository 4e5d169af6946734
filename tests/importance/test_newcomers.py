"""Newcomers: what they are thought to be worth, and whom not to ask."""

import numpy as np
import pytest

from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.base import Account, Links
from evercrawl.importance.ledger.estimates import shares
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.newcomers import RULES, Newcomers, first_history, guess, introduced, pooled
from evercrawl.importance.windows.exponential import Exponential
from evercrawl.importance.windows.fixed import Fixed


def test_every_rule_makes_a_guess():
    known = Newcomers(cash=0.02, ages=40.0, introduced=0.003, pages=50)
    assert {rule: guess(rule, known, tax=0.2) for rule in RULES} == pytest.approx(
        {"pooled": 0.0005, "paper": 0.003, "floor": 0.004}
    )


def test_nobody_known_is_no_error():
    assert pooled(0.0, 0.0) == introduced(np.array([0.5]), np.array([1.0]), 9.0, 4.0) == 0.0
    assert first_history(np.array([]), 4.0) == 0.0


def test_only_pages_of_the_last_window_are_asked():
    assert introduced(np.array([0.5, 0.1, 0.3]), np.array([4.9, 5.0, 9.0]), 9.0, 4.0) == pytest.approx(0.2)


def test_the_history_of_the_paper_is_the_guess_at_a_page_of_no_age():
    """T p as history and no cash, divided by T: what the window says of a page that has only just become known."""
    recent = np.array([0.01, 0.03])
    found = AOPIC(window=Fixed(4.0)).importance(
        np.zeros(1), np.zeros(1), np.zeros(1), 50.0, born=np.array([50.0]), guess=float(recent.mean())
    )
    assert found[0] * 4.0 == pytest.approx(first_history(recent, 4.0))


def test_a_page_never_read_is_worth_its_cash_and_the_guess():
    """Half of the window T = 4 it was there, and gained 0.02 in it; for the other half there is the guess."""
    found = AOPIC(window=Fixed(4.0)).importance(
        np.array([0.02]), np.zeros(1), np.zeros(1), 50.0, born=np.array([48.0]), guess=0.001
    )
    assert found == pytest.approx(0.02 / 4 + 0.001 / 2)


def test_a_young_page_is_worth_the_guess_until_it_has_shown_more():
    aopic = AOPIC(window=Exponential(4.0))
    page, found = Account(0.0, 0.0, born=10.0), []
    for clock in (10.5, 12.0, 20.0, 60.0):
        gained = 0.01 * (clock - (page.mark or page.born))
        moved = aopic.visit(page._replace(cash=gained), None, Links(), clock - gained, same=False)
        page = Account(0.0, moved.history, moved.mark, moved.kept, 10.0)
        columns = (np.array([number]) for number in (0.0, page.history, page.mark))
        found += aopic.importance(*columns, page.mark, np.array([page.kept]), np.array([10.0]), guess=0.002).tolist()
    assert found == sorted(found)
    assert found[0] < 0.004
    assert found[-1] == pytest.approx(0.01, rel=1e-3)


def test_first_visits_are_of_survivors():
    """Greedy visits find those whose cash came fast; those that wait are not heard."""
    random = np.random.default_rng(5)
    rates, cash, born = 1e-4 * random.pareto(1.1, 2000), np.zeros(2000), np.zeros(2000)
    waiting, first = np.ones(2000, np.bool_), []
    for clock in range(1, 201):
        cash += rates
        chosen = int(np.where(waiting, cash, -1.0).argmax())
        first.append(cash[chosen] / (clock - born[chosen]))
        waiting[chosen] = False
    left = pooled(float(cash[waiting].sum()), float((200 - born[waiting]).sum()))
    assert left == pytest.approx(rates[waiting].mean())
    assert np.mean(first) > 5 * rates[waiting].mean()


def test_a_ledger_judges_newcomers_by_the_rule_that_is_asked_for():
    """A page that was never read has only what came since it is known; a guess fills the rest of the window."""
    ledger = Ledger(AOPIC(0.15, 1.0, Exponential(50.0)))
    for page in range(20):
        ledger.add(page, cash=1 / 20)
    for turn in range(60):
        ledger.visit(turn % 20, [(turn * 7 + 1) % 20])
    ledger.visit(3, ["new", 4])
    alone = shares(ledger)
    said = {rule: shares(ledger, newcomers=rule) for rule in RULES}
    for found in said.values():
        assert sum(found.values()) == pytest.approx(1.0)
        assert found["new"] != pytest.approx(alone["new"], rel=1e-3)
    assert len({round(found["new"], 9) for found in said.values()}) == len(RULES)
