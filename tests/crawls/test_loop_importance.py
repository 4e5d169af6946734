"""Importance in the real loop comes to PageRank, as bench/loop_importance.py measures it."""

import importlib.util
import sys
from pathlib import Path

import pytest

from evercrawl.simulate.graphs import power_law

BENCH = Path(__file__).parents[2] / "bench" / "loop_importance.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("loop_importance", BENCH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_push_is_pagerank_and_aopic_comes_nearer_to_it_with_more_visits(bench):
    web = power_law(60, 1)
    push = bench.crawled(web, "cycle", "push", "auto", 10.0, 1)
    assert push.visits == pytest.approx(600, abs=5)
    assert push.mean < 0.01
    few, many = (bench.crawled(web, "cycle", "aopic", "unbounded", turns, 1) for turns in (2.0, 8.0))
    assert push.mean < many.mean < 0.6 * few.mean
