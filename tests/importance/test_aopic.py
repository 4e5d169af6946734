"""AOPIC: what a visit moves and what of it counts."""

import numpy as np
import pytest

from evercrawl import catalog, importance
from evercrawl.importance import offline
from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.base import Account, Links
from evercrawl.importance.ledger.estimates import shares
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.offline import Graph
from evercrawl.importance.push import Push
from evercrawl.importance.windows import Pasts
from evercrawl.importance.windows.exponential import Exponential
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.two_windows import TwoWindows


def test_it_is_found_by_name():
    assert catalog.pick(importance, importance.Importance, "aopic") is AOPIC  # type: ignore[type-abstract]


def test_nothing_is_taken_back():
    moved = AOPIC(tax=0.5).visit(Account(1.0, 7.0, 1.0), Links(0, 1, 1), Links(0, 2, 2), 1.0, same=False)
    assert (moved.moved, moved.external, moved.back_external, moved.back_internal) == (1.0, 0.25, 0, 0)


def test_the_first_interval_is_a_window_at_most():
    late = AOPIC(window=Interpolation(4.0)).visit(Account(0.5, 0.0), None, Links(), 99.5, same=False)
    assert (late.history, late.mark) == (0.5, 100.0)
    now = AOPIC(window=Interpolation(4.0)).importance(np.array([0.5]), np.zeros(1), np.zeros(1), 99.5)
    assert now.tolist() == [0.125]


def test_a_visit_changes_no_estimate():
    """The estimate before it, at the clock that it sets, is the history after it."""
    aopic = AOPIC(window=Interpolation(4.0))
    for total, mark in ((3.0, 2.0), (9.0, 2.0), (9.0, 8.75)):
        after = aopic.visit(Account(0.5, 1.5, mark), None, Links(), total, same=False)
        now = aopic.importance(np.array([0.5]), np.array([1.5]), np.array([mark]), after.mark)
        assert now[0] == pytest.approx(after.history / 4.0)


def test_a_mark_rounded_up_does_no_harm():
    """Marks are kept with fewer digits than the clock."""
    aopic = AOPIC(window=Interpolation(4.0))
    assert aopic.visit(Account(0.0, 1.5, 7.0000001), None, Links(), 7.0, same=True).history == 1.5
    assert aopic.importance(np.zeros(1), np.array([1.5]), np.array([7.0000001]), 7.0).tolist() == [0.375]


def test_steady_inflow_is_weighed_alike_however_often_it_is_fetched():
    aopic = AOPIC(window=Interpolation(4.0))
    found = []
    for step in (0.25, 1.0, 3.0, 6.0):
        history, mark = 0.0, 0.0
        for count in range(1, 500):
            before = Account(0.1 * step, history, mark)
            moved = aopic.visit(before, None, Links(), count * step - before.cash, same=True)
            history, mark = moved.history, moved.mark
        found.append(history)
    assert found == pytest.approx([0.4] * 4)


def test_the_end_of_a_page_gives_its_cash_away():
    moved = AOPIC().remove(Account(0.5, 3.0, 2.0), Links(0, 1, 1), 9.0)
    assert (moved.moved, moved.history, moved.internal, moved.external) == (0.5, 0, 0, 0)


def test_a_page_that_ended_begins_anew():
    aopic = AOPIC(window=Exponential(4.0))
    ended = aopic.remove(Account(0.5, 3.0, 2.0, (0.25,)), Links(0, 1, 1), 9.0)
    again = Account(0.3, ended.history, ended.mark, ended.kept)
    moved = aopic.visit(again, None, Links(), 11.7, same=False)
    found = aopic.importance(np.zeros(1), np.array([moved.history]), np.array([12.0]), 12.0, np.array([moved.kept]))
    assert found == pytest.approx(0.1)


def test_two_windows_unless_another_is_asked_for():
    assert isinstance(AOPIC().window, TwoWindows)
    assert AOPIC().width == TwoWindows().width == len(AOPIC().visit(Account(1, 0), None, Links(), 0, same=False).kept)


def test_cash_that_was_put_in_is_moved_but_not_earned():
    moved = AOPIC(window=Exponential(4.0)).visit(Account(0.5, 0.0, put_in=0.5), None, Links(0, 1, 1), 0.0, same=False)
    assert (moved.moved, moved.history, moved.external) == (0.5, 0.0, 0.425)


def test_shares_are_what_the_window_gives_all_pages():
    aopic = AOPIC()
    columns = np.array([0.1, 0.2]), np.array([0.05, 0.3]), np.array([30.0, 31.0]), 32.0
    kept = np.array([[0.4, 0.0, 0.1], [0.6, 0.0, 0.2]])
    shares = aopic.shares(*columns, kept)
    assert shares.sum() == pytest.approx(1)
    assert shares.tolist() == aopic.window.shares(Pasts(*columns[1:3], kept, np.zeros(2)), columns[0], 32.0).tolist()
    assert Push().shares(np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.zeros(2), 0.0).tolist() == [0.25, 0.75]


def test_it_settles_on_what_offline_iteration_says():
    links = [[1, 2], [2], [0], [2, 0], []]
    graph = Graph.of(5, [(page, target) for page, targets in enumerate(links) for target in targets])
    ledger = Ledger(AOPIC(window=Interpolation(100.0)))
    for page in range(5):
        ledger.add(page, cash=0.2)
    for count in range(4_000):
        ledger.visit(count % 5, links[count % 5])
    found = shares(ledger)
    expected = offline.importance(graph, offline.damped(graph))
    assert [found[page] for page in range(5)] == pytest.approx(expected, rel=1e-2)
