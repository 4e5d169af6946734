"""Importance of sites from the links between them."""

import numpy as np
import pytest

from evercrawl.importance.sites import sites
from evercrawl.importance.sites.sites import SiteLinks, site_importance, within_sites


def drawn(seed: int, count: int = 60, pages: int = 2000) -> SiteLinks:
    draw = np.random.default_rng(seed)
    fame = draw.pareto(1.0, count) + 0.1
    return SiteLinks.of(count, draw.integers(0, count, pages), draw.choice(count, pages, p=fame / fame.sum()))


@pytest.mark.parametrize("equal", [True, False])
def test_it_is_the_solution_of_its_equation(equal):
    links, tax = drawn(2), 0.3
    weight = np.ones(len(links.source)) if equal else np.log2(1 + links.pages)
    x = site_importance(links, weight=weight if equal else None, tax=tax)
    assert x == pytest.approx(solution(links, weight, np.ones(links.sites), tax), rel=1e-12)


def solution(links, weight, bias, tax):
    matrix = np.zeros((links.sites, links.sites))
    matrix[links.source, links.target] = weight
    matrix /= np.maximum(matrix.sum(1, keepdims=True), 1e-300)
    solved = np.linalg.solve(np.eye(links.sites) - (1 - tax) * matrix.T, bias)
    return solved / solved.sum()


@pytest.mark.parametrize("trusted", [1, 7])
def test_it_settles_as_soon_as_links_mix_and_not_only_as_the_tax_is_paid(monkeypatch, trusted):
    """x = bias + xM taken step by step would be off by 0.85^40, 0.0015, after as many."""
    monkeypatch.setattr(sites, "STEPS", 40)
    links = drawn(5)
    bias = (np.arange(links.sites) % trusted == 0).astype(float)
    x = site_importance(links, bias, tax=0.15)
    assert x == pytest.approx(solution(links, links.weight, bias, 0.15), rel=1e-12)


def test_many_pages_with_the_same_footer_weigh_little_more_than_some():
    """Site 0 has 1,023 pages that all link to site 1, and one that links to site 2."""
    links = SiteLinks.of(3, np.zeros(1024, int), np.array([1] * 1023 + [2]))
    x = site_importance(links)
    plain = site_importance(links, weight=links.pages.astype(float))
    assert (x[1] - x[0]) / (x[2] - x[0]) == pytest.approx(10.0)
    assert (plain[1] - plain[0]) / (plain[2] - plain[0]) == pytest.approx(1023.0)


def test_what_is_on_every_page_weighs_as_much_as_what_is_on_one():
    """Site 0 has 100 pages: all name site 1, 49 site 2, and one site 3; of the 3 pages of site 4 all name site 3."""
    source, target = [0] * 150 + [4] * 3, [1] * 100 + [2] * 49 + [3] + [3] * 3
    counted = SiteLinks.of(5, np.array(source), np.array(target), np.array([100, 0, 0, 0, 3]))
    assert counted.weight == pytest.approx([1.0, np.log2(50), 1.0, 2.0])
    uncounted = SiteLinks.of(5, np.array(source), np.array(target))
    assert uncounted.weight == pytest.approx([np.log2(101), np.log2(50), 1.0, 2.0])


def test_links_within_a_site_do_not_count():
    inside = SiteLinks.of(2, np.array([0, 0, 1]), np.array([0, 0, 1]))
    assert len(inside.source) == 0
    assert site_importance(inside) == pytest.approx([0.5, 0.5])


def test_a_page_counts_once_a_site_and_each_page_counts():
    links = SiteLinks.of(4, np.array([3, 3, 0, 3]), np.array([1, 2, 1, 1]))
    assert list(zip(links.source.tolist(), links.target.tolist(), links.pages.tolist(), strict=True)) == [
        (0, 1, 1), (3, 1, 2), (3, 2, 1),
    ]  # fmt: skip
    assert links.linking.tolist() == [0, 2, 1, 0]


def test_trusted_sites_hand_their_trust_on_and_others_have_none():
    """0 is trusted and links to 1, which links to 2; 3 and 4 link to each other."""
    links = SiteLinks.of(5, np.array([0, 1, 3, 4]), np.array([1, 2, 4, 3]))
    x = site_importance(links, np.array([7.0, 0, 0, 0, 0]))
    assert x[1] / x[0] == pytest.approx(0.85)
    assert x[2] / x[1] == pytest.approx(0.85)
    assert x[3:].tolist() == [0.0, 0.0]


def test_without_sites_or_without_a_source_there_is_nothing():
    none = np.zeros(0, int)
    assert site_importance(SiteLinks.of(0, none, none)).tolist() == []
    assert site_importance(SiteLinks.of(2, none, none), np.zeros(2)).tolist() == [0.0, 0.0]


def test_within_a_site_pages_keep_their_order_and_share_what_the_site_has():
    draw = np.random.default_rng(3)
    site, pages, of_site = draw.integers(0, 5, 200), draw.random(200), draw.dirichlet(np.ones(6))
    pages[site == 4] = 0.0
    key = within_sites(pages, site, of_site)
    for number in range(5):
        here = site == number
        assert key[here].sum() == pytest.approx(of_site[number])
        assert np.array_equal(np.argsort(key[here], kind="stable"), np.argsort(pages[here], kind="stable"))
    assert len(set(key[site == 4].tolist())) == 1
