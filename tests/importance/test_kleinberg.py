"""Authorities and hubs by two-hop pushes: against the yardstick, while links change, and what cash would compute."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from evercrawl.importance import AOPIC, Ledger, Unbounded, Weighted, shares
from evercrawl.importance.ledger.bounds import certificate
from evercrawl.importance.ledger.kleinberg import Kleinberg
from evercrawl.importance.offline import Graph, authority

PAGES = 60


def drawn(seed):
    """Return the links of pages that all hang together, some links twice."""
    random = np.random.default_rng(seed)
    links = {page: random.integers(0, PAGES, 4).tolist() for page in range(PAGES)}
    for page in range(PAGES):
        links[page] += [(page + 1) % PAGES, (page + 2) % PAGES]
    return links


def exact(links):
    edges = [(page, target) for page, targets in links.items() for target in targets]
    return authority(Graph.of(PAGES, edges, raw=True))


def learned(ranks):
    found = ranks.authorities()
    return [found[page] for page in range(PAGES)]


def test_authorities_are_those_of_the_whole_matrix():
    links, ranks = drawn(1), Kleinberg()
    for page in range(PAGES):
        ranks.read(page, links[page])
    for _ in range(300):
        ranks.turn()
    found, factor = exact(links)
    np.testing.assert_allclose(learned(ranks), found, rtol=1e-9)
    assert ranks.eigenvalue == pytest.approx(factor, rel=1e-12)
    hubs = ranks.hubs()
    got = [sum(found[target] for target in links[page]) for page in range(PAGES)]
    np.testing.assert_allclose([hubs[page] for page in range(PAGES)], np.array(got) / sum(got), rtol=1e-9)


def test_links_that_change_on_the_way_do_not_matter_in_the_end():
    links, ranks, random = drawn(1), Kleinberg(), np.random.default_rng(2)
    for page in range(PAGES):
        ranks.read(page, [*links[page][:3], *links[(7 * page) % PAGES]])
        ranks.visit(page)
    for page in random.integers(0, PAGES, 50 * PAGES).tolist():
        ranks.visit(page)
    for page in range(PAGES):
        ranks.read(page, links[page])
    for page in random.integers(0, PAGES, 300 * PAGES).tolist():
        ranks.visit(page)
    np.testing.assert_allclose(learned(ranks), exact(links)[0], rtol=1e-9)


def test_a_page_whose_links_come_late_is_a_hub_then():
    ranks = Kleinberg()
    ranks.read("a", ["b"])
    ranks.read("c", [])
    for _ in range(5):
        ranks.turn()
    assert ranks.pages["c"].hub == ranks.pages["a"].authority == 0
    ranks.read("c", ["a"])
    ranks.read("c", ["a", "b"])
    for _ in range(60):
        ranks.turn()
    assert ranks.authorities()["b"] / ranks.authorities()["a"] == pytest.approx((1 + 5**0.5) / 2)


def test_what_comes_in_is_what_the_links_bring_exactly():
    links, ranks = {0: [1, 2, 2], 1: [0, 2], 2: [0, 0]}, Kleinberg()
    for page, targets in links.items():
        ranks.read(page, targets)
    for page in ranks.pages.values():
        page.hub, page.authority = Fraction(page.hub), Fraction(page.authority)
        page.as_hub, page.as_authority = Fraction(page.as_hub), Fraction(page.as_authority)
    for page in (0, 1, 2, 0):
        ranks._values, ranks._incoming = Fraction(7), Fraction(5)
        ranks.visit(page)
        if page == 2:
            links[1] = [0]
            ranks.read(1, links[1])
        for name, both in ranks.pages.items():
            assert both.as_hub == sum(ranks.pages[to].authority for to in links[name])
            assert both.as_authority == sum(other.hub * links[at].count(name) for at, other in ranks.pages.items())
            assert isinstance(both.as_authority, Fraction)


def test_cash_that_is_shared_out_both_ways_finds_no_more_than_the_number_of_links():
    links = drawn(3)
    ledger = Ledger(AOPIC(tax=0, window=Unbounded()), matrix=Weighted())
    parents = {page: [at for at in links for to in links[at] if to == page] for page in range(PAGES)}
    for page in range(PAGES):
        ledger.add(("authority", page), cash=1 / PAGES)
    for _ in range(100):
        for page in range(PAGES):
            ledger.visit(("authority", page), [("hub", at) for at in parents[page]])
        for page in range(PAGES):
            ledger.visit(("hub", page), [("authority", to) for to in links[page]])
    found = shares(ledger, "identity")
    count = Counter(to for targets in links.values() for to in targets)
    authorities = [found["authority", page] for page in range(PAGES)]
    by_links = np.array([count[page] for page in range(PAGES)]) / sum(count.values())
    off = np.abs(np.array(authorities) / sum(authorities) - by_links).sum()
    assert off < 0.1 * np.abs(exact(links)[0] - by_links).sum()
    assert certificate(ledger) == float("inf"), "without a tax nothing is certain"
