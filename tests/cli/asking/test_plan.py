"""Planning on the command line, for a crawl of a real server."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from evercrawl.cli.main import main
from evercrawl.cli.show.chart import chart
from evercrawl.cli.show.figures.plan import figure
from evercrawl.config import FILE_NAME, load, save
from evercrawl.simulate.surroundings.loopback import NETWORK
from tests.helpers.figures import outside


@pytest.fixture
def often(site, tmp_path):
    """Crawl the small web for long enough to see pages again."""
    directory = str(tmp_path / "crawl")
    flags = ["--delay", "0", "--refresh-after", "1ms", "--allow-net", NETWORK, "--pages", "120", "--quiet"]
    assert main(["crawl", *site.seeds, "--dir", directory, *flags, "--rate", "400"]) == 0
    return directory


def test_a_table_a_curve_and_where_the_crawl_is(often, capsys, tmp_path):
    file = tmp_path / "plan.png"
    assert main(["plan", "--dir", often, "--plot", str(file)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^copies stored: \d+; fresh now, .+ %$", out, re.MULTILINE)
    assert re.search(r"^pace within the last .+ of the crawl: .+ visits .+ to known pages", out, re.MULTILINE)
    rows = re.findall(r"^ *(x [\d.]+|now) .+ points ", out, re.MULTILINE)
    assert rows[:5] == ["x 0.125", "x 0.25", "x 0.5", "now", "x 2"]
    assert out.count("O") >= 1 <= out.count("100 %|")
    assert file.read_bytes().startswith(b"\x89PNG")


def test_json_has_every_number(often, capsys):
    assert main(["plan", "--dir", often, "--budget", "86400", "--budget", "864000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [round(point["budget"], 4) for point in found["points"]] == [1.0, 10.0]
    assert "line" not in found
    assert set(found["now"]) == {
        "budget", "visits_per_s", "freshness", "marginal", "price", "seldom", "left_alone"
    }  # fmt: skip
    assert (found["policy"], found["curve"], found["planned"]) == ("price", "price", None)
    assert found["unit"] == "fetches"
    assert 0 < found["points"][0]["freshness"] <= found["points"][1]["freshness"] <= 1


def test_of_a_policy_that_plans_it_tells_what_its_own_rates_keep_and_of_others_whose_numbers_those_are(often, capsys):
    assert main(["plan", "--dir", often]) == 0
    usual = capsys.readouterr().out
    assert re.search(r"^at that pace [\d.]+ % will be fresh in the long run$", usual, re.MULTILINE)
    assert "pages change independently of each other" in usual
    assert re.search(r"^(no page waits|\d+ of \d+ pages wait) longer than a year for a visit$", usual, re.MULTILINE)
    assert "best order" not in usual
    told = {}
    for policy in ("uniform", "cycle"):
        save(replace(load(Path(often) / FILE_NAME), policy=policy), Path(often))
        assert main(["plan", "--dir", often]) == 0
        told[policy] = capsys.readouterr().out
        assert f"the table is for the best order, given the pages' rates of change, not for {policy}" in told[policy]
        assert main(["plan", "--dir", often, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["policy"], found["curve"], found["planned"] is None) == (policy, "best", policy == "cycle")
        if policy == "uniform":
            assert found["planned"]["freshness"] <= found["now"]["freshness"]
            assert set(found["planned"]) == {"budget", "visits_per_s", "freshness", "seldom", "left_alone"}
    assert re.search(r"will be fresh in the long run, ordered by uniform; the best order would keep", told["uniform"])
    assert "the freshness under cycle is not predicted" in told["cycle"]


def test_it_says_so_where_the_settings_let_pages_be_visited_again_less_often_than_they_were(often, capsys):
    assert main(["plan", "--dir", often]) == 0
    assert "refresh_after" not in capsys.readouterr().out
    save(replace(load(Path(often) / FILE_NAME), refresh_after_s=3600.0), Path(often))
    assert main(["plan", "--dir", often]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"^at the [\d.]+ visits an? \w+ that limits allow [\d.]+ % will be fresh in the long run$", out, re.MULTILINE
    )
    assert re.search(
        r"^no page is visited again within 1 h.* \(refresh_after_s in crawl.toml\), .* room for", out, re.MULTILINE
    )
    assert main(["plan", "--dir", often, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["refresh_after_s"] == 3600.0
    assert found["again_per_s"] == pytest.approx(found["pages"] / 3600.0, rel=0.2)


def test_a_site_that_is_not_known_is_an_error(often, capsys):
    assert main(["plan", "--dir", often, "--site", "nowhere.example"]) == 2
    assert "evercrawl top --sites" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", ["0", "much", "-5", "inf", "nan", "5 parsecs", ""])
def test_wrong_use_is_told_before_anything_is_read(tmp_path, capsys, wrong):
    assert main(["plan", f"--budget={wrong}", "--dir", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("evercrawl: --budget must be fetches a day, 1 or more, or bytes")


def test_a_budget_is_of_what_the_crawl_counts(often, capsys):
    assert main(["plan", "--dir", often, "--budget", "1000", "--budget", "5GB"]) == 2
    error = capsys.readouterr().err
    assert "--budget must be a number of fetches a day, 1 or more" in error
    assert "'5GB'" in error
    assert main(["plan", "--dir", often, "--budget", "1e12", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["unit"], len(found["points"])) == ("fetches", 1)
    save(replace(load(Path(often) / FILE_NAME), rate_bytes_per_s=1_000_000), Path(often))
    assert main(["plan", "--dir", often, "--budget", "5MB", "--budget", "1e6", "--budget", "86400", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unit"] == "bytes"
    assert [round(point["budget"] * 86_400) for point in found["points"]] == [86_400, 1_000_000, 5_000_000]


def test_between_budgets_that_are_far_apart_the_curve_goes_through_the_present_pace(often, capsys):
    far = ["--budget", "1000", "--budget", "1000000000"]
    assert main(["plan", "--dir", often, *far]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum("points" in line for line in lines) == 2
    rows = [line.partition("|")[2] for line in lines if "|" in line]
    at = {column: row for row, line in enumerate(rows) for column, mark in enumerate(line) if mark in "*O"}
    (here,) = [column for line in rows for column, mark in enumerate(line) if mark == "O"]
    assert all(abs(at[here + step] - at[here]) <= 1 for step in (-1, 1))
    assert lines[-1].strip() == "*: fresh in the long run; O: at the present pace"


def test_a_pace_beyond_the_budgets_that_were_asked_for_is_drawn_too(often, capsys):
    assert main(["plan", "--dir", often, "--budget", "1000", "--budget", "2000"]) == 0
    assert any("O" in line.partition("|")[2] for line in capsys.readouterr().out.splitlines())


@pytest.fixture
def drawn(often, capsys, monkeypatch):
    """Plot a plan under a policy; return what was printed, and the figure."""
    made = []
    monkeypatch.setattr("evercrawl.cli.verbs.asking.plan._plot", lambda found, _: made.append(figure(found)))

    def draw(policy: str, *flags: str, **others: Any) -> tuple[str, Any]:
        save(replace(load(Path(often) / FILE_NAME), policy=policy, **others), Path(often))
        assert main(["plan", "--dir", often, "--plot", "plan.png", *flags]) == 0
        return capsys.readouterr().out, made.pop()

    return draw


def marks(made):
    """Return the height of each single point of a figure, by its label."""
    lines = [line for axes in made.axes for line in axes.get_lines()]
    return {line.get_label(): line.get_ydata()[0] for line in lines if len(line.get_xdata()) == 1}


def test_the_figure_shows_what_the_policy_itself_keeps_beside_the_best_order(drawn):
    out, made = drawn("uniform")
    kept, best = re.search(r"pace ([\d.]+ %) will .* ordered by uniform.* would keep ([\d.]+ %)", out).groups()
    found = marks(made)
    assert set(found) == {
        f"at the present pace, ordered by uniform: {kept}", f"best order at the present pace: {best}"
    }  # fmt: skip
    assert all(abs(height - float(label.split()[-2])) <= 0.5 for label, height in found.items())
    labels = [text.get_text() for text in made.legends[0].get_texts()]
    assert "fresh in the best order" in labels
    assert "gain from 10 % more in the best order (right)" in labels
    assert "*: fresh in the best order; O: at the present pace, ordered by uniform" in out
    (cycle,) = marks(drawn("cycle")[1])
    assert cycle.startswith("in the best order at the present pace: ")
    (price,) = marks(drawn("price")[1])
    assert price.startswith("at the present pace: ")


def test_between_budgets_that_are_far_apart_the_curve_is_worked_out_not_drawn_straight(drawn):
    _, made = drawn("price", "--budget", "1000", "--budget", "1000000000")
    line = made.axes[0].get_lines()[0]
    assert len(line.get_xdata()) > 15
    assert len(line.get_markevery()) == 2
    assert outside(made) == []
    ticks = [tick for tick in made.axes[0].get_xticklabels() if tick.get_text()]
    boxes = [tick.get_window_extent() for tick in ticks]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))


def test_the_axis_is_in_the_unit_of_the_table(drawn):
    for flags, settings, unit in (
        (["--budget", "100", "--budget", "200"], {}, "fetches an hour"),
        (["--budget", "2e6", "--budget", "3e6"], {}, "fetches a second"),
        (["--budget", "2e6"], {"rate_bytes_per_s": 1_000_000}, "bytes a day"),
    ):
        out, made = drawn("price", *flags, **settings)
        assert made.axes[0].get_xlabel() == unit
        assert unit.removeprefix("bytes ") in out
        assert outside(made) == []


def test_a_curve_goes_through_its_points():
    lines = chart([1.0, 10.0, 1000.0], [0.0, 0.5, 1.0], width=31, height=11)
    marks = {(column, row) for row, line in enumerate(lines) for column, mark in enumerate(line) if mark == "*"}
    assert {(6, 10), (16, 5), (36, 0)} <= marks
    assert len(lines) == 12
    assert len(chart([1.0, 2.0], [0.2, 0.2], (1.5, 0.2), width=5, height=3)) == 4
