"""Comparisons of policies: what is compared is there, what is claimed follows from the rows, and closed forms hold."""

import numpy as np
import pytest

from evercrawl import catalog, schedule
from evercrawl.errors import ConfigError
from evercrawl.lab.base import LabOptions
from evercrawl.lab.catalogue import experiment
from evercrawl.lab.contests import blends, byte_costs, caps, contest, estimators, freshness, signals, table1, yardsticks
from evercrawl.lab.contests.comparison import Case, plain
from evercrawl.lab.contests.contest import Contest, as_printed
from evercrawl.lab.contests.contestants import INDEX, SYSTEMS, Contestant
from evercrawl.lab.contests.drift import contestants as drifting
from evercrawl.lab.contests.drift import frozen
from evercrawl.lab.contests.printed_ratios import BUDGETS, CORRELATIONS, printed
from evercrawl.lab.contests.signals import contestants as announced
from evercrawl.lab.contests.still_rates import EVEN, RANDOM, still, whole_visits
from evercrawl.lab.figures.plotting import draw, percents
from evercrawl.lab.polling.polling import Conditions, PollingRun
from evercrawl.lab.polling.population import Population, population
from evercrawl.lab.tables import mean, panels
from evercrawl.schedule.abilities import Learns, Plans
from evercrawl.schedule.formulas import allocation

PAGES = population(300, seed=1)
NAMES = {"freshness", "table1", "estimators", "systems", "drift", "caps", "signals", "sensitivity", "vanishing",
         "flickering"}  # fmt: skip


def quiet(line):
    assert line


def test_every_figure_that_was_printed_is_of_a_row_that_is_compared():
    names = {name for name, _, _ in printed()} - {"value of the optimum"}
    compared = {*EVEN, *RANDOM, *(each.like for each in (*INDEX, *SYSTEMS))}
    assert names <= compared
    assert {each.like for each in (*INDEX, *SYSTEMS)} - {""} <= names
    assert len(printed()) == (len(names) + 1) * len(BUDGETS) * len(CORRELATIONS)


@pytest.mark.parametrize("each", [*INDEX, *SYSTEMS, *drifting(), *announced()], ids=lambda each: each.label)
def test_every_contestant_whose_policy_is_there_can_be_made(each):
    if each.there:
        assert isinstance(each.made(0.1), schedule.Policy)


def test_every_policy_that_learns_is_compared():
    policies = catalog.find(schedule.policies, schedule.Policy)
    learning = {name for name, kind in policies.items() if issubclass(kind, Learns | Plans) or kind.clairvoyant}
    assert learning <= {each.policy for each in SYSTEMS}
    assert {"price", "price_gamma", "cycle"} <= {each.policy for each in SYSTEMS}


def test_fixed_rates_use_the_budget_and_none_beats_the_optimum():
    for budget in (0.03, 1.0):
        for rule in (*EVEN.values(), *RANDOM.values()):
            rate = rule(PAGES.weight, PAGES.lam_per_day, budget * len(PAGES))
            assert rate.sum() == pytest.approx(budget * len(PAGES), rel=1e-3)
        reached = still(PAGES, budget)
        assert max(reached.values()) <= 1 + 1e-9
        assert reached["Wolf, 10 visits a page"] > 0.99
        assert reached["Azar, random"] < reached["Azar, even"]
        assert reached["uniform"] < reached["f ~ w"]


def test_whole_visits_are_as_good_as_the_best_of_all_ways_to_share_them():
    weight, lam, horizon = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.2, 4.0]), 1.0

    def worth(visits) -> float:
        return float((weight * allocation.freshness(np.array(visits) / horizon, lam)).sum())

    ways = [(a, b, 6 - a - b) for a in range(7) for b in range(7 - a)]
    found = whole_visits(weight, lam, 6.0, 2.0)
    assert worth(found) == pytest.approx(max(map(worth, ways)))


def test_a_run_says_what_it_was_and_what_came_of_it():
    row = Case(Contest, Contestant("round", "cycle"), 300, 0.0, 1, 1.0, 2.0).row()
    assert (row["policy"], row["budget"], row["seed"], row["unused"]) == ("round", 1.0, 1, 0.0)
    expected = np.average(allocation.freshness(1.0, PAGES.lam_per_day), weights=PAGES.weight)
    assert row["value"] == pytest.approx(expected, abs=0.02)
    assert row["ratio"] == pytest.approx(row["value"] / PAGES.optimum(1.0).value)


def contest_of(those, options, each):
    class Some(Contest):
        title = "Some"
        contestants, budgets, correlations = those, each, CORRELATIONS

        def claims(self, rows, options) -> list:
            return []

    return Some().rows(options, quiet)


def test_a_contest_has_a_row_for_each_run_and_leaves_out_who_is_not_there():
    both = (Contestant("round", "cycle"), Contestant("nobody", "no_such_policy"))
    rows = contest_of(both, LabOptions(pages=100, turns=2), (0.5, 1.0))
    assert [(row["policy"], row["correlation"], row["budget"]) for row in rows] == [
        ("round", correlation, budget) for correlation in CORRELATIONS for budget in (0.5, 1.0)
    ]


def rows_of(label, *ratios: float):
    places = [(c, b) for c in CORRELATIONS for b in BUDGETS]
    return [
        {"policy": label, "correlation": c, "budget": b, "seed": 1, "ratio": ratio, "abandoned": 0}
        for (c, b), ratio in zip(places, ratios, strict=True)
    ]


def test_a_row_is_as_printed_where_every_figure_is_near():
    table = printed()
    near = [table["uniform", c, b] + 0.02 for c in CORRELATIONS for b in BUDGETS]
    (claim,) = as_printed(rows_of("one", *near), "one", "uniform", promised=True)
    assert claim.holds
    assert all(f"budget 0.1, correlation {c:g}: " in claim.printed for c in CORRELATIONS)
    better = [ratio + 0.1 for ratio in near]
    assert not as_printed(rows_of("one", *better), "one", "uniform", promised=True)[0].holds
    assert as_printed(rows_of("one", *better), "one", "uniform", promised=True, reached=True)[0].holds
    near[3] -= 0.06
    assert not as_printed(rows_of("one", *near), "one", "uniform", promised=True, reached=True)[0].holds
    assert as_printed(rows_of("one", *near), "one", "no such row", promised=True) == []


def test_a_promise_is_broken_by_a_single_figure_and_counts_only_what_was_run():
    least = freshness.LEAST["price"]
    rows = [
        {"policy": "price", "correlation": c, "budget": b, "seed": 1, "ratio": figure}
        for (c, b), figure in least.items()
    ]
    assert contest.promise(rows, "price", least, promised=True)[0].holds
    assert contest.promise(rows[:2], "price", least, promised=True)[0].holds
    rows[0]["ratio"] -= 0.001
    assert contest.promise(rows, "price", least, promised=True)[0].holds is False
    elsewhere = [row | {"budget": 0.07} for row in rows]
    assert contest.promise(elsewhere, "price", least, promised=True) == [], "nothing is promised there"


def test_the_worst_run_counts_and_not_the_mean():
    rows = [{"policy": "price_gamma", "budget": 0.1, "ratio": ratio} for ratio in (0.99, 0.99, 0.93)]
    assert contest.worst(rows)[0].holds is False
    assert contest.worst(rows[:2])[0].holds
    assert contest.worst([row | {"policy": "cycle"} for row in rows]) == []


@pytest.mark.parametrize("kind", ["Azar", "LambdaCrawl", "Wolf"])
def test_published_schedules_are_run_with_rates_known_and_held_to_what_was_printed(kind):
    there = [each for each in SYSTEMS if each.like.startswith(kind) and "learned" not in each.like]
    assert len(there) == 2
    assert all(each.conditions.known for each in there)
    assert len({each.like for each in there}) == 2


def test_a_frozen_schedule_keeps_all_where_nothing_is_to_be_mixed_and_less_where_it_is():
    same = Population(np.ones(300), np.full(300, 0.2), PAGES.host)
    assert frozen(same, 0.3, 1) == pytest.approx((1.0, 1.0))
    assert all(0.3 < each < 0.95 for each in frozen(PAGES, 0.3, 1))


def test_bars_stand_over_what_they_are_of(tmp_path):
    found = experiment("table1").run(LabOptions(pages=8, turns=50), quiet)
    assert all(len(panel.named) == len(panel.curves[0].x) for panel in found.panels)
    drawn = [tmp_path / "named.png", tmp_path / "numbers.png"]
    draw(found, drawn[0])
    found.panels = [panel._replace(named=()) for panel in found.panels]
    draw(found, drawn[1])
    assert drawn[0].read_bytes() != drawn[1].read_bytes()


def test_the_axis_of_budgets_has_the_percentages_that_were_run():
    rows = [{"policy": "price", "correlation": 0.0, "budget": b, "ratio": 0.9} for b in (0.3, 0.01)]
    (panel,) = panels(rows, ["price"])
    assert panel.percent
    assert percents(panel) == [1.0, 30.0]


def test_known_rates_are_promised_of_the_default_from_wrong_prices_at_every_budget():
    made = {each.label: each for each in INDEX}
    for label in ("price, known rates, start price x 0.01", "price, known rates, start price x 100"):
        assert made[label].policy == "price"
        assert made[label].conditions.known
        assert made[label].conditions.frontier
        assert freshness.LEAST[label] == {(c, b): 0.995 for c in CORRELATIONS for b in BUDGETS}
    assert [made[label].start for label in made if "x 100" in label] == [100.0, 100.0]


@pytest.mark.parametrize("each", [*INDEX, *SYSTEMS, *drifting(), *announced()], ids=lambda each: each.label)
def test_a_row_of_ours_is_called_what_it_is(each):
    if each.label.startswith("price"):
        assert each.policy == each.label.partition(",")[0]


def test_figures_of_fixed_rates_are_asked_of_rows_whose_rates_are_known_and_all_choose_as_often_as_ours_or_more():
    asked = [each for each in SYSTEMS if each.like.startswith("Carney")]
    assert len(asked) == 5
    assert all(each.conditions.known for each in asked)
    steps = {each.label: each.conditions.steps for each in SYSTEMS if each.policy != "notices"}
    assert steps.pop("lambda_crawl, even, known rates") == 100  # what matters most is due every hour of a day
    assert set(steps.values()) == {25}


def test_no_page_may_be_abandoned_in_any_row_of_ours():
    rows = [{"policy": "price", "abandoned": 0}, {"policy": "price_gamma", "abandoned": 7}]
    assert contest.abandons_none(rows, ["price"], promised=True)[0].holds
    assert contest.abandons_none(rows, ["optimal"], promised=True) == []
    rows.append({"policy": "price, all dated", "abandoned": 1})
    (found,) = contest.abandons_none(rows, ["price", "price, all dated"], promised=True)
    assert (found.holds, found.promised) == (False, True)


def yards(label, figure, *uniform: float):
    """Rows of a yardstick that are all off what was printed by so much, and those of uniform visits."""
    table, rows = printed(), []
    for (c, b), off in zip([(c, b) for c in CORRELATIONS for b in (0.01, 0.1, 1.0)], uniform, strict=True):
        at = {"correlation": c, "budget": b, "seed": 1}
        rows += [
            at | {"policy": label, "ratio": table["Tianwang", c, b] + figure},
            at | {"policy": "closed form: uniform", "ratio": table["uniform", c, b] + off},
        ]
    return rows


def test_a_yardstick_is_weak_where_it_reaches_less_than_was_printed():
    for figure, holds in ((-0.02, True), (0.3, True), (-0.04, False)):
        (claim,) = yardsticks.reaches(yards("one", figure, *[0.02] * 6), "one", "Tianwang", promised=True)
        assert (claim.holds, claim.promised) == (holds, True)
    rows = yards("one", 0.0, *[0.0] * 6)
    rows[4]["ratio"] -= 0.04
    assert yardsticks.reaches(rows, "one", "Tianwang", promised=True)[0].holds is False
    assert yardsticks.reaches(rows, "one", "no such row", promised=True) == []


def test_pages_on_which_uniform_visits_earn_otherwise_are_another_draw():
    for off, figure, holds in ((0.1, 0.08, True), (0.1, 0.06, False), (-0.1, -0.12, True), (-0.1, -0.14, False)):
        (claim,) = yardsticks.reaches(yards("one", figure, *[off] * 6), "one", "Tianwang", promised=True)
        assert claim.holds == holds
        assert "on this population" in claim.claim
    known = {*EVEN, *RANDOM}
    likes = {each.like for each in SYSTEMS} - {"", "index, learned"}
    assert all(yardsticks.nearest(like) in known for like in likes)


def test_closed_forms_beside_yardsticks_are_those_of_the_same_pages():
    rows = yardsticks.closed_forms(["Tianwang", "RPUC"], LabOptions(pages=300), (0.1,), quiet)
    assert {row["policy"] for row in rows} == {"closed form: uniform", "closed form: Carney pf"}
    assert rows[0]["ratio"] in still(population(300, 1, 0.0), 0.1).values()


def test_a_run_that_is_over_before_two_first_intervals_are_visits_at_moments_that_hang_on_nothing():
    options = LabOptions(pages=300, turns=4)
    found = yardsticks.closed_forms(["Nutch, start 30 days"], options, (0.03, 0.1, 1.0), quiet)
    early = [row for row in found if row["policy"] == "closed form: visited every 30 days"]
    assert [row["budget"] for row in early] == [0.1, 1.0] * 2
    (each,) = (each for each in SYSTEMS if each.label == "nutch_adaptive, 30 days")
    rows = contest_of([each], options, (0.1, 1.0))
    assert [row["ratio"] for row in rows] == pytest.approx([row["ratio"] for row in early], abs=0.005)
    (claim,) = yardsticks.reaches(rows + early, each.label, each.like, promised=True)
    assert claim.holds
    assert str(claim).count("visited every 30 days") == 4
    weak = [row | {"ratio": row["ratio"] - 0.04} for row in rows]
    assert yardsticks.reaches(weak + early, each.label, each.like, promised=True)[0].holds is False


def test_a_budget_in_bytes_goes_farthest_by_the_exact_index_and_each_rule_spends_it():
    kept = byte_costs.by_rule(PAGES, 1, 0.1)
    assert list(kept) == list(byte_costs.PRINTED)
    assert sorted(kept.values(), reverse=True) == list(kept.values())
    equal = byte_costs.Costs(np.ones(300), np.zeros(300))
    plain = byte_costs.kept_fresh(PAGES, equal, byte_costs.DIVISORS[byte_costs.EXACT], 0.1)
    assert plain == pytest.approx(PAGES.optimum(0.1).value, rel=1e-6)
    claims = byte_costs.claims(byte_costs.rows(LabOptions(pages=300), quiet))
    assert claims[-1].holds
    swapped = [row | {"value": 1 - row["value"]} for row in byte_costs.rows(LabOptions(pages=100), quiet)]
    assert byte_costs.claims(swapped)[-1].holds is False


def test_a_part_of_the_harmonic_cost_leaves_no_page_unvisited_and_takes_little():
    without, little, more = (blends.blend(PAGES, theta, 0.1) for theta in (0.0, 0.02, 0.05))
    assert without.freshness == pytest.approx(PAGES.optimum(0.1).value, rel=1e-6)
    assert without.freshness > little.freshness > more.freshness > 0.97 * without.freshness
    assert without.harmonic > little.harmonic > more.harmonic
    assert without.unvisited == int((PAGES.optimum(0.1).rate == 0).sum()) > 0
    assert little.unvisited == more.unvisited == 0
    rows = blends.rows(LabOptions(pages=100), quiet)
    held = {claim.claim: claim.holds for claim in blends.claims(rows)}
    assert held["any harmonic part leaves no page unvisited"]
    unvisited = blends.claims([row | {"abandoned": 1} for row in rows])
    assert {claim.claim: claim.holds for claim in unvisited}["any harmonic part leaves no page unvisited"] is False
    dear = [row | {"harmonic": 3.0 * row["harmonic"]} for row in rows if row["policy"] != blends.label(0.0)]
    worse = blends.claims(dear + [row for row in rows if row["policy"] == blends.label(0.0)])
    assert not any(claim.holds for claim in worse if "the harmonic cost" in claim.claim)


def test_the_harmonic_index_alone_costs_least_of_what_lambda_crawl_wants_little_of():
    alone, theirs = blends.blend(PAGES, 1.0, 0.1), blends.lambda_crawl(PAGES, 0.1)
    assert alone.harmonic < theirs.harmonic
    assert theirs.freshness < alone.freshness


def told(gain: float, upper: float = 0.99):
    """Rows in which announcements make copies so much fresher."""
    values = {
        "nothing announced": 0.5,
        "recall 0.8, precision 0.9": 0.5 + gain,
        "recall 0.95, precision 0.95": 0.6 + gain,
    }
    return [
        {
            "policy": each.label,
            "budget": budget,
            "value": next((v for k, v in values.items() if k in each.label), upper),
        }
        for each in announced()
        for budget in (0.03, 0.3)
    ]


def test_announcements_are_worth_what_was_printed_or_it_is_said_that_they_are_not():
    def claim(rows, label: str, kind: str) -> bool | None:
        return signals.claimed(rows, label, kind).holds

    kind = "recall 0.8, precision 0.9"
    assert claim(told(0.11), f"price, {kind}", kind)
    assert claim(told(0.05), f"price, {kind}", kind) is False
    assert claim(told(0.11), "price, nothing announced", "nothing announced") is False
    assert claim(told(0.11), "told all", "")
    assert claim(told(0.11, upper=0.6), "told all", "") is False


def test_limits_that_do_not_bind_leave_the_optimum_and_others_cost_those_who_do_not_know_them_more():
    wide, narrow = np.full(300, 1e9), np.full(300, 0.3)
    assert caps.best_within(PAGES, wide, 0.3)[1] == pytest.approx(PAGES.optimum(0.3).value)
    assert caps.clipped(PAGES, wide, 0.3) == pytest.approx(PAGES.optimum(0.3).value)
    assert caps.clipped(PAGES, narrow, 0.3) < caps.best_within(PAGES, narrow, 0.3)[1] < PAGES.optimum(0.3).value


def test_pages_that_wait_for_a_host_whose_limit_is_used_up_are_not_abandoned():
    found = experiment("caps").run(LabOptions(pages=150, turns=6), quiet)
    ours = [row for row in found.rows if row["policy"] in ("price", "price, known rates")]
    assert len(ours) == 4
    assert all(row["abandoned"] == 0 < row["waiting"] for row in ours)
    assert any(row["abandoned"] > 0 for row in found.rows if str(row["policy"]).startswith("price_gamma"))
    assert found.claims[-2].holds
    assert found.claims[-1].holds is None


def test_and_each_of_them_is_read_some_day():
    pages = population(100, seed=1)
    limit = caps.limit_of(pages, 2.0)
    conditions = Conditions(known=True, cap_per_day=limit.cap, frontier=True)
    unread = []
    for cycles in (5, 100):
        polling = PollingRun(Contestant("price", "price").made(0.1), pages, 0.1, 1, conditions)
        polling.run(cycles, cycles / 2)
        unread.append(int(np.isnan(polling.held.visited_at).sum()))
    assert unread[0] > 19  # of 100; measured 21
    assert unread[1] == 0


def test_under_limits_the_frontier_offers_nearly_the_best_visits():
    pages = population(600, seed=1)
    limit = caps.limit_of(pages, 2.0)
    conditions = Conditions(known=True, cap_per_day=limit.cap, frontier=True)
    found = PollingRun(Contestant("price", "price").made(0.1), pages, 0.1, 1, conditions).run(12, 6)
    assert found.value / limit.best > 0.96


def test_table_one_is_as_drawn():
    found = experiment("table1").run(LabOptions(pages=8, turns=2000), quiet)
    assert len(found.rows) == 12
    assert all(claim.holds for claim in found.claims)
    at = table1.visits_at(np.random.default_rng(1), "random_order", 2.0, 50)
    assert (np.floor(at * 2) == np.arange(50)).all()


def test_estimators_are_as_biased_as_they_are_known_to_be():
    found = experiment("estimators").run(LabOptions(pages=400), quiet)
    assert {row["estimator"] for row in found.rows} == set(estimators.estimators())
    assert found.claims[0].holds
    plugged = {row["estimator"]: row["ratio"] for row in found.rows if row["ratio"] == row["ratio"]}
    assert plugged["posterior"] > plugged["naive"]
    assert mean(found.rows, "unsaid", estimator="log", r=3.0, visits=5, spaced="even") > 0.72


@pytest.mark.parametrize("name", sorted(NAMES))
def test_pages_without_links_take_no_graph(name):
    with pytest.raises(ConfigError, match="without links"):
        experiment(name).run(LabOptions(kind="poisson"), quiet)
    plain(LabOptions(), name)
