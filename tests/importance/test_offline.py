"""The yardsticks, against plain linear algebra and cases that can be worked out by hand."""

import numpy as np
import pytest

from evercrawl.importance import offline
from evercrawl.importance.offline import Graph
from evercrawl.importance.offline.fixpoint import leap
from evercrawl.importance.offline.graph import counted

PAGES, LINKS = 40, 160


@pytest.fixture(scope="module")
def drawn():
    """A graph with pages that link nowhere, links that stand there twice, and links of pages to themselves."""
    random = np.random.default_rng(3)
    return Graph.between(PAGES, random.integers(0, PAGES - 5, LINKS), random.integers(0, PAGES, LINKS), raw=True)


def dense(graph, site=None, internal=1.0):
    """Return how often each page links to each, a link within a site counting `internal`."""
    matrix = np.zeros((graph.pages, graph.pages))
    np.add.at(matrix, (graph.source, graph.target), 1.0)
    return matrix if site is None else np.where(site[:, None] == site, internal, 1.0) * matrix


def stationary(matrix, bias):
    """Return where a surfer is who goes on by the rows of `matrix` and, with what they lack of 1, begins anew."""
    steps = matrix + (1 - matrix.sum(1))[:, None] * bias
    kept = np.vstack([steps.T - np.eye(len(steps)), np.ones(len(steps))])
    return np.linalg.lstsq(kept, np.eye(len(steps) + 1)[-1], rcond=None)[0]


# Graphs


def test_a_graph_drops_what_does_not_count_unless_raw():
    links = [(0, 1), (0, 1), (1, 1)]
    assert Graph.of(2, links).out.tolist() == [1, 0]
    assert Graph.of(2, links, raw=True).out.tolist() == [2, 1]
    assert Graph.of(3, []).out.tolist() == [0, 0, 0]


def test_links_may_come_in_any_order_and_of_any_kind_of_integer(drawn):
    order = np.random.default_rng(4).permutation(LINKS)
    links = drawn.source[order].astype(np.int16), drawn.target[order].astype(np.uint8)
    mixed = Graph.between(PAGES, *links, raw=True)
    assert np.array_equal(dense(mixed), dense(drawn))
    tidy = dense(Graph.between(PAGES, *links))
    assert np.array_equal(tidy, np.minimum(dense(drawn), 1) * (1 - np.eye(PAGES)))


def test_links_keep_their_order_within_a_page():
    assert Graph.of(3, [(1, 2), (0, 2), (1, 0), (0, 1)], raw=True).target.tolist() == [2, 1, 2, 0]


@pytest.mark.parametrize("page", [-1, 3])
def test_links_lead_to_pages_of_the_graph(page):
    with pytest.raises(AssertionError, match="pages of the graph"):
        Graph.of(3, [(0, page)])


def test_a_graph_the_other_way_round(drawn):
    back = drawn.reversed()
    assert np.array_equal(dense(back), dense(drawn).T)
    assert all(np.all(np.diff(row.astype(int)) >= 0) for row in np.split(back.target, back.start[1:-1]))


def test_what_is_counted(drawn):
    assert np.array_equal(counted(drawn.target, PAGES), np.bincount(drawn.target, minlength=PAGES))
    assert np.array_equal(offline.in_degree(drawn), dense(drawn).sum(0))


@pytest.mark.parametrize("internal", [None, 0.1])
def test_what_is_passed_on_and_back(drawn, internal):
    random = np.random.default_rng(5)
    value, each, site = random.random(PAGES), random.random(PAGES), random.integers(0, 4, PAGES)
    graph = drawn if internal is None else drawn.with_sites(site, internal)
    matrix = dense(drawn) if internal is None else dense(drawn, site, internal)
    np.testing.assert_allclose(graph.pass_on(value, each), (value * each) @ matrix, rtol=1e-14)
    np.testing.assert_allclose(graph.pass_back(value), matrix @ value, rtol=1e-14)
    np.testing.assert_allclose(graph.weight, matrix.sum(1), rtol=1e-14)


def test_links_of_pages_made_on_demand_weigh_like_those_within_a_site(drawn):
    random = np.random.default_rng(9)
    value, site, dynamic = random.random(PAGES), random.integers(0, 4, PAGES), random.random(PAGES) < 0.3
    weighed = dense(drawn, site, 0.2)
    weighed[dynamic] = 0.2 * dense(drawn)[dynamic]
    graph = drawn.with_sites(site, 0.2, dynamic)
    np.testing.assert_allclose(graph.pass_on(value, np.ones(PAGES)), value @ weighed, rtol=1e-14)
    np.testing.assert_allclose(graph.weight, weighed.sum(1), rtol=1e-14)


def test_arrays_need_not_lie_close_together(drawn):
    value, each = np.random.default_rng(6).random((2 * PAGES, 2)).T
    expected = drawn.pass_on(value[::2].copy(), each[::2].copy())
    assert np.array_equal(drawn.pass_on(value[::2], each[::2]), expected)


# PageRank


@pytest.mark.parametrize("convention", ["tax", "link"])
@pytest.mark.parametrize("internal", [None, 0.3])
@pytest.mark.parametrize("biased", [False, True])
def test_pagerank_is_where_the_surfer_is(drawn, convention, internal, biased):
    random = np.random.default_rng(7)
    site, bias = random.integers(0, 4, PAGES), random.random(PAGES) if biased else np.ones(PAGES)
    graph = drawn if internal is None else drawn.with_sites(site, internal)
    matrix = dense(drawn) if internal is None else dense(drawn, site, internal)
    each = 0.7 / np.maximum(drawn.out, 1) if convention == "tax" else 1 / (drawn.out + 1)
    found = offline.pagerank(graph, 0.3, bias if biased else None, convention, tolerance=1e-15)
    np.testing.assert_allclose(found, stationary(each[:, None] * matrix, bias / bias.sum()), rtol=1e-12)


def test_it_solves_the_linear_system(drawn):
    each, source = offline.damped(drawn, 0.15), np.random.default_rng(8).random(PAGES)
    exact = np.linalg.solve(np.eye(PAGES) - (each[:, None] * dense(drawn)).T, source)
    np.testing.assert_allclose(offline.solved(drawn, source, each), exact, rtol=1e-12)
    np.testing.assert_allclose(offline.importance(drawn, each, source), exact / exact.sum(), rtol=1e-12)


# Directions


def test_a_period_does_not_keep_it_from_settling():
    found, factor = offline.principal(lambda x: np.roll(x, 1), 4)
    assert found == pytest.approx([0.25] * 4)
    assert factor == pytest.approx(1)


def test_hubs_and_authorities_are_singular_vectors(drawn):
    left, _, right = np.linalg.svd(dense(drawn))
    hubs, authorities = offline.hits(drawn)
    np.testing.assert_allclose(hubs, left[:, 0] / left[:, 0].sum(), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(authorities, right[0] / right[0].sum(), rtol=1e-12, atol=1e-13)


def test_leaps_are_few_where_steps_would_be_many():
    taken, values = [], np.append(1 - 1e-3 * np.arange(1, 200), 1.0)
    found = np.abs(leap(lambda x: taken.append(x) or values * x, 200, 1e-12))
    np.testing.assert_allclose(found, np.eye(200)[-1], atol=1e-9)
    assert len(taken) < 200  # by plain iteration, 20,000


def test_of_several_directions_it_is_the_one_that_the_start_leads_to():
    assert np.abs(leap(lambda x: x * np.array([2.0, 2.0, 1.0]), 3)) == pytest.approx(np.array([1, 2, 0]) / 5**0.5)


def test_authorities_of_a_star():
    found, factor = offline.authority(Graph.of(4, [(1, 0), (2, 0), (3, 0)]))
    assert found == pytest.approx([1, 0, 0, 0], abs=1e-12)
    assert factor == pytest.approx(3)


def test_without_links_there_are_neither_hubs_nor_authorities():
    assert [part.tolist() for part in offline.hits(Graph.of(2, []))] == [[0, 0], [0, 0]]


# TrustRank


def test_trust_is_pagerank_from_the_trusted(drawn):
    bias = np.zeros(PAGES)
    bias[[3, 9]] = 0.5
    expected = stationary(offline.damped(drawn, 0.15)[:, None] * dense(drawn), bias)
    found = offline.trustrank(drawn, np.array([9, 3, 3]), tolerance=1e-15)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_a_farm_that_nobody_links_to_has_no_trust():
    farm = [(page, 3) for page in range(4, 9)] + [(3, page) for page in range(4, 9)]
    graph = Graph.of(9, [(0, 1), (1, 2), (2, 0), *farm])
    assert offline.pagerank(graph).argmax() == 3
    assert offline.trustrank(graph, np.array([1]))[3:].tolist() == [0] * 6


def test_seeds_are_where_most_can_be_reached_from(drawn):
    reach = stationary(offline.damped(drawn.reversed(), 0.15)[:, None] * dense(drawn).T, np.full(PAGES, 1 / PAGES))
    assert offline.good_seeds(drawn, 7).tolist() == np.argsort(-reach)[:7].tolist()
