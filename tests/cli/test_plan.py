"""Planning on the command line, for a crawl of a real server."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from evercrawl.cli.chart import chart
from evercrawl.cli.main import main
from evercrawl.config import FILE_NAME, load, save
from evercrawl.simulate.loopback import NETWORK


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
    assert re.search(r"^\d+ copies are held, and .+ fresh now$", out, re.MULTILINE)
    assert re.search(r"^within the last .+ of the crawl it made .+ visits .+ to pages it knew", out, re.MULTILINE)
    rows = re.findall(r"^ *(x [\d.]+|now) .+ points ", out, re.MULTILINE)
    assert rows[:5] == ["x 0.125", "x 0.25", "x 0.5", "now", "x 2"]
    assert out.count("O") >= 1 <= out.count("100 %|")
    assert file.read_bytes().startswith(b"\x89PNG")


def test_json_has_every_number(often, capsys):
    assert main(["plan", "--dir", often, "--budget", "86400", "--budget", "864000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [round(point["budget"], 4) for point in found["points"]] == [1.0, 10.0]
    assert set(found["now"]) == {
        "budget", "visits_per_s", "freshness", "marginal", "price", "seldom", "left_alone"
    }  # fmt: skip
    assert (found["policy"], found["curve"], found["planned"]) == ("price", "price", None)
    assert found["unit"] == "fetches"
    assert 0 < found["points"][0]["freshness"] <= found["points"][1]["freshness"] <= 1


def test_of_a_policy_that_plans_it_tells_what_its_own_rates_keep_and_of_others_whose_numbers_those_are(often, capsys):
    assert main(["plan", "--dir", often]) == 0
    usual = capsys.readouterr().out
    assert re.search(r"^at that pace [\d.]+ % will be in the long run$", usual, re.MULTILINE)
    assert "that some change together is left out" in usual
    assert re.search(r"^(no page is|\d+ of \d+ pages are) left alone for longer than a year$", usual, re.MULTILINE)
    assert "best order" not in usual
    told = {}
    for policy in ("uniform", "cycle"):
        save(replace(load(Path(often) / FILE_NAME), policy=policy), Path(often))
        assert main(["plan", "--dir", often]) == 0
        told[policy] = capsys.readouterr().out
        assert f"what follows is the best order there is, by rates of pages, not {policy}" in told[policy]
        assert main(["plan", "--dir", often, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["policy"], found["curve"], found["planned"] is None) == (policy, "best", policy == "cycle")
        if policy == "uniform":
            assert found["planned"]["freshness"] <= found["now"]["freshness"]
            assert set(found["planned"]) == {"budget", "visits_per_s", "freshness", "seldom", "left_alone"}
    assert re.search(r"will be in the long run, as uniform spreads it; the best order would keep", told["uniform"])
    assert "what cycle will keep is not foretold" in told["cycle"]


def test_it_says_so_where_the_settings_let_pages_be_visited_again_less_often_than_they_were(often, capsys):
    assert main(["plan", "--dir", often]) == 0
    assert "refresh_after" not in capsys.readouterr().out
    save(replace(load(Path(often) / FILE_NAME), refresh_after_s=3600.0), Path(often))
    assert main(["plan", "--dir", often]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"^at the [\d.]+ visits an? \w+ that may be made [\d.]+ % will be in the long run$", out, re.MULTILINE
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


@pytest.mark.parametrize("wrong", [["--budget", "0"], ["--budget", "much"]])
def test_wrong_use_is_told(tmp_path, capsys, wrong):
    assert main(["plan", *wrong, "--dir", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("evercrawl: --budget must be")


def test_a_curve_goes_through_its_points():
    lines = chart([1.0, 10.0, 1000.0], [0.0, 0.5, 1.0], width=31, height=11)
    marks = {(column, row) for row, line in enumerate(lines) for column, mark in enumerate(line) if mark == "*"}
    assert {(6, 10), (16, 5), (36, 0)} <= marks
    assert len(lines) == 12
    assert len(chart([1.0, 2.0], [0.2, 0.2], (1.5, 0.2), width=5, height=3)) == 4
