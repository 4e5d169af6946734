"""The webs of links are what their names promise, and the same for the same seed."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from evercrawl.simulate.graphs import Web, bow_tie, copying, poisson, power_law, sites
from evercrawl.simulate.graphs.base import zipf
from evercrawl.simulate.graphs.bow_tie import parts

KINDS = [power_law, poisson, copying, bow_tie, sites]


def exponent(into):
    """Return the exponent of the tail of a power law: Clauset, Shalizi, Newman (2009), eq. 3.7."""
    least = 5
    tail = into[into >= least]
    return 1 + len(tail) / np.log(tail / (least - 0.5)).sum()


@pytest.mark.parametrize("kind", KINDS)
def test_links_are_distinct_in_order_and_lead_to_other_pages(kind):
    web = kind(3000, seed=5)
    key = web.source.astype(np.int64) * web.pages + web.target
    assert web.pages == 3000
    assert (np.diff(key) > 0).all()
    assert (web.source != web.target).all()
    assert web.out.sum() == web.into.sum() == web.links


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_decides_all(kind):
    one, again, other = kind(500, seed=1), kind(500, seed=1), kind(500, seed=2)
    assert np.array_equal(one.target, again.target)
    assert not np.array_equal(one.target, other.target)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_in_degrees_of_the_power_law_and_of_copying_have_the_exponent(seed):
    assert exponent(power_law(50_000, seed).into) == pytest.approx(2.1, abs=0.06)
    assert exponent(copying(50_000, seed).into) == pytest.approx(2.1, abs=0.15)


def test_the_power_law_has_about_as_many_links_as_it_is_said_to():
    mean = np.mean([power_law(100_000, seed).links for seed in range(5)]) / 100_000
    assert mean == pytest.approx(4.4, abs=0.4)


def test_poisson_degrees_have_the_mean_for_their_variance():
    web = poisson(50_000, seed=1)
    for degrees in (web.into, web.out):
        assert degrees.mean() == pytest.approx(5.0, abs=0.05)
        assert degrees.var() == pytest.approx(5.0, abs=0.15)


def test_the_bow_tie_has_its_parts():
    pages = 5000
    web, members = bow_tie(pages, seed=3), parts(pages, seed=3)
    matrix = csr_matrix((np.ones(web.links), web.target, web.start), shape=(pages, pages))
    _, component = connected_components(matrix, connection="strong")
    core = np.flatnonzero(component == np.bincount(component).argmax())
    assert np.array_equal(core, np.sort(members["core"]))
    part = np.empty(pages, int)
    for number, pages_of in enumerate(members.values()):
        part[pages_of] = number
    numbers = {name: number for number, name in enumerate(members)}
    leads = {(a, b) for a, b in zip(part[web.source], part[web.target], strict=True)}
    assert {a for a, b in leads if b == numbers["core"]} == {numbers["in"], numbers["core"]}
    assert {b for a, b in leads if a == numbers["out"]} == {numbers["out"]}
    assert {(a, b) for a, b in leads if numbers["apart"] in (a, b)} == {(numbers["apart"], numbers["apart"])}


def test_sites_are_blocks_with_their_root_first_and_keep_four_links_in_five():
    web = sites(20_000, seed=2)
    assert (np.diff(web.site) >= 0).all()
    assert np.array_equal(web.root, np.flatnonzero(np.diff(web.site, prepend=-1)))
    assert (web.site[web.source] == web.site[web.target]).mean() == pytest.approx(0.8, abs=0.02)
    into = web.into
    assert into[web.root].mean() > 2 * into.mean()


def test_zipf_is_in_proportion():
    drawn = np.bincount(zipf(np.random.default_rng(1), 200_000, 2.0, 4), minlength=5)[1:] / 200_000
    assert drawn == pytest.approx(np.array([1, 1 / 4, 1 / 9, 1 / 16]) / (1 + 1 / 4 + 1 / 9 + 1 / 16), abs=0.005)


def test_a_web_of_no_links_has_none():
    web = Web.of(3, np.empty(0, np.int64), np.empty(0, np.int64))
    assert (web.pages, web.links, web.out.tolist()) == (3, 0, [0, 0, 0])
