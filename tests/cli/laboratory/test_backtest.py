"""Replaying histories on the command line."""

import io
import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from matplotlib.figure import Figure

from evercrawl.cli.main import main
from evercrawl.cli.show.figures import backtest as backtest_figure
from evercrawl.cli.show.meter import LINE_EVERY_S, Meter
from tests.helpers.figures import outside

YEAR = ["--years", "1"]
TEN = ["site", "policy", "budget", "freshness", "content_freshness", "age_s", "polls", "unchanged", "low", "high"]
SMALL = ["--sample", "40", "--budget", "0.01,0.02", *YEAR]


def rows(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_table_for_each_history_and_their_mean(capsys, tmp_path):
    plot, reliability = tmp_path / "fresh.png", tmp_path / "believed.png"
    flags = ["--policy", "price,uniform,notices", "--plot", str(plot), "--calibration", str(reliability)]
    assert main(["backtest", "peps", "ota-contrib", *SMALL, *flags]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^(\S+): 40 pages; 95 % intervals", out, re.MULTILINE) == ["peps", "ota-contrib"]
    assert "mean over 2 histories" in out
    assert len(re.findall(r"^(?:price|uniform|notices) +0\.0[12] ", out, re.MULTILINE)) == 3 * 2 * 3
    assert out.count("points over price") == out.count("gap closed") == 3
    assert len(re.findall(r"^notices .* \+1\.00", out, re.MULTILINE)) == 6
    assert re.findall(r"^(\S+ at \S+), [\d,]+ polls: ", out, re.MULTILINE) == ["price at 0.01", "price at 0.02"]
    assert len(re.findall(r"^ +95 to 100 % +\d+ +9\d\.\d % +\d+\.\d % +\d+\.\d to \d+\.\d %$", out, re.MULTILINE)) == 2
    assert out.endswith("no predictions of freshness by uniform, notices\n")
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert reliability.read_bytes().startswith(b"\x89PNG")


def test_figures_show_what_the_rows_say(capsys, tmp_path, monkeypatch):
    """Curves go through the freshness and the bins of each row, with their intervals."""
    figures = list[Figure]()
    save = Figure.savefig

    def kept(figure: Figure, *args: Any, **named: Any) -> None:
        figures.append(figure)
        save(figure, *args, **named)

    monkeypatch.setattr(Figure, "savefig", kept)
    flags = ["--plot", str(tmp_path / "fresh.png"), "--calibration", str(tmp_path / "believed.png"), "--json"]
    assert main(["backtest", "peps", *SMALL, *flags]) == 0
    found = rows(capsys)
    (panel,), panels = (figure.axes for figure in figures)
    assert panel.get_title() == "peps"
    assert [each.get_label() for each in panel.containers] == ["price", "uniform"]
    for curve in panel.containers:
        of = [row for row in found if row["policy"] == curve.get_label()]
        line, _, (bars,) = curve
        assert line.get_xdata().tolist() == [row["budget"] for row in of] == [0.01, 0.02]
        assert line.get_ydata().tolist() == pytest.approx([1 - row["freshness"] for row in of])
        ends = [sorted(y for _, y in bar) for bar in bars.get_segments()]
        assert ends == [pytest.approx([1 - row["high"], 1 - row["low"]]) for row in of]
    believing = [row for row in found if row["policy"] == "price"]
    assert [axes.get_title() for axes in panels] == ["0.01 polls per page and day", "0.02 polls per page and day"]
    for axes, row in zip(panels, believing, strict=True):
        (curve,) = axes.containers
        bins = [each for each in row["bins"] if each["count"]]
        line, _, (bars,) = curve
        assert curve.get_label() == "price"
        assert line.get_xdata().tolist() == pytest.approx([100 * each["predicted"] for each in bins])
        assert line.get_ydata().tolist() == pytest.approx([100 * each["observed"] for each in bins])
        ends = [[y for _, y in bar] for bar in bars.get_segments()]
        assert ends == [pytest.approx([100 * each["at_least"], 100 * each["at_most"]]) for each in bins]


def test_json_has_an_object_for_each_replay(capsys):
    assert main(["backtest", "peps", *SMALL, "--json"]) == 0
    found = rows(capsys)
    assert [(row["site"], row["budget"], row["policy"]) for row in found] == [
        ("peps", budget, policy) for budget in (0.01, 0.02) for policy in ("price", "uniform")
    ]
    for row in found:
        assert 0 < row["low"] <= row["freshness"] <= row["high"] < 1
        assert row["freshness"] <= row["content_freshness"] <= 1
        assert row["wasted"] == row["unchanged"] / row["polls"]
        for low, at, high in (
            ("content_low", "content_freshness", "content_high"), ("age_low_s", "age_s", "age_high_s"),
            ("wasted_low", "wasted", "wasted_high"),
        ):  # fmt: skip
            assert 0 < row[low] < row[at] < row[high]
        assert 0 < row["unchanged"] < row["polls"]
        assert row["gap_closed"] is None
        if row["policy"] == "price":
            bins = row["bins"]
            n = sum(each["count"] for each in bins)
            off = sum(each["count"] * abs(each["predicted"] - each["observed"]) for each in bins if each["count"])
            assert off / n == pytest.approx(row["expected_calibration_error"])
            assert [(each["low"], each["high"]) for each in bins] == [(k / 20, (k + 1) / 20) for k in range(20)]
            assert all(each["at_least"] <= each["observed"] <= each["at_most"] for each in bins if each["count"])
        else:
            assert row["bins"] == []
    assert all(one["freshness"] < other["freshness"] for one, other in zip(found[:2], found[2:], strict=True))
    days = 365.25 * 2 / 3
    assert found[1]["polls"] == pytest.approx(0.01 * 40 * days, rel=0.15)


@pytest.mark.parametrize("told", [True, False])
def test_json_ends_with_the_mean_over_the_histories(capsys, told):
    """It has the keys that the others begin with; a gap is closed where there is one."""
    policies = "price,uniform,notices" if told else "price,uniform"
    flags = ["--sample", "20", "--budget", "0.02", *YEAR, "--policy", policies, "--json"]
    assert main(["backtest", "peps", "ota-contrib", *flags]) == 0
    found = rows(capsys)
    of_sites, of_all = [row for row in found if row["site"] != "mean"], [row for row in found if row["site"] == "mean"]
    assert found == of_sites + of_all
    assert [(row["budget"], row["policy"]) for row in of_all] == [(0.02, policy) for policy in policies.split(",")]
    for mean in of_all:
        assert list(mean)[:11] == list(of_sites[0])[:11] == ["event", *TEN]
        sites = [row for row in of_sites if (row["budget"], row["policy"]) == (mean["budget"], mean["policy"])]
        assert [row["site"] for row in sites] == ["peps", "ota-contrib"]
        for name in ("freshness", "content_freshness", "age_s", "difference"):
            assert mean[name] == pytest.approx(sum(row[name] for row in sites) / 2)
        for name in ("polls", "unchanged"):
            assert mean[name] == sum(row[name] for row in sites)
        assert mean["low"] <= mean["freshness"] <= mean["high"]
        assert mean["sites"] == 2
        for k, each in enumerate(mean["bins"]):
            assert each["count"] == sum(row["bins"][k]["count"] for row in sites)
        assert len(mean["bins"]) == (20 if mean["policy"] == "price" else 0)
        if told:
            assert mean["gap_closed"] == pytest.approx(sum(row["gap_closed"] for row in sites) / 2)
            assert mean["gap_low"] <= mean["gap_closed"] <= mean["gap_high"]
        else:
            assert mean["gap_closed"] is mean["gap_low"] is None


def test_the_same_seed_gives_the_same_pages_and_numbers(capsys):
    answers = list[list[dict[str, object]]]()
    for seed in ("1", "1", "2"):
        assert main(["backtest", "peps", *SMALL[:2], *YEAR, "--budget", "0.01", "--seed", seed, "--json"]) == 0
        answers.append([row | {"seconds": 0} for row in rows(capsys)])
    assert answers[0] == answers[1] != answers[2]


def test_conditions_are_passed_on(capsys):
    base = ["backtest", "peps", "--sample", "40", "--budget", "0.02", "--policy", "price", "--json"]
    answers = dict[str, float]()
    for name, flags in {
        "usual": YEAR,
        "undated": [*YEAR, "--no-validators"],
        "announced": [*YEAR, "--lastmod", "on"],
        "half a year": ["--years", "0.5"],
        "then": ["--since", "2015-01-01", "--until", "2016-01-01"],
        "harmonic": [*YEAR, "--policy-option", "harmonic=0.1"],
    }.items():
        assert main([*base, *flags]) == 0
        answers[name] = rows(capsys)[0]["freshness"]
    assert answers["announced"] > answers["usual"]
    assert len(set(answers.values())) == len(answers), f"some had no effect: {answers}"


def test_pages_may_be_known_once_they_are_linked_to(capsys):
    base = ["backtest", "peps", "--sample", "300", "--years", "6", "--budget", "0.005", "--policy", "uniform", "--json"]
    sights = list[float]()
    for how in ("born", "links"):
        assert main([*base, "--discovery", how]) == 0
        sights.append(rows(capsys)[0]["first_sight_s"])
    assert sights[0] < 0.9 * sights[1]


def test_pooled_histories_are_one_and_each_has_its_rows(capsys):
    flags = ["--pooled", "--policy", "uniform,price,notices", "--sample", "40", "--budget", "0.02", *YEAR]
    assert main(["backtest", "peps", "ota-contrib", *flags, "--json"]) == 0
    found = {(row["site"], row["policy"]): row for row in rows(capsys)}
    sites = ("ota-contrib", "peps")
    assert sorted({(site, row["pages"]) for (site, _), row in found.items()}) == [
        *((s, 40) for s in sites),
        ("pooled", 80),
    ]
    for policy in ("uniform", "price", "notices"):
        pool, of_each = found["pooled", policy], [found[site, policy] for site in sites]
        assert pool["polls"] == sum(row["polls"] for row in of_each)
        assert min(row["freshness"] for row in of_each) < pool["freshness"] < max(row["freshness"] for row in of_each)
        for k, each in enumerate(pool["bins"]):
            assert each["count"] == sum(row["bins"][k]["count"] for row in of_each)
        assert [len(row["bins"]) for row in (pool, *of_each)] == [20 if policy == "price" else 0] * 3
    assert all(0 < found[site, "price"]["expected_calibration_error"] < 0.3 for site in sites)
    assert [found[site, "notices"]["gap_closed"] for site in sites] == [1.0, 1.0]
    assert main(["backtest", "peps", "ota-contrib", *flags]) == 0
    assert "its sites, which share the budget\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["no-such"], "peps"),
        (["peps", "--policy", "no-such"], "choose one of: "),
        (["peps", "--policy", ","], "name at least one policy: azar, bayes_classes, breadth_first, chile, cycle"),
        (["peps", "--policy-option", "x=1"], "'x=1' is not a parameter"),
        (["peps", "--budget", "0"], "--budget must be polls per page and day, such as 0.02"),
        (["peps", "--budget", "much"], "--budget must be polls"),
        (["peps", "--budget", ","], "--budget must be polls"),
        (["peps", "--discovery", "luck"], "--discovery must be one of born, links"),
        (["peps", "--lastmod", "2"], "--lastmod must be on, off, or a share"),
        (["peps", "--sample", "0"], "--sample must be a whole number, 1 or more"),
        (["peps", "--years", "0"], "--years must be years, such as 3"),
        (["peps", "--since", "yesterday"], "--since must be a date such as 2020-01-31"),
        (["peps", "--since", "2020-01-01", "--until", "2020-01-01"], "--since must be before --until"),
        (
            ["peps", "--since", "2035-01-01"],
            "no events in that period; its events are from 2000-07-13T06:33 to 20",
        ),
        (["peps", "--budget", "1000000"], "1e+06 polls per page and day are too many to replay 1,096 days"),
        (["peps", "--jobs", "0"], "--jobs must be a whole number, 1 or more"),
    ],
)
def test_wrong_use_is_told(capsys, wrong, said):
    assert main(["backtest", *wrong]) == 2
    assert said in capsys.readouterr().err


def test_a_figure_that_cannot_be_written_is_told_before_the_work(capsys, tmp_path):
    for flag in ("--plot", "--calibration"):
        assert main(["backtest", "peps", *SMALL, flag, str(tmp_path / "none" / "figure.png")]) == 3
        told = capsys.readouterr()
        assert "make its folder first, or name another file\n" in told.err
        assert not told.out


def test_who_has_no_poll_to_make_is_told_so(capsys):
    assert main(["backtest", "peps", *SMALL[:2], "--years", "0.01", "--budget", "0.00001,0.0001,1"]) == 0
    told = "no poll fits into so short a time at 1e-05, 0.0001 polls per page and day; use a larger --budget\n"
    assert told in capsys.readouterr().out


def test_progress_is_a_line_now_and_then_where_there_is_no_terminal():
    out = io.StringIO()
    with Meter(out, 0.0, "replays") as progress:
        progress("peps, price at 0.1", 1.5, 4)
        progress.hide()
    assert out.getvalue() == "peps, price at 0.1: 1.5 of 4 replays (38%)\n"


def test_progress_says_nothing_of_what_is_quick():
    out = io.StringIO()
    with Meter(out, LINE_EVERY_S, "replays") as progress:
        progress("peps, price at 0.1", 1.5, 4)
    assert not out.getvalue()


def test_progress_stays_on_one_line_of_a_terminal_and_leaves_it_empty(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: True)
    with Meter(out, LINE_EVERY_S, "replays") as progress:
        progress("peps, price at 0.1", 2.0, 4)
    shown = out.getvalue()
    assert shown.count("50%") == shown.count("peps, price at 0.1: 2.0 of 4 replays ") > 0
    assert shown.endswith("\r\x1b[1A\x1b[2K")


def test_many_policies_on_one_site_fit_below_its_figure_and_none_looks_like_another(tmp_path, monkeypatch):
    made = list[Figure]()
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: made.append(figure))
    names = [f"a policy with a long name, {number}" for number in range(12)]
    rows = [SimpleNamespace(policy=name, budget=0.1, freshness=0.5, low=0.4, high=0.6) for name in names]
    backtest_figure.freshness({"peps": rows}, tmp_path / "fresh.png")
    assert outside(made[0]) == []
    lines = [container.lines[0] for container in made[0].axes[0].containers]
    assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}) == len(names)
