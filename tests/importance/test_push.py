"""Push: what each event moves, and how near ten visits a page come."""

import heapq

import numpy as np
import pytest

from evercrawl.importance import offline
from evercrawl.importance.base import Account, Links
from evercrawl.importance.ledger.estimates import shares
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.offline import Graph
from evercrawl.importance.push import Push

PAGES = 2_000


def test_unchanged_links_get_only_what_is_new():
    moved = Push(tax=0.5).visit(Account(1.0, 7.0), Links(0, 1, 2), Links(0, 1, 2), 0.0, same=True)
    assert (moved.moved, moved.history, moved.external, moved.back_external) == (1.0, 8.0, 0.25, 0)


def test_changed_links_get_all_and_the_old_ones_give_back():
    moved = Push(tax=0.5, internal=0.5).visit(Account(1.0, 7.0), Links(1, 1, 7), Links(1, 1, 2), 0.0, same=False)
    assert (moved.internal, moved.external) == (1.0, 2.0)
    assert (moved.back_internal, moved.back_external) == (0.25, 0.5)


def test_what_is_not_followed_counts_in_the_divisor_only():
    assert Push(tax=0.0).each(1.0, Links(external=1, out=4)) == (0.25, 0.25)


def test_an_alias_passes_on_all_untaxed():
    moved = Push(tax=0.5).visit(Account(1.0, 7.0), Links(0, 1, 1), Links(0, 1, 1, through=True), 0.0, same=False)
    assert (moved.external, moved.back_external) == (8.0, 3.5)


def test_a_page_that_ends_is_forgotten_by_those_it_gave_to():
    ledger = Ledger(Push(tax=0.5))
    ledger.add("a")
    ledger.add("b")
    ledger.visit("a", ["b"])
    assert ledger.pages["b"].cash == 1.5
    ledger.remove("a")
    assert ledger.pages["b"].cash == 1.0
    assert ledger.pages["a"].cash == ledger.pages["a"].history == 0.0
    assert ledger.pages["a"].held is None


def test_importance_is_value_and_residual_but_never_negative():
    found = Push().importance(np.array([0.5, -2.0]), np.array([1.0, 1.0]), np.zeros(2), 3.0)
    assert found.tolist() == [1.5, 0.0]


@pytest.fixture(scope="module")
def web():
    """Links of pages whose popularity follows a power law, and their importance."""
    random = np.random.default_rng(1)
    popular = random.permutation(1 / np.arange(1, PAGES + 1) ** 0.8)
    counts = 1 + random.geometric(0.12, PAGES)
    counts[random.random(PAGES) < 0.05] = 0
    source = np.repeat(np.arange(PAGES), counts)
    target = random.choice(PAGES, len(source), p=popular / popular.sum())
    edges = list(zip(source.tolist(), target.tolist(), strict=True))
    graph = Graph.of(PAGES, edges)
    links = [[] for _ in range(PAGES)]
    for page, to in edges:
        links[page].append(to)
    return links, offline.importance(graph, offline.damped(graph))


def in_cycle(ledger, links, visits):
    for count in range(visits):
        ledger.visit(count % PAGES, links[count % PAGES])


def greedily(ledger, links, visits):
    """Visit the page with the largest residual; entries of the heap that are out of date are put right when met."""
    heap = [(-1.0, page) for page in range(PAGES)]
    for _ in range(visits):
        while (now := -abs(ledger.pages[heap[0][1]].cash)) != heap[0][0]:
            heapq.heapreplace(heap, (now, heap[0][1]))
        page = heap[0][1]
        ledger.visit(page, links[page])
        for target in {page, *links[page]}:
            heapq.heappush(heap, (-abs(ledger.pages[target].cash), target))


@pytest.mark.parametrize("order", [in_cycle, greedily])
def test_ten_visits_a_page_are_within_one_percent(web, order):
    links, exact = web
    ledger = Ledger(Push())
    for page in range(PAGES):
        ledger.add(page)
    order(ledger, links, 10 * PAGES)
    worth = shares(ledger)
    found = np.array([worth[page] for page in range(PAGES)])
    error = np.abs(found - exact) / exact
    assert error.mean() < 0.01
    assert error.mean() > 1e-12, "an estimate is not the solution itself"
