"""Orders: who is next, and how much cash that moves."""

import numpy as np
import pytest

from evercrawl.importance import AOPIC, CycleOrder, GreedyOrder, Ledger, Push, RandomOrder, Unbounded

PAGES = 400


def web(scheme):
    """Return a ledger of pages with links that follow a power law, and the links."""
    random = np.random.default_rng(1)
    popular = 1 / np.arange(1, PAGES + 1) ** 0.8
    links = random.choice(PAGES, (PAGES, 8), p=popular / popular.sum())
    ledger = Ledger(scheme)
    for page in range(PAGES):
        ledger.add(page, weight=1 + page % 3, cash=1 / PAGES if scheme.handout else 0)
    return ledger, links.tolist()


def test_cycle_goes_round_and_takes_in_what_is_found_meanwhile():
    ledger = Ledger(Push())
    ledger.add("a")
    order, met = CycleOrder(ledger), []
    for _ in range(6):
        met.append(order.next())
        ledger.visit(met[-1], {"a": ["b"], "b": ["c"]}.get(met[-1], []))
    assert met == ["a", "b", "c", "a", "b", "c"]


def test_random_finds_everybody_and_is_the_same_again():
    ledger, _ = web(Push())
    one, other = RandomOrder(ledger, seed=3), RandomOrder(ledger, seed=3)
    met = [one.next() for _ in range(10 * PAGES)]
    assert met == [other.next() for _ in range(10 * PAGES)]
    assert set(met) == set(range(PAGES))


@pytest.mark.parametrize("scheme", [AOPIC(), Push()])
def test_greedy_takes_the_most_whatever_happens(scheme):
    ledger, links = web(scheme)
    order, random = GreedyOrder(ledger), np.random.default_rng(2)
    for turn in range(3 * PAGES):
        best = max(abs(page.cash) for page in ledger.pages.values())
        page = order.next()
        assert abs(ledger.pages[page].cash) == pytest.approx(best, rel=1e-9)
        if turn % 7 == 3:
            ledger.remove(page)
        elif turn % 7 == 5:
            ledger.add(int(random.integers(PAGES)), weight=int(random.integers(1, 5)))
        else:
            ledger.visit(page, [*links[page % PAGES], PAGES + turn % 50])


def test_regular_visits_move_twice_as_much_as_those_at_random():
    """Cash grows between visits, so that it is half of what a visit finds: the factor two is no merit of greed."""
    moved = {}
    for order in (RandomOrder, CycleOrder, GreedyOrder):
        ledger, links = web(AOPIC(window=Unbounded()))
        chosen = order(ledger)
        for _ in range(10 * PAGES):
            page = chosen.next()
            ledger.visit(page, links[page])
        moved[order] = ledger.total / 10
    assert moved[RandomOrder] == pytest.approx(1.0, abs=0.1)
    assert 1.8 < moved[CycleOrder] < 2.1
    assert moved[CycleOrder] < moved[GreedyOrder] < 2.6
