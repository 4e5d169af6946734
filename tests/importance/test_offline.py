"""The yardsticks, against plain linear algebra and cases that can be worked out by hand."""

import numpy as np
import pytest

from evercrawl.importance import offline
from evercrawl.importance.offline import Graph


def test_a_graph_drops_what_does_not_count_unless_raw():
    links = [(0, 1), (0, 1), (1, 1)]
    assert Graph.of(2, links).out.tolist() == [1, 0]
    assert Graph.of(2, links, raw=True).out.tolist() == [2, 1]
    assert Graph.of(3, []).out.tolist() == [0, 0, 0]


def test_it_solves_the_linear_system():
    random = np.random.default_rng(3)
    graph = Graph.of(30, zip(random.integers(0, 30, 90).tolist(), random.integers(0, 30, 90).tolist(), strict=True))
    each, source = offline.damped(graph, 0.15), random.random(30)
    matrix = np.zeros((30, 30))
    matrix[graph.source, graph.target] = each[graph.source]
    exact = np.linalg.solve(np.eye(30) - matrix.T, source)
    np.testing.assert_allclose(offline.solved(graph, source, each), exact, rtol=1e-12)
    np.testing.assert_allclose(offline.importance(graph, each, source), exact / exact.sum(), rtol=1e-12)


def test_a_period_does_not_keep_it_from_settling():
    found, factor = offline.principal(lambda x: np.roll(x, 1), 4)
    assert found == pytest.approx([0.25] * 4)
    assert factor == pytest.approx(1)


def test_authorities_of_a_star():
    found, factor = offline.authority(Graph.of(4, [(1, 0), (2, 0), (3, 0)]))
    assert found == pytest.approx([1, 0, 0, 0], abs=1e-12)
    assert factor == pytest.approx(3)
