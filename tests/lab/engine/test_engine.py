"""The engine makes the very visits of the ledger, and its laws hold on webs that change."""

import numpy as np
import pytest

from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.offline import damped
from evercrawl.importance.push import Push as PushScheme
from evercrawl.importance.windows.unbounded import Unbounded
from evercrawl.lab.engine.engine import OpicEngine, PushEngine, VisitWatcher
from evercrawl.lab.engine.living import ChangingWeb
from evercrawl.lab.engine.picking import CyclePicker, GreedyPicker, Mixed, Picker, RandomPicker, Sampled, fresh, xyleme
from evercrawl.lab.papers.accuracy import graph_of, importance
from evercrawl.simulate.graphs import Web, bow_tie, poisson, power_law

PAGES = 60


class Listed(Picker):
    """Pages as they are listed."""

    def __init__(self, picks) -> None:
        self._picks = list(picks)

    def next(self, visits, at):
        picked, self._picks = self._picks[:visits], self._picks[visits:]
        return np.array(picked, np.int64)


class Notes(VisitWatcher):
    """Who notes everything."""

    def __init__(self) -> None:
        self.pages, self.earned, self.clock = [], [], []

    def watch(self, visits):
        self.pages += visits.page.tolist()
        self.earned += visits.earned.tolist()
        self.clock += visits.clock.tolist()

    def estimate(self, earned, total):
        return earned


def links_of(web, page):
    return web.target[web.start[page] : web.start[page + 1]].tolist()


def same_opic(ledger, opic):
    pages = [ledger.pages[i] for i in range(opic.pages)]
    assert opic.cash == pytest.approx([page.cash for page in pages], abs=1e-15)
    assert opic.history == pytest.approx([page.history for page in pages], abs=1e-14)
    assert opic.total == pytest.approx(ledger.total, abs=1e-13)


def ledger_of_opic(web, tax=0.15, convention="tax"):
    ledger = Ledger(AOPIC(tax=tax, window=Unbounded()), convention=convention)
    for page in range(web.pages):
        ledger.add(page, cash=1 / web.pages)
    return ledger


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_opic_moves_what_the_ledger_moves(seed, link):
    web = power_law(PAGES, seed)
    order = np.random.default_rng(seed).integers(PAGES, size=200)
    tax = 0.0 if link else 0.15
    ledger = ledger_of_opic(web, tax=tax, convention="link" if link else "tax")
    for page in order.tolist():
        ledger.visit(page, links_of(web, page))
    opic = OpicEngine(web, Listed(order), tax, link=link)
    opic.run(120)
    opic.run(80)
    same_opic(ledger, opic)


@pytest.mark.parametrize("seed", [1, 2])
def test_greed_takes_the_page_with_most_cash_each_time(seed):
    web = bow_tie(PAGES, seed)
    notes, ledger = Notes(), ledger_of_opic(web)
    opic = OpicEngine(web, Mixed([(GreedyPicker(), 0.8), (CyclePicker(seed), 0.2)], seed), watchers=[notes])
    greedy = OpicEngine(web, watchers=[notes])
    opic.run(100)
    notes.pages.clear()
    greedy.run(300)
    for page in notes.pages:
        most = max(known.cash for known in ledger.pages.values())
        assert ledger.pages[page].cash == pytest.approx(most, abs=1e-15)
        ledger.visit(page, links_of(web, page))
    same_opic(ledger, greedy)


def test_watchers_are_told_what_was_earned():
    web, notes = poisson(PAGES, 1), Notes()
    opic = OpicEngine(web, CyclePicker(1), watchers=[notes])
    opic.run(2 * PAGES)
    earned = np.bincount(notes.pages, notes.earned, PAGES)
    assert earned == pytest.approx(opic.history - 1 / PAGES, abs=1e-15)
    assert notes.clock[-1] == opic.total == pytest.approx(sum(notes.earned) + 1, abs=1e-12)


@pytest.mark.parametrize("greedy", [False, True])
def test_push_moves_what_the_ledger_moves_while_links_change(greedy):
    living = ChangingWeb(power_law(PAGES, 3), 3)
    order = np.random.default_rng(3).integers(PAGES, size=400)
    ledger = Ledger(PushScheme(tax=0.15))
    for page in range(PAGES):
        ledger.add(page, weight=1 / PAGES)
    push = PushEngine(living, Mixed([(Listed(order), 1.0), (GreedyPicker(), 0.0)]) if greedy else Listed(order))
    for page in order.tolist():
        ledger.visit(page, links_of(living.now(), page))
        push.run(1)
        living.some_change(0.2)
    pages = [ledger.pages[i] for i in range(PAGES)]
    assert push.value == pytest.approx([page.history for page in pages], abs=1e-13)
    assert push.residual == pytest.approx([page.cash for page in pages], abs=1e-13)


def test_greedy_push_takes_the_largest_residual_of_either_sign():
    living = ChangingWeb(power_law(PAGES, 4), 4)
    push = PushEngine(living)
    for _ in range(500):
        largest = np.abs(push.residual).max()
        at = np.flatnonzero(np.abs(push.residual) == largest)
        push.run(1)
        assert (np.abs(push.residual[at]) < largest).any()
        living.some_change(0.3)


@pytest.mark.parametrize("picker", [GreedyPicker(), fresh(1)])
def test_the_law_of_push_holds_while_links_change(picker):
    living = ChangingWeb(power_law(2000, 1), 1)
    push = PushEngine(living, picker)
    for _ in range(60):
        push.run(200)
        push.settle(100)
        living.some_change(20.3)
    seen = np.maximum(push.known.count, 0)
    known = Web.of(2000, np.repeat(np.arange(2000), seen), push.known.all())
    assert known.links == seen.sum()
    inflow = graph_of(known).pass_on(push.value, damped(graph_of(known)))
    assert push.value + push.residual == pytest.approx(1 / 2000 + inflow, abs=1e-15)


def test_background_pushes_settle_the_known_links_without_any_visit():
    web = power_law(2000, 1)
    push = PushEngine(web)
    push.settle(100)
    assert not push.value.any(), "nobody knows a link yet"
    push = PushEngine(web, CyclePicker(1))
    push.run(2000)
    push.settle(150 * 2000)
    found = push.estimate() / push.estimate().sum()
    assert found == pytest.approx(importance(web), rel=1e-8)


@pytest.mark.parametrize("picker", [RandomPicker(1), CyclePicker(1), GreedyPicker(), xyleme(1), Sampled(1)])
def test_every_order_leads_to_the_same_importance(picker):
    web = poisson(300, 2)
    truth = importance(web)
    opic = OpicEngine(web, picker)
    opic.run(300 * 1500)
    assert np.abs(opic.estimate() / opic.estimate().sum() - truth).sum() < 2 / opic.total
    assert opic.cash.sum() == pytest.approx(1.0, abs=1e-10)


def test_mixtures_keep_their_shares():
    picks = xyleme(1).next(10_000, OpicEngine(poisson(100, 1)))
    assert (picks == -1).mean() == pytest.approx(0.8, abs=0.02)
