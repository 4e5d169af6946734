"""Importance by its definition, solved; and freshness from events."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.schedule.formulas import allocation
from evercrawl.simulate.living import comparison, freshness, truth
from evercrawl.simulate.living.truth import Node
from evercrawl.simulate.living.web import LivingWeb

A, B, C, D = "http://a.example/", "http://a.example/1", "http://b.example/", "http://b.example/old"
WEB = LivingWeb(seed=2, hosts=10, pages=300, cycle_s=6.0)


def test_a_source_is_spread_over_the_pages_of_a_site():
    assert truth.importance({A: Node((), 1), B: Node((), 1), C: Node((), 1)}) == {A: 0.5, B: 0.5, C: 1.0}


def test_links_within_a_site_weigh_less_and_those_not_followed_count():
    x = truth.importance({A: Node((B, C), 4), B: Node((), 1), C: Node((), 1)})
    assert x == pytest.approx({A: 0.5, B: 0.5 + 0.5 * 0.85 * 0.1 / 4, C: 1 + 0.5 * 0.85 / 4})


def test_alone_in_the_world_links_within_the_site_weigh_as_much_as_any():
    assert truth.importance({A: Node((B,), 1), B: Node((), 1)})[B] == pytest.approx(0.5 + 0.85 * 0.5)


def test_a_redirect_keeps_nothing_and_passes_on_all():
    x = truth.importance({A: Node((D,), 1), C: Node((), 1), D: Node((C,), 1, through=True)})
    assert x == pytest.approx({A: 1.0, D: 0.85, C: 1.85})


def test_importance_of_a_web_is_the_fixpoint():
    known = truth.nodes(WEB, [f"{WEB.origins[0]}/calendar/0"])
    x = truth.importance(known)
    flow = dict.fromkeys(known, 0.0)
    for url, node in known.items():
        for link in set(node.links) & known.keys():
            weight = 0.1 if link.split("/")[2] == url.split("/")[2] else 1.0
            flow[link] += x[url] * (1.0 if node.through else 0.85 * weight / node.out)
    sources = {url: x[url] - flow[url] for url in known}
    for origin in WEB.origins:
        of_site = [sources[url] for url in known if url.startswith(f"{origin}/")]
        assert sum(of_site) == pytest.approx(1.0)
    assert all(abs(sources[url]) < 1e-12 for url, node in known.items() if node.through)


def test_what_is_no_page_weighs_nothing():
    weights = truth.weights(WEB)
    assert weights.sum() == pytest.approx(1.0)
    gone = [n for n in range(300) if np.isfinite(WEB.vanishes_at(n))]
    assert not weights[gone].any()
    assert (weights > 0).sum() == 300 - len(gone)


times = st.lists(st.floats(0.0, 10.0), max_size=8, unique=True).map(lambda of: np.array(sorted(of)))


@given(asked=times, changes=times, start=st.floats(0.0, 5.0), length=st.floats(0.1, 5.0))
def test_freshness_is_what_sampling_finds(asked, changes, start, length):
    samples = np.linspace(start, start + length, 20_001)
    last = np.searchsorted(asked, samples, side="right") - 1
    changed = np.searchsorted(changes, samples, side="right")
    at_last = np.searchsorted(changes, asked, side="right")[last] if len(asked) else changed
    fresh = (last >= 0) & (changed == at_last)
    assert freshness.fresh_s(asked, changes, start, start + length) / length == pytest.approx(fresh.mean(), abs=2e-3)


def test_weighted_freshness_counts_by_weight():
    asked, changes = [np.array([0.0]), np.zeros(0)], [np.array([5.0]), np.zeros(0)]
    assert freshness.weighted(asked, changes, np.array([3.0, 1.0]), 0.0, 10.0) == pytest.approx(3 / 4 / 2)


def test_the_optimum_beats_a_round_robin_and_even_intervals_give_what_is_foretold():
    rate = 300 / 6.0
    assert comparison.optimum(WEB, rate) > 1.1 * comparison.even_round_robin(WEB, rate)
    end = 600.0
    asked = [np.arange(0.01 * n / rate, end, 6.0) for n in range(300)]
    changes = [WEB.changes(n, end) for n in range(300)]
    found = freshness.weighted(asked, changes, truth.weights(WEB), 6.0, end)
    assert found == pytest.approx(comparison.even_round_robin(WEB, rate), abs=0.02)


def test_the_best_intervals_give_what_the_optimum_says():
    end, rate = 600.0, 300 / 6.0
    best = allocation.optimum(truth.weights(WEB), truth.rates_per_s(WEB), rate).rate
    asked = [np.arange(0.0, end, 1 / f) if f else np.zeros(1) for f in best.tolist()]
    changes = [WEB.changes(n, end) for n in range(300)]
    found = freshness.weighted(asked, changes, truth.weights(WEB), 6.0, end)
    assert found == pytest.approx(comparison.optimum(WEB, rate), abs=0.03)
