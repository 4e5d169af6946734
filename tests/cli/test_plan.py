"""Planning on the command line, for a crawl of a real server."""

import json
import re

import pytest

from evercrawl.cli.chart import chart
from evercrawl.cli.main import main
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
    assert set(found["now"]) == {"budget", "visits_per_s", "freshness", "marginal", "price", "seldom"}
    assert found["unit"] == "fetches"
    assert 0 < found["points"][0]["freshness"] <= found["points"][1]["freshness"] <= 1


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
