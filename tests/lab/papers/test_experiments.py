"""The figures, small: every number in its place, and what holds at any size holds."""

import math
from itertools import pairwise

import numpy as np
import pytest

from evercrawl.importance.windows.base import TURN
from evercrawl.importance.windows.exponential import Exponential
from evercrawl.importance.windows.fixed import Fixed
from evercrawl.importance.windows.variable import Variable
from evercrawl.lab.base import Claim, LabOptions, Results
from evercrawl.lab.catalogue import experiment, experiments, keep
from evercrawl.lab.engine.engine import OpicEngine
from evercrawl.lab.engine.picking import xyleme
from evercrawl.lab.engine.windows import Printed, looking_on
from evercrawl.lab.papers import adapting, convergence
from evercrawl.lab.papers.adapting import EVERYWHERE, INTERPOLATION, OFF_LINE, PUSH, SETTLED, TWO, adapt, mean
from evercrawl.lab.papers.convergence import chosen, converge
from evercrawl.lab.papers.errata import self_links
from evercrawl.lab.papers.webs import KINDS
from evercrawl.simulate.graphs import power_law

VERDICTS = ("holds", "holds partly", "refuted", "open")
FIGURES = [f"fig{number}" for number in range(2, 7)]


def quiet(line):
    assert line


@pytest.fixture(scope="module")
def converged():
    return converge(power_law(3000, 1), 10, 1, quiet)


def errors(rows, scheme, order, estimate, turn=10):
    (row,) = chosen(rows, turn, scheme=scheme, order=order, estimate=estimate)
    return row["mean"], row["top"]


def test_greed_with_the_identity_and_push_keep_what_they_promise(converged):
    mean_error, top = errors(converged, "opic", "greedy", "identity")
    assert mean_error < 0.0213
    assert top < 0.0068
    mean_error, top = errors(converged, "push", "greedy", "residual")
    assert mean_error < 3.85e-4
    assert top < 1.1e-4


def test_what_is_promised_of_visits_holds_of_a_hundred_thousand_pages():
    found = experiment("fig2").run(LabOptions(), quiet)
    promised = [claim for claim in found.claims if claim.promised]
    assert len(promised) == 2
    assert [claim.holds for claim in promised] == [True, True]
    assert not found.missed


PROMISED = {0.01: (0.02, 0.025), 0.1: (0.08, 0.12)}


@pytest.fixture(scope="module")
def changing():
    return adapt(power_law(100_000, 1), 10, 1, {}, quiet, tuple(PROMISED))


@pytest.fixture(scope="module")
def changing_at_all_rates():
    """A web of fewer pages: what is promised of windows is a comparison, which does not depend on the size."""
    return adapt(power_law(5_000, 1), 10, 1, EVERYWHERE, quiet)


@pytest.mark.parametrize("rate", PROMISED)
def test_what_is_promised_of_push_where_links_change_holds(changing, rate):
    most, most_top = PROMISED[rate]
    assert mean(changing, PUSH, rate) <= most
    assert mean(changing, PUSH, rate, "top") <= most_top


@pytest.mark.parametrize("rate", adapting.RATES)
@pytest.mark.parametrize("name", ["mean", "top"])
def test_two_windows_are_nowhere_worse_than_interpolation(changing_at_all_rates, rate, name):
    rows = changing_at_all_rates
    assert mean(rows, TWO, rate, name) <= mean(rows, INTERPOLATION, rate, name) + 0.002


def test_a_promise_is_kept_or_the_command_fails_and_only_for_webs_as_large_as_printed():
    broken = Claim("so good", "(ours) 1 %", "2 %", False, promised=True)
    assert Results(claims=[broken]).missed
    assert not Results(claims=[broken._replace(promised=False)]).missed
    assert not Results(claims=[broken._replace(holds=None)]).missed
    small = experiment("fig2").run(LabOptions(pages=500, turns=2), quiet)
    assert [claim.claim for claim in small.claims if claim.printed.startswith("(ours) 2.5")]
    assert not any(claim.promised for claim in small.claims)
    assert LabOptions().promised(100_000, 10)
    assert not LabOptions(kind="poisson").promised(100_000, 10)


def test_the_clock_of_regular_orders_runs_twice_as_fast_as_that_of_chance(converged):
    clock = {
        order: chosen(converged, 10, scheme="opic", order=order)[0]["clock"] for order in ("random", "cycle", "greedy")
    }
    assert clock["random"] == pytest.approx(10, rel=0.05)
    assert clock["cycle"] == pytest.approx(19.8, rel=0.03)
    assert clock["greedy"] > clock["cycle"]


def test_the_bound_is_one_of_each_page_and_two_of_all(converged):
    opic = [row for row in converged if row["scheme"] == "opic"]
    assert max(row["far_max"] for row in opic) <= 1
    assert 1 < max(row["far_sum"] for row in opic) <= 2


def test_the_distance_is_that_from_what_one_more_step_makes():
    web = power_law(500, 2)
    opic = OpicEngine(web, xyleme(2))
    opic.run(2000)
    graph = convergence.graph_of(web)
    share = opic.history / opic.total
    passed = graph.pass_on(share, convergence.damped(graph))
    step = passed + (share.sum() - passed.sum()) / 500
    assert (step - share) * opic.total == pytest.approx(opic.cash - 1 / 500, abs=1e-12)


def test_off_line_errors_shrink_by_the_damping_in_each_step(converged):
    error = [row["weighted"] for row in chosen(converged, scheme="off line")]
    assert all(after <= 0.851 * before for before, after in pairwise(error))


def test_push_follows_changes_better_than_any_window_and_settling_helps():
    windows = EVERYWHERE | {"fixed": Fixed(8 * TURN, 32), "variable": Variable(8)}
    rows = adapt(power_law(3000, 1), 10, 1, windows, quiet, (0.1,))
    found = {name: mean(rows, name, 0.1) for name in (*windows, PUSH, SETTLED)}
    assert found[SETTLED] < found[PUSH] < found[TWO] < found["fixed"]
    assert found[PUSH] < 0.65 * found[TWO]
    assert found[TWO] < found[INTERPOLATION] + 0.002
    assert {row["turn"] for row in rows} == {6, 7, 8, 9, 10}


def test_off_line_the_links_of_the_last_visits_say_all_that_can_be_known():
    rows = adapt(power_law(3000, 1), 5, 1, EVERYWHERE, quiet, (0.0, 0.1))
    still, moving = ({name: mean(rows, name, rate) for name in (PUSH, OFF_LINE)} for rate in (0.0, 0.1))
    assert still[OFF_LINE] < 1e-5 < still[PUSH], "where nothing changes it is the truth"
    assert 1e-3 < moving[OFF_LINE] < 0.6 * moving[PUSH]


def test_the_web_changes_at_the_rate_it_is_said_to(monkeypatch):
    changed = []
    monkeypatch.setattr(adapting.ChangingWeb, "some_change", lambda self, count: changed.append(count))
    adapt(power_law(250, 1), 2, 1, EVERYWHERE, quiet, (0.2,))
    assert sum(changed) == pytest.approx(2 * 0.2 * 250)


def test_as_printed_all_cash_is_earned():
    web, window = power_law(60, 1), Exponential(3.0)
    printed, all_given = Printed(looking_on(window, 60), 60), looking_on(window, 60)
    opic = OpicEngine(web, xyleme(1), watchers=[printed])
    opic._put_in[:] = 0.0  # so that all cash counts as earned
    control = OpicEngine(web, xyleme(1), watchers=[printed])
    opic.watchers = [all_given]
    for visits in (30, 50, 200):
        opic.run(visits)
        control.run(visits)
        assert printed.estimate(control.earned, control.total) == pytest.approx(
            all_given.estimate(opic.cash, opic.total), rel=1e-9
        )


@pytest.mark.parametrize(("name", "kind"), list(zip(FIGURES, KINDS, strict=False)))
def test_every_figure_is_made_and_says_what_came_of_each_claim(name, kind, tmp_path):
    findings = experiment(name).run(LabOptions(pages=300, turns=3, kind=kind), quiet)
    assert findings.rows
    assert findings.panels
    assert all(
        claim.claim and claim.found and claim.verdict in ("holds", "holds partly", "refuted", "open")
        for claim in findings.claims
    )
    assert len({tuple(row) for row in findings.rows}) == 1, "all rows have the same columns"
    assert {"mean", "top", "variance", "weighted", "rank"} <= set(findings.rows[0])
    if name in FIGURES[2:]:
        assert all(OFF_LINE in [curve.label for curve in panel.curves] for panel in findings.panels)
    for panel in findings.panels:
        assert all(len(curve.x) == len(curve.y) and all(map(math.isfinite, curve.y)) for curve in panel.curves)
        assert any(curve.ours for curve in panel.curves)
    files = keep(findings, tmp_path, name)
    assert [file.suffix for file in files] == [".parquet", ".png"]
    assert files[1].stat().st_size < 100_000


def test_cash_is_lost_along_self_links_if_it_is_set_to_0_last():
    rows, claims = self_links(1)
    last, first = ([row["value"] for row in rows if row["what"] == f"zeroed {name}"] for name in ("last", "first"))
    assert first == pytest.approx([1.0] * len(first))
    assert last[0] == pytest.approx(1 - 0.01 / 3), "a third of what the first page has goes to itself"
    assert (np.diff(last) <= 0).all()
    assert last[-1] < 0.424
    assert [claim.holds for claim in claims] == [False, False]


def test_what_is_refuted_at_full_size_is_refuted_at_a_small_one_too():
    findings = experiment("errata").run(LabOptions(pages=3000, turns=5), quiet)
    assert [claim.holds for claim in findings.claims] == [False] * 5
    pooled = next(row["value"] for row in findings.rows if "pooled" in str(row["what"]))
    assert pooled == pytest.approx(1.0, abs=0.1)


def test_experiments_are_found_by_their_files():
    assert set(FIGURES) <= set(experiments())


def test_figures_are_the_same_for_the_same_seed(tmp_path):
    made = []
    for folder in ("a", "b"):
        keep(experiment("fig3").run(LabOptions(pages=300, turns=3), quiet), tmp_path / folder, "fig3")
        made.append((tmp_path / folder / "fig3.png").read_bytes())
    assert made[0] == made[1]


def test_verdicts():
    assert [Claim("", "", "", holds).verdict for holds in (True, False, None)] == ["holds", "refuted", "open"]
    assert np.isnan(chosen([{"scheme": "push", "turn": 1, "clock": math.nan}], scheme="push")[0]["clock"])
