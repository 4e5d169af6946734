"""Measured freshness and calibration on the command line, for a crawl of a real server whose pages change."""

import asyncio
import json
import re
import threading

import pytest

from evercrawl.cli.main import main
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback


@pytest.fixture(scope="module")
def probed(tmp_path_factory):
    """Crawl a small web of which every other page changes all the time, half of the visits being probes."""
    directory = str(tmp_path_factory.mktemp("calibration") / "crawl")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = Loopback(hosts=2, pages=12, changing=2)
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
    flags = ["--delay", "0", "--refresh-after", "1ms", "--allow-net", NETWORK, "--pages", "160", "--quiet"]
    assert main(["crawl", *server.seeds, "--dir", directory, *flags, "--rate", "400", "--probe-share", "0.5"]) == 0
    asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()
    return directory


def test_status_has_a_line_of_what_was_measured(probed, capsys):
    assert main(["status", "--dir", probed]) == 0
    out = capsys.readouterr().out
    what = r"[\d.]+ % of [\d,]+ copies sampled at random were fresh \(95 % interval .+ to .+; expected .+\)"
    line = rf"{what}, mean age .+ \(95 % interval .+ to .+; expected .+\)$"
    assert re.search(rf"^measured +{line}", out, re.MULTILINE)
    assert re.search(r"^ +.+ copies sampled by importance were fresh", out, re.MULTILINE)


def test_json_of_the_status_has_every_number_of_a_measure(probed, capsys):
    assert main(["status", "--dir", probed, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for measure in (found["measured"], found["measured_by_importance"]):
        assert measure["fresh_low"] <= measure["fresh"] <= measure["fresh_high"]
        assert measure["age_low_s"] <= measure["age_s"] <= measure["age_high_s"]
        assert measure["probes"] > 10
        assert 0 <= measure["fresh_expected"] <= 1
    assert found["age_s"] > 0
    assert {"age_by_importance_s", "probes_waiting", "probes_unanswered"} <= found.keys()


def test_calibration_is_a_table_and_a_figure(probed, capsys, tmp_path):
    file = tmp_path / "calibration.png"
    assert main(["status", "--calibration", "--dir", probed, "--plot", str(file)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^ *predicted fresh +visits +mean +observed +95 % interval +probes", out, re.MULTILINE)
    assert re.search(
        r"^[\d,]+ visits: .+ fresh .+ predicted; expected calibration error [\d.]+ points, Brier", out, re.MULTILINE
    )
    assert re.search(r"^[\d,]+ random probes: ", out, re.MULTILINE)
    assert file.read_bytes().startswith(b"\x89PNG")


def test_calibration_as_json_adds_up(probed, capsys):
    assert main(["status", "--calibration", "--dir", probed, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for name in ("visits", "probes", "probes_by_importance"):
        of = found[name]
        assert len(of["bins"]) == 20
        assert sum(each["count"] for each in of["bins"]) == of["count"] > 0
        error = sum(e["count"] * abs(e["observed"] - e["predicted"]) for e in of["bins"] if e["count"]) / of["count"]
        assert of["expected_error"] == pytest.approx(error)
        assert [e["observed"] for e in of["bins"] if not e["count"]] == [None] * sum(not e["count"] for e in of["bins"])


def test_before_anything_was_seen_twice_it_says_so(crawled, capsys):
    assert main(["status", "--calibration", "--dir", crawled]) == 0
    assert capsys.readouterr().out.startswith("nothing is known yet")
    assert main(["status", "--dir", crawled]) == 0
    said = capsys.readouterr().out
    assert "measured" not in said
    assert re.search(
        r"^fresh +too early: needs (10|\d) more visits? to pages read before, to estimate", said, re.MULTILINE
    )


def test_a_plot_of_nothing_is_an_error(crawled, capsys):
    assert main(["status", "--plot", "x.png", "--dir", crawled]) == 2
    assert "--calibration" in capsys.readouterr().err
