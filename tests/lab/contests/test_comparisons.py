"""Whole comparisons, small: each is run, single rows and budgets can be had, and known yardsticks stay as strong."""

import json

import numpy as np
import pytest

from evercrawl.cli.main import main
from evercrawl.errors import ConfigError
from evercrawl.lab.base import LabOptions
from evercrawl.lab.catalogue import experiment
from evercrawl.lab.contests import drift, freshness, systems
from evercrawl.lab.contests.comparison import Case
from evercrawl.lab.contests.contest import Contest, abandons_none, chosen
from evercrawl.lab.contests.contestants import INDEX, SYSTEMS, Contestant
from evercrawl.lab.contests.plugged import ESTIMATORS, Plugged
from evercrawl.lab.contests.printed_ratios import BUDGETS, CORRELATIONS, printed
from evercrawl.lab.contests.running import row_of, rows_of
from evercrawl.lab.tables import labels
from evercrawl.schedule.base import Context
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.policies.price_gamma import PriceGamma

DAY_S = 86_400.0
MADE = {each.label: each for each in (*INDEX, *SYSTEMS)}


def quiet(line):
    assert line


def claims_of(found, label):
    return [claim for claim in found.claims if claim.claim.startswith(f"{label}:")]


def test_freshness_compares_closed_forms_and_runs_at_every_printed_budget(monkeypatch):
    monkeypatch.setattr(freshness.Freshness, "contestants", (MADE["price_gamma"], MADE["plug-in, X/T"]))
    found = experiment("freshness").run(LabOptions(pages=40, turns=1), quiet)
    for label in ("price_gamma", "plug-in, X/T", "uniform", "LambdaCrawl, random"):
        places = {(row["correlation"], row["budget"]) for row in found.rows if row["policy"] == label}
        assert places == {(c, b) for c in CORRELATIONS for b in BUDGETS}
        assert sum(" as printed, within 0.03" in claim.claim for claim in claims_of(found, label)) == 1
    (plugged,) = claims_of(found, "plug-in, X/T")
    assert all(f"{printed()['index, X/T', c, b]:.3f}" in plugged.printed for c in CORRELATIONS for b in BUDGETS)
    assert plugged.found.count(",") == 9
    assert not found.missed


def test_systems_hold_rows_to_what_was_printed_at_every_printed_budget(monkeypatch):
    monkeypatch.setattr(systems.Systems, "contestants", (MADE["price"], MADE["tianwang"]))
    found = experiment("systems").run(LabOptions(pages=60, turns=2), quiet)
    assert {row["budget"] for row in found.rows} == set(BUDGETS)
    assert [len(claims_of(found, label)) for label in ("price", "tianwang")] == [1, 1]
    assert claims_of(found, "tianwang")[0].found.count(",") == 9
    assert found.claims[-1].holds
    assert {curve.label for panel in found.panels for curve in panel.curves} == {"price", "tianwang"}


def test_drift_holds_rows_to_what_was_printed_and_price_to_our_promise():
    two = (drift.LEARNED, "plug-in, Cho (13), 10 % of rates jump")
    found = experiment("drift").run(LabOptions(pages=60, turns=2, policies=two), quiet)
    assert set(labels(found.rows)) == set(two)
    assert [len(claims_of(found, label)) for label in two] == [1, 1]
    assert "at least 0.92" in found.claims[2].printed
    assert len(found.claims) == 4
    once = experiment("drift").run(LabOptions(pages=60, turns=1, policies=two[1:], budgets=(0.3,)), quiet)
    assert [claim.printed for claim in once.claims] == ["0.860"]
    other = experiment("drift").run(LabOptions(pages=60, turns=1, policies=two[1:], budgets=(0.5,)), quiet)
    assert [claim.holds for claim in other.claims] == [None]
    planned = experiment("drift").run(LabOptions(pages=60, turns=1, policies=("optimal",), budgets=(0.3,)), quiet)
    assert [(claim.printed, claim.holds) for claim in planned.claims] == [("", None)], "no figure of another's"


def test_signals_are_told_by_how_much_they_help():
    found = experiment("signals").run(LabOptions(pages=40, turns=1), quiet)
    assert {row["budget"] for row in found.rows} == {0.03, 0.3}
    assert len(labels(found.rows)) == 10
    closed = [row for row in found.rows if str(row["policy"]).startswith("the best")]
    best = [[row["value"] for row in closed if row["budget"] == budget] for budget in (0.03, 0.3)]
    assert all(none < some < more for none, some, more in best)
    assert sum("the best possible freshness" in claim.claim for claim in found.claims) == 6
    assert len(claims_of(found, "told all")) == 1
    assert all(claim.found.count(",") == 1 for claim in found.claims)


def test_single_rows_and_budgets_are_run_where_they_are_asked_for():
    options = LabOptions(pages=40, turns=1, policies=("azar", "nutch_adaptive, a cycle"), budgets=(0.5,))
    found = experiment("systems").run(options, quiet)
    run = [label for label in labels(found.rows) if not label.startswith("closed form")]
    known = ["azar, even, known rates", "azar, random, known rates"]
    assert run == ["azar, random", "azar, even", *known, "nutch_adaptive, a cycle"]
    assert {row["budget"] for row in found.rows} == {0.5}
    found = experiment("freshness").run(
        LabOptions(pages=40, turns=1, policies=("plug-in, X/T",), budgets=(0.1,)), quiet
    )
    assert labels(found.rows) == ["plug-in, X/T"]
    assert [claim.claim.partition(":")[0] for claim in found.claims] == ["plug-in, X/T"]


def test_a_name_of_no_row_is_refused_with_those_there_are():
    with pytest.raises(ConfigError, match=r"no row called nobody.*nutch_adaptive, 30 days"):
        chosen(SYSTEMS, LabOptions(policies=("nobody",)))
    assert chosen(SYSTEMS, LabOptions()) == [each for each in SYSTEMS if each.there]


def test_processes_change_nothing_and_all_are_told_of():
    cases = [Case(Contest, MADE[label], 40, 0.5, 1, 0.5, 1.0) for label in ("uniform", "plug-in, Thompson", "rpuc")]
    told = list[str]()
    alone, together = (rows_of(cases, jobs, told.append) for jobs in (1, 2))
    for rows in (alone, together):
        for row in rows:
            assert row.pop("seconds") > 0
            assert np.isnan(row.pop("harmonic"))
    assert alone == together
    assert [line[: line.index(",")] for line in told[:2]] == ["1 of 3: uniform", "2 of 3: plug-in"]
    assert len(told) == 6


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["systems", "--budget", "much"], "--budget must be"),
        (["systems", "--budget", "0%"], "--budget must be"),
        (["systems", "--policy", "nobody"], "no row called nobody"),
        (["systems", "--jobs", "0"], "--jobs must be"),
        (["fig3", "--policy", "price"], "leave out --policy"),
        (["caps", "--budget", "0.1"], "leave out --budget"),
    ],
)
def test_what_cannot_be_compared_is_said_with_what_can(flags, said, capsys):
    assert main(["lab", *flags]) == 2
    assert said in capsys.readouterr().err


def test_a_single_cell_can_be_had_from_the_command_line(capsys):
    asked = ["systems", "--pages", "40", "--turns", "1", "--policy", "cycle", "--budget", "50%", "--jobs", "1"]
    assert main(["lab", *asked, "--json"]) == 0
    out, err = capsys.readouterr()
    rows = [line for line in map(json.loads, out.splitlines()) if line["event"] == "row"]
    mine = [row for row in rows if row["policy"] == "cycle"]
    assert [(row["correlation"], row["budget"]) for row in mine] == [(0.0, 0.5), (0.5, 0.5)]
    assert mine[0]["ratio"] == row_of(Case(Contest, Contestant("cycle", "cycle"), 40, 0.0, 1, 0.5, 1.0))["ratio"]
    assert "2 of 2: cycle, correlation 0.5, seed 1, 50 %" in err


def test_no_page_is_said_to_be_abandoned_where_nothing_of_ours_was_run():
    assert abandons_none([{"policy": "cycle", "abandoned": 3}], ["price"], promised=True) == []


def pages_of(visited_at, shape=2.0):
    one, none = np.ones(len(visited_at)), np.zeros(len(visited_at))
    slots = np.arange(len(visited_at), dtype=np.uint32)
    return Pages(slots, visited_at, one, none, shape * one, shape * DAY_S * one, one, none, none)


def visits_of(changed, interval_s):
    n = len(changed)
    yes, no, none = np.ones(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n, np.int64)
    slots = np.arange(n, dtype=np.uint32)
    return Visits(slots, slots, np.full(n, DAY_S), np.full(n, interval_s), yes, no, changed, np.full(n, np.nan),
                  np.zeros(n), np.zeros(n), none, no, none)  # fmt: skip


def test_rates_that_are_plugged_in_are_those_of_their_estimator():
    pages, half_s = pages_of(np.zeros(2)), DAY_S / 2
    found = dict[str, list[float]]()
    for name in ESTIMATORS:
        policy = Plugged(name)
        for changed in ([True, False], [True, False], [False, False]):
            policy.learn(visits_of(np.array(changed), half_s))
        found[name] = (policy.rates(pages) * DAY_S).tolist()
    assert found["mean"] == pytest.approx([1.0, 1.0])
    assert found["naive"] == pytest.approx([2 / 1.5, 0.5 / 1.5])
    assert found["log_corrected"] == pytest.approx([-2 * np.log(1.5 / 3.5), -2 * np.log(3.0 / 3.5)])


def test_a_rate_is_drawn_again_when_its_page_is_visited_and_not_before():
    policy = Plugged("thompson")
    many = policy.rates(pages_of(np.zeros(4000)))
    assert many.mean() * DAY_S == pytest.approx(1.0, abs=0.05)
    assert many.var() * DAY_S**2 == pytest.approx(0.5, abs=0.05)
    assert (policy.rates(pages_of(np.zeros(4000))) == many).all()
    later = policy.rates(pages_of(np.where(np.arange(4000) < 10, 1.0, 0.0)))
    assert (later[10:] == many[10:]).all()
    assert (later[:10] != many[:10]).all()
    new = Plugged("thompson")
    assert (new.rates(pages_of(np.full(5, np.nan))) == new.rates(pages_of(np.full(5, np.nan)))).all()


def test_what_is_plugged_in_is_worth_what_a_known_rate_is_and_falls_due_then():
    pages, sure = pages_of(np.zeros(3), shape=2.0), pages_of(np.zeros(3), shape=1e12)
    one, other = Plugged("mean"), PriceGamma()
    assert one.value(pages, Context(DAY_S)) == pytest.approx(other.value(sure, Context(DAY_S)))
    assert (one.value(pages, Context(DAY_S)) != other.value(pages, Context(DAY_S))).all()
    one.price = other.price = 0.3 * DAY_S
    assert one.due(pages, Context(DAY_S)) == pytest.approx(other.due(sure, Context(DAY_S)))
    assert one.fresh(pages, Context(DAY_S)) == pytest.approx(np.exp(-1.0))


@pytest.mark.parametrize(
    ("label", "least"),
    [
        ("nutch_adaptive, a cycle", 0.754), ("nutch_adaptive, 30 days", 0.55), ("stormcrawler_adaptive", 0.713),
        ("azar, random", 0.853), ("lambda_crawl, random", 0.799),
    ],
)  # fmt: skip
def test_yardsticks_stay_as_strong_as_they_are(label, least):
    """Within 0.006 of what they reach on these very pages, where importance and rates correlate."""
    assert Case(Contest, MADE[label], 300, 0.5, 1, 0.1, 8.0).row()["ratio"] >= least
