"""Newcomers: the kernel moves what the ledger moves, and what is said of newcomers is what the rules say."""

import numpy as np
import pytest

from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.newcomers import RULES
from evercrawl.importance.windows.exponential import Exponential
from evercrawl.lab.base import LabOptions
from evercrawl.lab.catalogue import experiment
from evercrawl.lab.papers.growing import Growing
from evercrawl.lab.papers.growth import FIRST_VISITS, PUSH, WAYS, as_found, as_grown, observed, ratios
from evercrawl.simulate.graphs import Web, poisson, power_law

SEEDS = np.array([1, 2, 3])
LENGTH = 6.0


def test_the_kernel_moves_what_the_ledger_moves():
    web = poisson(80, 1, mean=3.0)
    growing, ledger = Growing(web, SEEDS, LENGTH), Ledger(AOPIC(window=Exponential(LENGTH)))
    earned = ages = 0.0
    for page in SEEDS.tolist():
        ledger.add(page, cash=1 / len(SEEDS))
    for _ in range(150):
        before = growing.mark.copy()
        growing.run(1)
        (page,) = np.flatnonzero(growing.mark != before).tolist()
        known = ledger.pages[page]
        assert known.cash == pytest.approx(max(one.cash for one in ledger.pages.values()), abs=1e-12)
        had, born, new = known.cash - known.unmoved, known.born, known.held is None
        links = web.target[web.start[page] : web.start[page + 1]].tolist()
        for found in set(links) - set(ledger.pages):
            ledger.add(found)
            ledger.pages[found].born = ledger.total + known.cash
        ledger.visit(page, links)
        earned, ages = earned + new * had, ages + new * (ledger.total - born)
    assert sorted(ledger.pages) == growing.known.tolist()
    assert growing.total == pytest.approx(ledger.total)
    for page in growing.known.tolist():
        known = ledger.pages[page]
        assert growing.cash[page] == pytest.approx(known.cash, abs=1e-12)
        assert growing.mark[page] == pytest.approx(known.past.mark, abs=1e-12)
        assert growing._history[page] == pytest.approx(known.past.history, abs=1e-12)
    assert growing.at_first_visits() == pytest.approx(earned / ages)
    assert growing.at_first_visits() == 0.0, "asked a moment ago"


def test_a_page_is_there_from_its_turn_on():
    web = Web.of(4, np.array([0, 0, 1, 2, 3]), np.array([1, 2, 0, 3, 0]))
    growing = Growing(web, np.array([0]), LENGTH, np.array([0, 1, 3, 2]))
    growing.there = 2
    growing.run(20)
    assert growing.known.tolist() == [0, 1]
    assert growing.now().links == 2
    assert growing.cash.sum() == pytest.approx(1.0)
    growing.there = 4
    growing.run(20)
    assert growing.known.tolist() == [0, 1, 2, 3]
    assert growing.cash.sum() == pytest.approx(1.0)
    assert growing.born[3] >= growing.born[2] > 0


def test_it_stops_when_enough_is_known():
    growing = Growing(power_law(3000, 1), SEEDS, LENGTH)
    growing.run(10_000, 900)
    assert 900 <= len(growing.known) < 1100


def test_rules_are_asked_about_pages_never_read_and_those_found_lately():
    growing = Growing(power_law(3000, 1), SEEDS, LENGTH)
    growing.run(3000)
    seen, known = growing.seen(), growing.known
    unread = known[growing.mark[known] == 0]
    assert seen.pages == len(known)
    assert seen.cash == pytest.approx(growing.cash[unread].sum())
    assert seen.ages == pytest.approx((growing.total - growing.born[unread]).sum())
    assert set(growing.newcomers().tolist()) == set(known[growing.born[known] > growing.total - LENGTH].tolist())
    assert 0 < seen.introduced < 1
    assert growing.shares(None).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("looks", [as_found, as_grown])
def test_the_guess_matters_in_its_order_and_first_visits_mislead(looks):
    rows = observed("web", looks(power_law(20_000, 1), 1))
    assert len({row["known"] for row in rows}) >= 3
    none, pooled, paper = (ratios(rows, way) for way in ("none", "pooled", "paper"))
    assert (none < pooled).all()
    assert (pooled < paper).all()
    assert (ratios(rows, FIRST_VISITS) > ratios(rows, "guess, pooled")).all()
    weighted = {way: ratios(rows, way, "weighted") for way in ("pooled", "alone", PUSH, FIRST_VISITS, "guess, pooled")}
    assert (weighted[FIRST_VISITS] > weighted["guess, pooled"]).all()
    assert (weighted[PUSH] < weighted["pooled"]).all()
    assert np.isnan(ratios(rows, FIRST_VISITS, "rank")).all(), "it says the same of all of them"
    assert (ratios(rows, PUSH, "rank") < 0.6).all()


def test_where_pages_are_all_alike_the_pooled_guess_is_near_the_truth():
    rows = observed("web", as_grown(poisson(20_000, 1), 1))
    assert (abs(np.log(ratios(rows, "pooled"))) < np.log(1.4)).all()
    assert (ratios(rows, "none") < 0.7).all()


def test_every_rule_is_told_of_on_both_kinds_of_web():
    found = experiment("growth").run(LabOptions(pages=4000), lambda line: None)
    assert {str(row["graph"]).split(",")[0] for row in found.rows} == {"power-law", "poisson"}
    assert {row["way"] for row in found.rows} >= {*WAYS, PUSH, FIRST_VISITS, *(f"guess, {rule}" for rule in RULES)}
    assert 3 + 4 <= len(found.panels) <= 4 + 4, "on a web without order all may be newcomers"
    assert all(any(curve.ours for curve in panel.curves) for panel in found.panels)
    assert sum("first visits" in claim.claim for claim in found.claims) >= 3


def test_a_web_of_which_little_can_be_reached_is_told():
    lonely = Web.of(500, np.array([0, 1]), np.array([1, 0]))
    assert observed("web", as_found(lonely, 1)) == []
