"""The virtual page as one number: what a visit costs, and what is left of the digits."""

import sys
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from evercrawl.importance import AOPIC, GreedyOrder, Ledger, Unbounded


def lines_run(work):
    """Return how many lines of Python `work` runs: what it costs, on any machine."""
    count, tracing = 0, sys.gettrace()

    def trace(frame, what, _):  # noqa: ANN202
        nonlocal count
        count += what == "line"
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(tracing)
    return count


def test_a_visit_costs_as_much_as_there_are_links_and_not_pages():
    costs = {}
    for pages in (1_000, 100_000):
        ledger = Ledger(AOPIC(tax=0.15))
        for page in range(pages):
            ledger.add(page, cash=1 / pages)
        greedy = GreedyOrder(ledger)
        for _ in range(2):  # keys are put right, and the heap made anew: the next time is after as many visits as pages
            ledger.visit(greedy.next(), range(1, 11))
        costs[pages] = (
            lines_run(partial(ledger.visit, 20, range(21, 31))),
            lines_run(greedy.next),
            lines_run(ledger.visit_virtual),
        )
    assert costs[1_000] == costs[100_000]
    assert max(costs[1_000]) < 500


def test_putting_keys_right_costs_as_much_as_there_are_pages_once_in_as_many_visits():
    ledger = Ledger(AOPIC(tax=0.5))
    for page in range(200):
        ledger.add(page, cash=1 / 200)
    before = ledger.cells.rebased
    for visit in range(1_000):
        ledger.visit(visit % 200, [(visit + 1) % 200])
    assert ledger.cells.rebased - before == 5


def test_spending_without_carrying_is_spending():
    """The same as if each page were paid, in exact numbers, whatever becomes of weights meanwhile."""
    ledger, plain, weights = Ledger(AOPIC(tax=Fraction(1, 2)), rebase=False), {}, {}
    for page, weight in enumerate((1, 2, 0, 3)):
        ledger.add(page, weight, Fraction(1, 4))
        plain[page], weights[page] = Fraction(1, 4), weight
    for count in range(40):
        page, to = count % 4, (count * count + 1) % 4
        if count == 20:
            ledger.add(2, weight=5)
            weights[2] = 5
        cash, plain[page] = plain[page], Fraction(0)
        kept = cash if to == page else cash / 2
        plain[to] += cash - kept
        for other, weight in weights.items():
            plain[other] += kept * Fraction(weight, sum(weights.values()))
        ledger.visit(page, [to])
        assert {name: page.cash for name, page in ledger.pages.items()} == plain


def test_a_page_found_late_has_only_what_its_link_brings():
    ledger = Ledger(AOPIC(tax=0.5))
    ledger.add("a", cash=1.0)
    for _ in range(5):
        ledger.visit("a", [])
    ledger.cells.level.height = 64.0  # as if much had been handed out
    ledger.pages["a"].key -= 64.0
    ledger.visit("a", ["b"])
    ledger.add("c")
    assert (ledger.pages["b"].cash, ledger.pages["c"].cash) == (0.5, 0.0)
    assert ledger.pages["c"].key == -ledger.cells.level.height
    assert ledger.pages["b"].born == 5.0


@pytest.mark.parametrize("rebase", [True, False])
def test_digits_are_lost_as_the_level_rises_unless_keys_are_put_right(rebase):
    """What is lost in a sum grows with the level: here it is what 10^9 visits a page would make it."""
    ledger, random = Ledger(AOPIC(tax=0.15, window=Unbounded()), rebase=rebase), np.random.default_rng(1)
    for page in range(20):
        ledger.add(page, cash=1 / 20)
    ledger.cells.level.height = 1e7
    for page in ledger.pages.values():
        page.key -= 1e7
    links = random.integers(0, 20, (20, 5)).tolist()
    start = ledger.owed()
    if rebase:
        ledger.cells.rebase()
        for page in ledger.pages.values():
            page.key = 1 / 20
    for page in random.integers(0, 20, 4_000).tolist():
        ledger.visit(page, links[page])
    off = abs(ledger.owed() - (0 if rebase else start))
    assert off < 1e-13 if rebase else off > 1e-10


def test_nothing_is_handed_out_by_what_is_left_of_weights():
    ledger = Ledger(AOPIC(tax=0.5))
    for page, weight in enumerate((0.1, 0.2, 0.3)):
        ledger.add(page, weight, 1 / 3)
    for page in (2, 1, 0):
        ledger.remove(page)
    assert ledger.cells.weights == 0
    assert ledger.virtual == pytest.approx(1.0)
    ledger.add("new", 0.1)
    assert ledger.pages["new"].cash == pytest.approx(1.0)
