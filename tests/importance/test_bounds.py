"""Certificates: no error is larger than they say, and they are not much larger than the error."""

from math import inf

import numpy as np
import pytest

from evercrawl.importance import AOPIC, GreedyOrder, Ledger, Push, offline, shares
from evercrawl.importance.ledger.bounds import certificate, error_bound, least_tax, residual_bound
from evercrawl.importance.offline import Graph

PAGES = 150


@pytest.fixture(scope="module")
def web():
    random = np.random.default_rng(4)
    popular = 1 / np.arange(1, PAGES + 1) ** 0.8
    links = [random.choice(PAGES, random.integers(0, 9), p=popular / popular.sum()).tolist() for _ in range(PAGES)]
    graph = Graph.of(PAGES, [(page, to) for page in range(PAGES) for to in links[page]])
    return links, offline.importance(graph, offline.damped(graph))


def visited(scheme, links, turns, *, at_once=True):
    ledger = Ledger(scheme, at_once=at_once)
    for page in range(PAGES):
        ledger.add(page, cash=1 / PAGES if scheme.handout else 0)
    for page in range(PAGES):
        ledger.visit(page, links[page])
    order = GreedyOrder(ledger)
    for _ in range((turns - 1) * PAGES):
        page = order.next()
        ledger.visit(page, links[page])
    return ledger


def off(ledger, exact, estimate):
    found = shares(ledger, estimate)
    return np.abs(np.array([found[page] for page in range(PAGES)]) - exact).sum()


@pytest.mark.parametrize("turns", [2, 10])
def test_opic_is_within_its_certificate(web, turns):
    links, exact = web
    ledger = visited(AOPIC(), links, turns)
    assert 0.02 * certificate(ledger) < off(ledger, exact, "history") <= certificate(ledger)
    assert certificate(ledger) <= 2 / (0.15 * ledger.total)
    assert certificate(ledger) == pytest.approx(error_bound(ledger, shares(ledger, "history")))
    assert off(ledger, exact, "identity") <= error_bound(ledger, shares(ledger, "identity"))


def test_cash_that_the_virtual_page_holds_counts_as_handed_out(web):
    links, exact = web
    ledger = visited(AOPIC(), links, 3, at_once=False)
    assert ledger.virtual > 0.1
    assert off(ledger, exact, "history") <= certificate(ledger)
    assert certificate(ledger) == pytest.approx(error_bound(ledger, shares(ledger, "history")))


@pytest.mark.parametrize("turns", [1, 2, 5, 10])
def test_push_is_within_its_certificate(web, turns):
    links, _ = web
    ledger = visited(Push(), links, turns)
    graph = Graph.of(PAGES, [(page, to) for page in range(PAGES) for to in links[page]])
    exact = offline.solved(graph, np.ones(PAGES), offline.damped(graph))
    value = np.array([ledger.pages[page].history for page in range(PAGES)])
    left = np.array([ledger.pages[page].cash for page in range(PAGES)])
    assert 0.2 * certificate(ledger) < np.abs(value - exact).sum() <= certificate(ledger) * (1 + 1e-9)
    assert np.abs(value + left - exact).sum() <= 0.85 * certificate(ledger) * (1 + 1e-9)
    assert residual_bound(left, 0.15) == pytest.approx(certificate(ledger))
    assert np.abs(left).sum() <= PAGES * np.exp(-0.15 * (turns - 1)), "greedy pushes remove at least tau of the most"


def test_push_settles_geometrically_and_opic_does_not(web):
    links, _ = web
    push = [certificate(visited(Push(), links, turns)) for turns in (4, 8, 16)]
    opic = [certificate(visited(AOPIC(), links, turns)) for turns in (4, 8, 16)]
    assert push[2] / push[1] < 0.5 * push[1] / push[0] < 0.1
    assert opic[2] / opic[1] == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize("scheme", [Push, AOPIC])
def test_the_bound_by_links_holds_after_anything(web, scheme):
    links, _ = web
    ledger = visited(scheme(), links, 4)
    for page in range(0, PAGES, 7):
        ledger.visit(page, links[page - 1])
    ledger.remove(3)
    ledger.alias(5, 9)
    ledger.alias(6, 5)
    ledger.add(8, weight=20)
    bounds = {estimate: error_bound(ledger, shares(ledger, estimate)) for estimate in ("history", "paper")}
    truth = Ledger(Push())
    for name, page in ledger.pages.items():
        truth.add(name, page.weight)
    for _ in range(60):
        for name, page in ledger.pages.items():
            if page.leads_on:
                truth.alias(name, *page.held.external)
            else:
                truth.visit(name, page.held.targets if page.held else [])
    exact = shares(truth, "paper")
    for estimate, bound in bounds.items():
        found = shares(ledger, estimate)
        assert sum(abs(found[name] - exact[name]) for name in exact) <= bound + 1e-3
    assert error_bound(ledger, exact) < 1e-3


@pytest.mark.parametrize("turns", [3, 30])
def test_pages_that_only_lead_on_take_nothing_from_what_is_certain(turns):
    """Half of what is linked to are aliases, and aliases of aliases, from the first visit on."""
    random, opic, push = np.random.default_rng(5), Ledger(AOPIC()), Ledger(Push())
    links = random.integers(0, 40, (40, 4)).tolist()
    for page in range(40):
        opic.add(page, weight=page < 20, cash=1 / 40)
        push.add(page, weight=page < 20)
    for turn in range(40 * 60):
        page = turn % 40
        for ledger in (opic, push)[turn >= 40 * turns :]:
            ledger.visit(page, links[page]) if page < 20 else ledger.alias(page, page - 15)
    exact, found = shares(push, "paper"), shares(opic, "history")
    error = sum(abs(found[page] - exact[page]) for page in exact)
    assert 0.01 * certificate(opic) < error <= certificate(opic)


def test_the_tax_that_counts_is_the_least():
    ledger = Ledger(Push(tax=0), convention="link")
    for page in "ab":
        ledger.add(page)
    assert least_tax(ledger) == 1
    ledger.visit("a", ["b"])
    assert least_tax(ledger) == 0.5
    ledger.visit("b", ["a", "c", "d"])
    assert least_tax(ledger) == 0.25


def test_without_a_tax_nothing_is_certain():
    ledger = Ledger(Push(tax=0))
    ledger.add("a")
    ledger.visit("a", ["b"])
    assert certificate(ledger) == inf


def test_aliases_in_a_ring_have_no_importance_to_be_right_about():
    ledger = Ledger(Push())
    for page in "abc":
        ledger.add(page)
    ledger.visit("c", ["a"])
    ledger.alias("a", "b")
    ledger.alias("b", "a")
    with pytest.raises(AssertionError, match="ring"):
        error_bound(ledger, {"c": 1.0})
