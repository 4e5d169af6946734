"""OPIC at machine speed, against the loop that can be read, the ledger, and importance."""

import numpy as np
import pytest
from known_graph import slowly
from known_graph.sweep import OPIC

from evercrawl.importance import offline
from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.ledger.estimates import shares
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.offline import Graph
from evercrawl.importance.windows.unbounded import Unbounded

PAGES = 500
RANDOM = np.random.default_rng(1)
SITE = np.arange(PAGES) // 50
LOOPS = Graph.between(PAGES, RANDOM.integers(0, 480, 3_000), RANDOM.integers(0, PAGES, 3_000), raw=True)
BIAS = RANDOM.random(PAGES)
BIAS /= BIAS.sum()


@pytest.fixture(params=[None, 0.3], ids=["alike", "by site"])
def graph(request):
    """Links of pages to themselves and links that stand there twice included, some pages without links."""
    return LOOPS if request.param is None else LOOPS.with_sites(SITE, request.param)


@pytest.mark.parametrize("bias", [None, BIAS], ids=["even", "biased"])
def test_a_visit_is_as_it_reads(graph, bias):
    each, order = offline.damped(graph), np.random.default_rng(2).integers(0, PAGES, PAGES - 1)
    opic, even = OPIC(graph, each, bias), np.full(PAGES, 1 / PAGES)
    weight = even if bias is None else bias
    cash, history, clock = weight.copy(), np.zeros(PAGES), np.zeros(2)
    slowly.visit(graph, each, weight, cash, history, clock, order.tolist())
    opic.visit(order)
    np.testing.assert_allclose(opic.cash, cash + clock[0] * weight, rtol=1e-11)
    np.testing.assert_allclose(opic.history, history, rtol=1e-11)
    assert opic.total == pytest.approx(clock[1])


def test_cycles_are_visits_in_the_pages_order(graph):
    cycles, visits = (OPIC(graph, offline.linked(graph)) for _ in range(2))
    cycles.cycle(3)
    visits.visit(np.tile(np.arange(PAGES), 3))
    np.testing.assert_allclose(cycles.cash, visits.cash, rtol=1e-13)
    np.testing.assert_allclose(cycles.history, visits.history, rtol=1e-13)
    assert cycles.total == pytest.approx(visits.total)


def test_it_is_what_the_ledger_does():
    graph = Graph.of(4, [(0, 1), (0, 2), (1, 2), (2, 0)])
    opic, ledger = OPIC(graph, offline.damped(graph, 0.25)), Ledger(AOPIC(tax=0.25, window=Unbounded()))
    for page in range(4):
        ledger.add(page, cash=0.25)
    order = np.random.default_rng(3).integers(0, 4, 30)
    opic.visit(order)
    for page in order.tolist():
        ledger.visit(page, graph.target[graph.start[page] : graph.start[page + 1]].tolist())
    assert opic.cash.tolist() == pytest.approx([ledger.pages[page].cash for page in range(4)], rel=1e-12)
    assert opic.total == pytest.approx(ledger.total, rel=1e-13)
    for estimate in ("history", "paper", "identity"):
        expected = [shares(ledger, estimate)[page] for page in range(4)]
        assert opic.importance(estimate).tolist() == pytest.approx(expected, rel=1e-12)


def test_cash_sums_to_one_and_history_to_the_clock(graph):
    opic = OPIC(graph, offline.damped(graph), BIAS)
    for order in (np.arange(PAGES), np.repeat(7, 3 * PAGES + 5), np.array([], np.int64), np.array([499])):
        opic.visit(order)
        assert opic.cash.sum() == pytest.approx(1, rel=1e-13)
        assert opic.history.sum() == pytest.approx(opic.total, rel=1e-13)


def test_the_lemma(graph):
    opic, each = OPIC(graph, offline.damped(graph), BIAS), offline.damped(graph)
    opic.visit(np.random.default_rng(4).integers(0, PAGES, 9_999))
    virtual = opic.total - (each * graph.weight * opic.history).sum()
    expected = BIAS + graph.pass_on(opic.history, each) + virtual * BIAS
    np.testing.assert_allclose(opic.history + opic.cash, expected, rtol=1e-12)


@pytest.mark.parametrize("bias", [None, BIAS], ids=["even", "biased"])
def test_the_certificate_bounds_the_error_and_shrinks(graph, bias):
    each = offline.damped(graph)
    exact, opic, bounds = offline.importance(graph, each, bias), OPIC(graph, each, bias), []
    for _ in range(3):
        opic.visit(np.random.default_rng(5).integers(0, PAGES, 20 * PAGES))
        bounds.append(opic.certificate())
        assert np.abs(opic.history / opic.total - exact).sum() <= bounds[-1]
        assert np.abs(opic.importance() - exact).sum() < np.abs(opic.importance("history") - exact).sum()
    assert bounds[2] < bounds[0] / 2


@pytest.mark.parametrize("page", [-1, PAGES])
def test_only_pages_of_the_graph_are_visited(page):
    with pytest.raises(AssertionError, match="pages of the graph"):
        OPIC(LOOPS, offline.damped(LOOPS)).visit(np.array([page]))
