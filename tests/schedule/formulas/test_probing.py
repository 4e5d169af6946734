"""How many pages of a site to probe and what to spend on which, against all there is to try."""

import numpy as np
import pytest
import visit_forms

from evercrawl.schedule.formulas import probing
from evercrawl.schedule.formulas.site_shares import Shares

CASES = [
    (pages, part, Shares(a, b))
    for pages in (30, 200, 1000)
    for part in (0.05, 0.2, 0.5)
    for a, b in ((0.5, 0.5), (1.0, 1.0), (0.4, 2.0), (2.0, 5.0))
]


@pytest.mark.parametrize(("pages", "part", "shares"), CASES)
def test_the_exact_size_is_the_best_of_all(pages, part, shares):
    found = [probing.changes_found(size, pages, part, shares) for size in range(1, int(part * pages) + 1)]
    size = visit_forms.exact_size(pages, part, shares)
    assert found[size - 1] == max(found)
    if part * pages < 40:
        return  # so few that one probe more or less is much
    ours = found[max(round(float(probing.best_size(pages, part, shares))), 1) - 1]
    printed = found[max(round(float(probing.printed_size(pages, part, shares))), 1) - 1]
    assert ours >= 0.97 * max(found)
    assert printed >= 0.85 * max(found)


def test_the_exact_size_may_be_far_from_the_first_order_optimum():
    shares = Shares(0.1, 2.0)
    found = [probing.changes_found(size, 300, 0.95, shares) for size in range(1, 286)]
    assert found[visit_forms.exact_size(300, 0.95, shares) - 1] == max(found)
    assert visit_forms.exact_size(300, 0.95, shares) > 10 * probing.best_size(300, 0.95, shares)


@pytest.mark.parametrize(("pages", "part", "shares"), CASES)
def test_the_quick_sizes_find_as_much_as_the_exact_one(pages, part, shares):
    ours, exact = float(probing.exact_sizes(pages, part, shares)), visit_forms.exact_size(pages, part, shares)
    found = [probing.changes_found(size, pages, part, shares) for size in (round(ours), exact)]
    assert ours == int(ours)
    assert found[0] >= 0.995 * found[1]


def test_where_a_site_has_few_visits_the_first_order_leaves_nothing_to_use_the_probes_for():
    shares = Shares(0.5, 2.0)
    sizes = (float(probing.exact_sizes(20, 0.1, shares)), round(float(probing.best_size(20, 0.1, shares))))
    assert sizes == (1.0, 2)
    assert probing.changes_found(2, 20, 0.1, shares) < 0.7 * probing.changes_found(1, 20, 0.1, shares)


def test_sizes_of_ten_thousand_sites_are_worked_out_once_for_those_alike(monkeypatch):
    tries, found = list[int](), probing.changes_found
    monkeypatch.setattr(probing, "changes_found", lambda *given: tries.append(given[1]) or found(*given))
    pages = 1e5 / np.arange(1.0, 10_001.0) ** 0.9
    for shares in (Shares(0.51, 2.0), Shares(0.511, 2.001)):
        sizes = probing.exact_sizes(np.round(pages), 0.1, shares)
        assert sizes[0] > 50 * sizes[-1] > 0
        assert 0 < len(tries) < 4600
        assert len(set(tries)) < 120


def test_the_expected_changes_are_those_of_made_up_sites():
    rng, pages, part, size, sites = np.random.default_rng(3), 200, 0.2, 8, 40_000
    share = rng.beta(1.0, 3.0, sites)
    probes = rng.binomial(size, share)
    order = np.argsort(-(probes + rng.random(sites) / 2))
    visits = np.zeros(sites)
    visits[order] = np.clip(sites * (part * pages - size) - np.arange(sites) * (pages - size), 0, pages - size)
    found = (probes.sum() + (visits * share).sum()) / sites
    assert probing.changes_found(size, pages, part, Shares(1.0, 3.0)) == pytest.approx(found, rel=0.02)


def test_sizes_stay_within_the_budget():
    pages = np.array([1.0, 5.0, 100.0, 1e7])
    for shares in (Shares(), Shares(1e-3, 1e-3), Shares(1e4, 1e4), Shares(0.01, 50.0)):
        for size in (probing.best_size, probing.printed_size, probing.exact_sizes):
            found = size(pages, 0.1, shares)
            assert (found >= np.minimum(1.0, 0.1 * pages)).all()
            assert (found <= 0.1 * pages).all()
    assert visit_forms.exact_size(5, 0.1, Shares()) == 1


def test_greedy_spends_all_on_the_best():
    rng = np.random.default_rng(4)
    pages, share = rng.integers(1, 50, 40).astype(float), rng.random(40)
    spent = probing.greedy(pages, share, 300.0)
    assert spent.sum() == pytest.approx(300.0)
    assert (spent <= pages).all()
    assert share[spent == pages].min() >= share[spent < pages].max()
    assert probing.greedy(pages, share, 1e9).tolist() == pages.tolist()


def test_proportional_spends_all_where_there_are_changes():
    rng = np.random.default_rng(5)
    pages, share = rng.integers(1, 50, 40).astype(float), rng.random(40)
    spent = probing.proportional(pages, share, 400.0)
    assert spent.sum() == pytest.approx(400.0)
    assert (spent <= pages * (1 + 1e-12)).all()
    free = spent < pages
    assert np.ptp(spent[free] / (pages * share)[free]) < 1e-9
    assert (spent @ share) < probing.greedy(pages, share, 400.0) @ share
    assert probing.proportional(pages, np.zeros(40), 400.0).sum() == 0
    assert probing.proportional(pages, share, 1e9) == pytest.approx(pages)


def test_small_sites_are_joined_with_those_like_them():
    rng = np.random.default_rng(6)
    pages, likeness = np.concatenate([np.full(3, 500.0), rng.integers(1, 9, 300)]), rng.random(303)
    label = probing.clusters(pages, likeness, 20)
    assert sorted(set(label.tolist())) == list(range(20))
    assert np.bincount(label)[label[:3]].tolist() == [1, 1, 1]
    joined = np.bincount(label, pages)[3:]
    assert joined.max() < 1.5 * joined.min()
    spread = [np.ptp(likeness[label == cluster]) for cluster in range(3, 20)]
    assert max(spread) < 0.0915


def test_clusters_at_the_ends():
    pages = np.array([3.0, 1.0, 2.0])
    assert probing.clusters(pages, pages, 3).tolist() == [0, 1, 2]
    assert probing.clusters(pages, pages, 9).tolist() == [0, 1, 2]
    assert probing.clusters(pages, pages, 1).tolist() == [0, 0, 0]
    assert sorted(set(probing.clusters(np.zeros(9), np.zeros(9), 4).tolist())) <= [0, 1, 2, 3]
