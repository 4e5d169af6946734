"""Importance in the real loop comes to PageRank, as bench/loop_importance.py measures it."""

import pytest
from bench_commands import bench_command

from evercrawl.simulate.graphs import power_law


@pytest.fixture(scope="module")
def bench():
    return bench_command("loop_importance")


def test_push_is_pagerank_and_aopic_comes_nearer_to_it_with_more_visits(bench):
    web = power_law(60, 1)
    push = bench.crawled(web, "cycle", "push", "auto", 10.0, 1)
    assert push.visits == pytest.approx(600, abs=5)
    assert push.mean < 0.01
    few, many = (bench.crawled(web, "cycle", "aopic", "unbounded", turns, 1) for turns in (2.0, 8.0))
    assert push.mean < many.mean < 0.6 * few.mean
