"""Claims that came without a figure, judged on small webs."""

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.base import LabOptions, judged
from evercrawl.lab.catalogue import experiment, experiments, keep
from evercrawl.lab.claims.degrees import correlation_of
from evercrawl.lab.claims.equal_memory import tau
from evercrawl.lab.tables import column
from evercrawl.simulate.graphs import cooper_frieze

NEW = ("linear", "filtering", "equal_memory", "degrees", "splits", "rising")


def quiet(line):
    assert isinstance(line, str)


def run(name, pages=None, turns=None, kind=None):
    return experiment(name).run(LabOptions(pages=pages, turns=turns, kind=kind), quiet)


def verdicts(findings):
    return [claim.verdict for claim in findings.claims]


def test_all_are_in_the_catalogue():
    assert set(NEW) <= set(experiments())


def test_a_claim_of_several_cases_may_hold_partly():
    claims = [judged("", "", "", cases) for cases in ([True, True], [True, False], [False])]
    assert [claim.verdict for claim in claims] == ["holds", "holds partly", "refuted"]
    assert [claim.holds for claim in claims] == [True, False, False]


def test_cash_grows_linearly_on_the_mean_where_visits_are_at_random_and_not_where_greed_waits_for_it(tmp_path):
    found = run("linear", pages=1000, turns=5)
    assert verdicts(found)[0] != "holds"
    far = {
        order: max(abs(float(row["cash"]) - float(row["time"])) for row in found.rows if row["order"] == order)
        for order in ("random", "cycle", "greedy")
    }
    assert far["random"] < 0.08
    assert far["greedy"] > 2 * far["random"], "a page is visited just after much came"
    files = keep(found, tmp_path, "linear")
    assert [file.suffix for file in files] == [".parquet", ".png"]
    picture = found.panels[1]
    came, lines, window = picture.curves
    assert np.interp(came.x, lines.x, lines.y)[-20:] == pytest.approx(came.y[-20:], rel=0.2)
    assert window.x[0] < window.x[1] == lines.x[-1]


def test_interpolation_filters_noise_best_where_it_is_largest():
    found = run("filtering", pages=400)
    left = {
        order: column(found.rows, "varies", order=order, window="interpolation, 4 turns")[0]
        / column(found.rows, "varies", order=order, window="one interval, no filter")[0]
        for order in ("random", "cycle", "greedy")
    }
    assert left["random"] < 0.4
    assert left["random"] < left["greedy"] < 1
    assert found.claims[0].verdict in ("holds", "holds partly")


def test_windows_at_equal_memory():
    found = run("equal_memory", pages=600, turns=8)
    low, high, fixed, measures = found.claims
    assert low.verdict == "holds", low.found
    assert high.verdict == "holds partly", "over all pages it is better, over the important ones it is not"
    assert fixed.verdict == "holds partly"
    assert measures.verdict == "holds partly"
    assert tau([1.0, 2.0], [2.0, 1.0]) == -1


def test_degrees_are_as_asked_and_change_little():
    correlations = [correlation_of(cooper_frieze(3000, seed=1, correlation=c)) for c in (-0.8, 0.0, 0.8)]
    assert correlations[0] < -0.3
    assert abs(correlations[1]) < 0.05
    assert correlations[2] > 0.4
    plain, alike = (cooper_frieze(3000, seed=1, correlation=c) for c in (0.0, 0.8))
    assert abs(plain.links - alike.links) < 0.02 * plain.links, "only who has the rows differs, and doubled links"
    found = run("degrees", pages=300, turns=3)
    assert len(found.claims) == 4
    assert "refuted" not in verdicts(found)
    with pytest.raises(ConfigError, match="webs of its own"):
        run("degrees", kind="poisson")


def test_in_degrees_obey_a_power_law_and_every_page_is_there():
    web = cooper_frieze(20_000, seed=3)
    into = np.sort(web.into)[::-1]
    assert web.pages == 20_000
    assert into[0] > 200 * web.links / web.pages
    tail = into[into >= 5]
    slope = 1 + 1 / np.mean(np.log(tail / 4.5))
    assert 1.7 < slope < 2.8


def test_a_greedy_split_finds_more_changes_and_freshness_is_judged_by_itself():
    made = experiment("splits")
    rows = made.closed(LabOptions(pages=2000, budgets=(0.1,)), quiet)
    rows += [
        {"policy": f"sampling, {split}", "correlation": 0.0, "budget": 0.1, "ratio": ratio}
        for split, ratio in (("greedy", 0.7), ("proportional", 0.8))
    ]
    changes, freshness = made.claims(rows, LabOptions())
    assert changes.verdict == "holds", changes.found
    assert freshness.verdict == "refuted", freshness.found


def test_rising_weights_are_judged_beside_flat_ones_and_the_last():
    made = experiment("rising")
    reached = {"flat": 0.9, "rising": 0.95, "last": 0.945}
    rows = [
        {"policy": f"webfountain, {name}", "correlation": 0.0, "budget": 0.3, "ratio": ratio}
        for name, ratio in reached.items()
    ]
    assert [each.label for each in made.contestants] == [row["policy"] for row in rows]
    flat, last = made.claims(rows, LabOptions())
    assert (flat.verdict, last.verdict) == ("holds", "refuted")
    assert "0.950 vs. 0.945" in last.found
