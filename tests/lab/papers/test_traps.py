"""Farms and traps: what theory says they gain is what they gain, and cash is conserved in a trap."""

import numpy as np
import pytest

from evercrawl.cli.main import main
from evercrawl.importance.offline import pagerank
from evercrawl.lab.base import LabOptions
from evercrawl.lab.catalogue import experiment
from evercrawl.lab.papers.accuracy import graph_of
from evercrawl.lab.papers.farming import Rule, farmed, gained, importance_of, targets
from evercrawl.lab.papers.trapping import NEW_LINKS, Trapped
from evercrawl.lab.papers.traps import RULES, SPENDS, gains, swallowed
from evercrawl.simulate.graphs import Web, sites

TAX = 0.15
NOBODY = np.zeros(0, np.int64)


@pytest.fixture(scope="module")
def web():
    return sites(2000, 1)


@pytest.fixture(scope="module")
def found():
    return experiment("traps").run(LabOptions(pages=1500, turns=4), lambda line: None)


def gain(web, target, pages, rule, trusted) -> float:
    return gained(web, target, pages, rule, trusted, importance_of(web, rule, trusted)).gain


def test_a_farm_is_the_pages_it_is_made_of(web):
    made = farmed(web, 77, 50)
    assert made.web.pages == 2050
    assert made.web.links == web.links + 100
    assert (made.web.site[2000:] == web.site[77]).all()
    assert made.web.into[77] == web.into[77] + 50


def test_where_the_virtual_page_pays_all_alike_a_farm_gains_what_theory_says(web):
    (target,) = targets(web, 1, 1)
    before, farm = pagerank(graph_of(web))[target] * 2000 / 2100, 100
    expected = (before * (1 + web.out[target] * 0) + (1 - TAX) * farm * TAX / 2100) / (1 - (1 - TAX) ** 2)
    found = gain(web, int(target), farm, Rule("known"), NOBODY) * before * 2100 / 2000
    assert found == pytest.approx(expected, rel=0.15), "its links to others are few beside those to the farm"


def test_a_farm_gains_the_ring_alone_where_only_honest_pages_are_paid(web):
    (target,) = targets(web, 1, 2)
    trusted = np.flatnonzero(web.site != web.site[target])[:50]
    ring = 1 / (1 - (1 - TAX) ** 2)
    assert 1.0 < gain(web, int(target), 100, Rule("trusted"), trusted) <= ring * 1.02


def test_what_a_farm_does_to_others_is_how_far_they_are_from_what_they_are_worth(web):
    (target,) = targets(web, 1, 1)
    for rule, least in ((Rule("known"), 1e-3), (Rule("site"), 0.0)):
        honest = importance_of(web, rule, NOBODY)
        assert honest.sum() == pytest.approx(1.0)
        found = gained(web, int(target), 100, rule, NOBODY, honest)
        assert found.gain == gain(web, int(target), 100, rule, NOBODY)
        after = importance_of(farmed(web, int(target), 100).web, rule, NOBODY)
        others = np.arange(2000) != target
        true, thought = honest[others] / honest[others].sum(), after[:2000][others] / after[:2000][others].sum()
        assert found.others.weighted == pytest.approx(np.abs(thought - true).sum())
        assert found.others.weighted > least


def test_nothing_is_told_of_others_where_some_are_worth_nothing():
    web = Web.of(4, np.array([0, 1, 2]), np.array([1, 0, 3]), np.array([0, 0, 1, 1], np.int32), np.array([0, 2]))
    rule, trusted = RULES["trusted pages"], np.array([0])
    assert np.isnan(gained(web, 1, 2, rule, trusted, importance_of(web, rule, trusted)).others.mean)


@pytest.mark.parametrize("spends", ["known", "push"])
def test_without_a_trap_the_estimate_comes_to_the_truth(web, spends):
    crawl = Trapped(web, NOBODY, spends)
    crawl.run(10 * web.pages)
    known = crawl.estimate() > 0
    rule = Rule("known" if spends == "known" else "site")
    truth = importance_of(web, rule, NOBODY)
    off = np.abs(crawl.estimate() / crawl.estimate().sum() - truth)
    assert known.sum() > 0.95 * web.pages
    assert off.sum() < (0.1 if spends == "known" else 0.02)


def test_farms_gain_less_from_rule_to_rule(found):
    known, trusted, site, default = (np.median(gains(found.rows, rule)) for rule in RULES)
    assert known > site > default > 1
    assert trusted < 4 < site


def test_pages_that_want_to_gain_are_ordinary(web):
    chosen = targets(web, 20, 3)
    assert len(set(chosen.tolist())) == 20
    assert (web.into[chosen] > 0).all()


@pytest.mark.parametrize("spends", ["known", "site", "read"])
def test_cash_is_conserved_in_a_trap(web, spends):
    crawl = Trapped(web, np.arange(20), spends)
    for _ in range(8):
        crawl.run(500)
        assert crawl.left() == pytest.approx(1.0, abs=1e-9)
    assert crawl.visits == 4000
    assert crawl.fallen > 0


def test_push_uses_up_what_there_is_and_keeps_its_law(web):
    crawl = Trapped(web, np.arange(20), "push")
    left = []
    for _ in range(4):
        crawl.run(2000)
        left.append(crawl.left())
    assert left == sorted(left, reverse=True)
    assert left[-1] < 0.108


@pytest.mark.parametrize("spends", list(SPENDS.values()))
def test_the_visit_goes_to_whoever_has_most_to_pass_on(web, spends):
    crawl = Trapped(web, np.arange(20), spends)
    crawl.run(700)
    for _ in range(100):
        has = crawl.cash()
        most = max(map(abs, has.values())) if spends == "push" else max(has.values())
        chosen = has[crawl.richest()]
        assert (abs(chosen) if spends == "push" else chosen) == pytest.approx(most, rel=1e-12)
        crawl.run(1)


def test_each_page_of_a_trap_leads_to_new_ones_and_is_counted(web):
    crawl = Trapped(web, np.arange(20), "known")
    crawl.run(6000)
    made = [page for page in crawl.cash() if page >= web.pages]
    assert crawl.fallen >= 5
    assert (len(made) - 1) % NEW_LINKS == 0
    assert sorted(made) == list(range(web.pages, web.pages + len(made)))


def test_who_pays_known_urls_alike_feeds_the_trap_most(found):
    rows = [row for row in found.rows if row["kind"] == "trap"]
    last = {rule: [row for row in rows if row["rule"] == rule][-1] for rule in SPENDS}
    assert last["known URLs alike"]["known"] > last["per site"]["known"]
    assert swallowed(found.rows, "push, per site, over pages read (default)")["turn"] == 1.0
    assert swallowed(found.rows, "per site")["turn"] == 4.0
    assert last["known URLs alike"]["weighted"] > last["push, per site, over pages read (default)"]["weighted"] > 0
    assert len(found.panels) == 6


def test_a_missed_limit_ends_the_command_with_1(monkeypatch, capsys, tmp_path):
    from evercrawl.lab.papers import traps

    flags = ["lab", "traps", "--pages", "1000", "--turns", "1", "--out", str(tmp_path)]
    monkeypatch.setattr(traps, "MOST_GAIN", 1e9)
    monkeypatch.setattr(traps, "MOST_SHARE", 1.0)
    assert main(flags) == 0
    monkeypatch.setattr(traps, "MOST_GAIN", 1.0)
    assert main(flags) == 1
    assert "REFUTED" in capsys.readouterr().out


def test_a_page_that_nobody_trusted_leads_to_gains_nothing_that_can_be_told():
    """Small webs with few trusted pages have such; they are left out rather than divided by."""
    web = Web.of(4, np.array([0, 1, 2]), np.array([1, 0, 3]), np.array([0, 0, 1, 1], np.int32), np.array([0, 2]))
    assert np.isnan(gain(web, 3, 2, RULES["trusted pages"], np.array([0])))
    assert gain(web, 1, 2, RULES["trusted pages"], np.array([0])) > 1
