"""Farms of links among made-up sites: found whatever their shape, and friends and families left in peace."""

import numpy as np
import pytest

from evercrawl.importance.sites.cycles import cycles
from evercrawl.importance.sites.farms import suspected_farms
from evercrawl.importance.sites.sites import SiteLinks

HONEST = 200


def honest(seed: int = 1) -> list[tuple[int, int]]:
    """Return the links of sites that link to others, more to those that many know, as the web does."""
    draw = np.random.default_rng(seed)
    fame = 1 / np.arange(1, HONEST + 1) ** 0.7
    return [
        (site, int(other))
        for site in range(HONEST)
        for other in draw.choice(HONEST, 1 + draw.integers(12), p=fame / fame.sum())
    ]


def star(members: range) -> list[tuple[int, int]]:
    first, *others = members
    return [pair for other in others for pair in ((other, first), (first, other))]


def ring(members: range, steps: int = 1) -> list[tuple[int, int]]:
    count = len(members)
    return [(members[i], members[(i + step) % count]) for i in range(count) for step in range(1, steps + 1)]


def clique(members: range) -> list[tuple[int, int]]:
    return [(one, other) for one in members for other in members if one != other]


def found(
    pairs: list[tuple[int, int]], owner: dict[int, int] | None = None, seeds: tuple[int, ...] = ()
) -> list[set[int]]:
    source, target = np.array(pairs).T
    sites = max(HONEST, int(source.max()) + 1, int(target.max()) + 1)
    owners = np.array([(owner or {}).get(site, site) for site in range(sites)])
    farms = suspected_farms(
        SiteLinks.of(sites, source, target), np.ones(sites), owners, seeded=np.isin(np.arange(sites), seeds)
    )
    return [set(farm.sites.tolist()) for farm in farms]


@pytest.mark.parametrize("shape", [star, ring, clique, lambda of: ring(of, 3)])
@pytest.mark.parametrize("size", [8, 30, 90])
def test_a_farm_is_found_whatever_its_shape(shape, size):
    members = range(HONEST, HONEST + size)
    assert found([*honest(), *shape(members), (150, HONEST)]) == [set(members)]


def test_links_to_honest_sites_do_not_hide_it():
    members = range(HONEST, HONEST + 30)
    outward = [(site, site % 7) for site in members]
    assert found([*honest(), *star(members), *outward, (150, HONEST), (90, HONEST + 3)]) == [set(members)]


@pytest.mark.parametrize("seed", range(8))
def test_an_honest_web_has_none(seed):
    assert found(honest(seed)) == []


def test_friends_whom_others_know_are_none():
    members = range(HONEST, HONEST + 12)
    known = [(3 * site % HONEST, site) for site in members][::3]  # a third of them
    assert found([*honest(), *clique(members), *known]) == []


def test_a_few_friends_whom_nobody_knows_are_none():
    assert found([*honest(), *clique(range(HONEST, HONEST + 7)), (5, HONEST)]) == []


def test_a_family_of_names_is_one_owner():
    members = range(HONEST, HONEST + 20)
    assert found([*honest(), *clique(members), (5, HONEST)], dict.fromkeys(members, HONEST)) == []


def test_a_list_of_sites_that_do_not_link_back_is_none():
    assert found([*honest(), *((5, site) for site in range(HONEST, HONEST + 40))]) == []


def test_what_lives_of_a_link_of_an_important_site_is_none():
    members = range(HONEST, HONEST + 10)
    assert found([*honest(), *ring(members), *((0, site) for site in members)]) == []


def test_nothing_is_said_where_there_is_nobody_to_compare_with():
    members = range(HONEST, HONEST + 100)
    assert found([*ring(range(HONEST), 2), *star(members), (5, HONEST)]) == [set(members)]
    apart = [pair for start in range(0, HONEST, 10) for pair in ring(range(start, start + 10))]
    assert found([*apart, (1, 0)]) == []  # every site of this crawl lives in such a ring
    assert found([*ring(range(HONEST), 2), *star(range(HONEST, HONEST + 150)), (5, HONEST)]) == []  # nearly half of it


@pytest.mark.parametrize("seeds", [(0,), (0, 1, HONEST), tuple(range(HONEST))])
def test_who_the_crawl_was_begun_with_is_not_suspected_beside_a_larger_farm(seeds):
    pairs = [*ring(range(HONEST), 3), *star(range(HONEST, 4 * HONEST)), (5, HONEST)]
    assert found(pairs) == [set(range(HONEST))]  # what it looks like to who does not know where the crawl began
    assert found(pairs, seeds=seeds) == []


def test_a_farm_is_named_though_a_seed_leads_to_it():
    members = range(HONEST, HONEST + 30)
    assert found([*honest(), *star(members), (150, HONEST)], seeds=(3, 4, HONEST)) == [set(members)]


def test_the_numbers_are_those_of_the_links():
    """A star of ten: by hand, x = 1 + .85 (9 + .85 x) for its centre, plus what the web gives it."""
    farm, = suspected_farms(
        SiteLinks.of(310, *np.array([*ring(range(300)), *star(range(300, 310))]).T), np.ones(310), np.arange(310)
    )  # fmt: skip
    assert farm.gain == pytest.approx((1 + 0.85 * 9) / (1 - 0.85**2))
    assert (farm.within, farm.alone, farm.usual, farm.mutual) == (1.0, 1.0, 0.0, 1.0)
    whole = 300 / 0.15 + (10 + 0.85 * 0) / 0.15
    assert farm.importance == pytest.approx(10 / 0.15 / whole)


def test_components_are_those_of_a_search_by_hand():
    draw = np.random.default_rng(3)
    for nodes in (1, 2, 5, 30):
        for _ in range(30):
            source, target = draw.integers(nodes, size=(2, int(draw.integers(1, 2 * nodes + 1))))
            reach = np.eye(nodes, dtype=bool)
            reach[source, target] = True
            for middle in range(nodes):
                reach |= reach[:, [middle]] & reach[[middle], :]
            both = reach & reach.T
            assert cycles(nodes, source, target).tolist() == [int(np.flatnonzero(row).max()) for row in both]
