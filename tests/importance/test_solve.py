"""The solver: how near it comes, what it says of that, and its loop against the one that can be read."""

import numpy as np
import pytest
from known_graph import slowly

from evercrawl.importance import offline
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.offline import Graph, solver
from evercrawl.importance.offline.residuals import Residuals, residual
from evercrawl.importance.push import Push
from evercrawl.kernels import Library, pointer

KERNELS = Library("evercrawl.importance._push_kernel")
PAGES = 2_000


@pytest.fixture(scope="module")
def web():
    """Sites of a hundred pages, most links within, some pages without any."""
    random = np.random.default_rng(1)
    source = random.integers(0, PAGES - PAGES // 20, 10 * PAGES)
    within = source // 100 * 100 + random.integers(0, 100, len(source))
    target = np.where(random.random(len(source)) < 0.8, within, random.integers(0, PAGES, len(source)))
    return Graph.between(PAGES, source, target).with_sites(np.arange(PAGES) // 100, 0.4)


def exact(graph, source, each):
    matrix = np.zeros((graph.pages, graph.pages))
    for page in range(graph.pages):
        row = slice(graph.start[page], graph.start[page + 1])
        weights = np.where(np.arange(row.start, row.stop) < graph.leaving[page], graph.internal, 1.0)
        np.add.at(matrix[page], graph.target[row], each[page] * weights)
    return np.linalg.solve(np.eye(graph.pages) - matrix.T, source)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-9, 1e-15])
@pytest.mark.parametrize("convention", ["tax", "link"])
def test_errors_are_within_the_tolerance(web, tolerance, convention):
    each = offline.linked(web) if convention == "link" else offline.damped(web)
    source = np.random.default_rng(2).random(PAGES)
    expected = exact(web, source, each)
    found = solver.solved(web, source, each, tolerance)
    rounding = 1e-14 * expected.sum()
    assert np.abs(found - expected).sum() <= tolerance * expected.sum() + rounding


def test_it_stops_soon_when_little_is_asked(web):
    source, each = np.full(PAGES, 1.0), offline.damped(web)
    left = [np.abs(residual(web, source, each, solver.solved(web, source, each, t))).sum() for t in (0.1, 1e-9)]
    assert left[0] > 1e5 * left[1]


def sweeps(graph):
    work = Residuals(graph, np.full(graph.pages, 1 / graph.pages), offline.damped(graph, 0.15))
    work.renew()
    work.push(0.15e-9)
    return work.sweeps


def drawn(within):
    """Return a graph of random links, all of them within groups of so many pages."""
    random = np.random.default_rng(6)
    source, place = random.integers(0, PAGES, (2, 10 * PAGES))
    return Graph.between(PAGES, source, source // within * within + place % within)


def test_residuals_cancel_so_that_few_sweeps_are_needed():
    assert sweeps(drawn(PAGES)) <= 15  # without withdrawing 18, without carrying on either 66


def test_webs_that_hardly_link_to_each_other_take_hardly_more_sweeps():
    assert sweeps(drawn(100)) <= 40  # without carrying on 55


def test_the_certificate_bounds_the_error(web):
    source, each = np.random.default_rng(3).random(PAGES), offline.damped(web, 0.3)
    x = exact(web, source, each) * np.random.default_rng(4).normal(1, 0.1, PAGES)
    bound = np.abs(residual(web, source, each, x)).sum() / solver.slack(web, each)
    assert np.abs(x - exact(web, source, each)).sum() <= bound


def test_slack_is_what_the_most_generous_page_keeps(web):
    rows = offline.damped(web, 0.15) * web.weight
    assert solver.slack(web, offline.damped(web, 0.15)) == pytest.approx(1 - rows.max())
    assert solver.slack(Graph.of(2, []), np.ones(2)) == 1


def test_importance_need_not_be_taxed_at_once(web):
    assert solver.solve(web, 0.15).sum() == pytest.approx(
        exact(web, np.full(PAGES, 1 / PAGES), offline.damped(web)).sum()
    )


@pytest.mark.parametrize("trusted", [1, PAGES // 2])
def test_a_source_of_few_pages_settles_too(web, trusted):
    source = np.zeros(PAGES)
    source[:trusted] = 1.0
    found = solver.solve(web, 0.15, source, 1e-12)
    np.testing.assert_allclose(found, exact(web, source, offline.damped(web)), rtol=1e-11, atol=1e-13)


def test_going_on_from_what_was_comes_to_the_same(web):
    before = solver.solve(web, 0.15, tolerance=1e-12)
    damaged = before.copy()
    damaged[::7] *= -3.0
    np.testing.assert_allclose(solver.solve(web, 0.15, tolerance=1e-12, start=damaged), before, rtol=1e-10)


def test_where_nobody_has_anything_nobody_gets_anything(web):
    assert not solver.solve(web, 0.15, np.zeros(PAGES)).any()


def test_a_tax_of_next_to_nothing():
    ring = Graph.of(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 4)])
    source = np.full(5, 1.0)
    expected = exact(ring, source, offline.damped(ring, 1e-6))
    np.testing.assert_allclose(solver.solve(ring, 1e-6, source, 1e-12), expected, rtol=1e-9)


def test_a_row_that_keeps_nothing_is_no_matter_if_the_next_does():
    path = Graph.of(3, [(0, 1), (1, 2)])
    found = solver.solved(path, np.ones(3), np.array([1.0, 0.5, 0.0]))
    assert found.tolist() == [1.0, 2.0, 2.0]


@pytest.mark.parametrize("least", [-1.0, 0.0, 0.4])
def test_a_sweep_is_as_it_reads(web, least):
    random = np.random.default_rng(9)
    x, r, each = random.random(PAGES), random.normal(0, 1, PAGES), offline.damped(web)
    fast, read = (x.copy(), r.copy()), (x.copy(), r.copy())
    pushed = KERNELS["push"](*web.columns(), pointer(each), least, *(pointer(column) for column in fast))
    assert pushed == slowly.push(web, each, least, *read)
    assert np.array_equal(fast[0], read[0])
    np.testing.assert_allclose(fast[1], read[1], rtol=1e-13, atol=1e-15)


def test_a_sweep_is_a_cycle_of_push():
    graph = Graph.of(4, [(0, 1), (0, 2), (1, 2), (2, 0), (2, 3)])
    ledger = Ledger(Push(tax=0.25))
    for page in range(4):
        ledger.add(page, weight=page + 1.0)
    x, r, each = np.zeros(4), np.arange(1.0, 5.0), offline.damped(graph, 0.25)
    for _ in range(3):
        slowly.push(graph, each, 0.0, x, r)
        for page in range(4):
            ledger.visit(page, graph.target[graph.start[page] : graph.start[page + 1]].tolist())
    assert x.tolist() == pytest.approx([ledger.pages[page].history for page in range(4)], rel=1e-14)
    assert r.tolist() == pytest.approx([ledger.pages[page].cash for page in range(4)], rel=1e-14)


@pytest.mark.parametrize("pages", [0, 1, 7, 8])
def test_what_is_withdrawn(pages):
    r, source = np.random.default_rng(5).normal(0, 1, (2, pages))
    expected = r - 0.5 * source
    assert KERNELS["withdraw"](pointer(r), pointer(source), pages, 0.5) == pytest.approx(np.abs(expected).sum())
    np.testing.assert_allclose(r, expected)
