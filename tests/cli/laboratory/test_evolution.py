"""What pages do, on the command line."""

import json
import re
from pathlib import Path

import pytest

from evercrawl.cli.main import main
from evercrawl.lab.histories import find, read
from evercrawl.lab.histories.evolution.addresses import addresses_of_crawls


def told(capsys, *argv: str) -> str:
    assert main(["evolution", *argv]) == 0
    return capsys.readouterr().out


def objects(capsys, *argv: str) -> list[dict]:
    return [json.loads(line) for line in told(capsys, *argv, "--json").splitlines()]


def test_tables_of_what_ships_and_a_figure(capsys, tmp_path):
    file = tmp_path / "evolution.png"
    out = told(capsys, "peps", "ota-contrib", "--plot", str(file))
    assert re.findall(r"^(how often|how much|how long|links|regularity|together)", out, re.MULTILINE) == [
        "how often", "how much", "how long", "links", "regularity", "together"
    ]  # fmt: skip
    assert re.search(r"^peps +738 +736 +15,125 +26 years +0\.00442 ", out, re.MULTILINE)
    assert len(re.findall(r"^all ", out, re.MULTILINE)) == 6
    assert len(re.findall(r"^ota-contrib ", out, re.MULTILINE)) == 5, "its pages do not link"
    assert re.search(r"^ota-contrib +0\.00322 +x 1\.04 +0\.289 +x 4\.90$", out, re.MULTILINE)
    assert file.read_bytes().startswith(b"\x89PNG")


def test_json_has_every_number_of_every_group(capsys):
    found = objects(capsys, "peps", "ota-contrib", "--by", "depth")
    assert [(each["by"], each["group"], each["pages"]) for each in found] == [
        ("depth", "0", 738), ("depth", "1", 712), ("depth", "all", 1450)
    ]  # fmt: skip
    assert set(found[0]["classes"]) == {"daily", "weekly", "monthly", "four_months", "slower", "never"}
    assert found[1]["link_half_life_days"] is None
    assert found[1]["folder_correlation"] == pytest.approx(0.289, abs=5e-4)
    assert found[1]["near_days"] == 7
    assert {type(value) for value in found[0].values()} <= {str, int, float, dict, type(None)}


def test_samples_and_a_time(capsys, tmp_path):
    (tmp_path / "sites").write_text("# ours\n\npeps\n")
    files = ["peps", "ota-contrib", "--sample", f"sites=@{tmp_path}/sites"]
    assert [each["pages"] for each in objects(capsys, *files)] == [738]
    assert [each["pages"] for each in objects(capsys, *files, "--sample", "random=50")] == [50]
    one, same, other = (objects(capsys, "peps", "--sample", "random=50", "--seed", seed) for seed in "112")
    assert one == same != other
    (terms,) = objects(capsys, "ota-contrib", "--sample", "topic=cookie policy,imprint", "--sample", "whole")
    assert 0 < terms["pages"] < 100
    (early,) = objects(capsys, "peps", "--until", "2010-01-01")
    (late,) = objects(capsys, "peps", "--since", "2010-01-01T00:00:00+00:00")
    (whole,) = objects(capsys, "peps", "--since", "0")
    assert early["changes"] + late["changes"] == whole["changes"] == 15_125
    assert told(capsys, "peps", "--sample", "random=50").startswith("sample: random=50\n")


def test_many_groups_are_told_in_json_and_the_largest_in_tables(capsys, made_up_folder):
    out = told(capsys, made_up_folder, "--by", "type")
    assert "and 5 smaller groups, which --json lists" in out
    assert "\naa " not in out
    assert "\nay " in out
    assert len(objects(capsys, made_up_folder, "--by", "type")) == 26


@pytest.fixture
def made_up_folder(tmp_path):
    """Return a folder with a history of 25 kinds of pages, of the later ones more."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = [f"a{chr(97 + i)}" for i in range(25) for _ in range(i + 1)]
    n = len(kinds)
    zeros = {name: [0] * n for name in ("op", "size", "words", "simhash", "content")}
    pq.write_table(pa.table({"t": list(range(n)), "page": list(range(n))} | zeros), tmp_path / "h.events.parquet")
    paths = [f"{i}.{kind}" for i, kind in enumerate(kinds)]
    pq.write_table(pa.table({"page": list(range(n)), "path": paths}), tmp_path / "h.pages.parquet")
    return str(tmp_path)


def test_a_crawl_is_told_of_by_its_directory(crawled, capsys):
    (one,) = objects(capsys, "--dir", crawled, "--by", "type")
    assert (one["group"], one["estimator"], one["pages"] > 20) == ("text/html", "none", True)
    assert one["links"] > 50
    assert "none of the chosen pages existed" not in told(capsys, crawled)


def test_pages_of_random_addresses_are_those_that_answered(crawled, capsys):
    directory = Path(crawled)
    addresses = addresses_of_crawls([directory], [read(directory)])
    assert {address for address in addresses if address} == {"127.0.1.1", "127.0.1.2"}
    one, both = (objects(capsys, "--dir", crawled, "--sample", f"addresses={n}")[-1]["pages"] for n in (1, 2))
    assert 0 < one < both


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["peps", "--sample", "some"], "--sample must be whole, sites="),
        (["peps", "--sample", "random=0"], "--sample must be whole, sites="),
        (["peps", "--sample", "sites=@none.txt"], "cannot read none.txt"),
        (["peps", "--sample", "sites=nowhere"], "there is no site nowhere; the sites are peps"),
        (["peps", "--sample", "topic=zebra"], "no page is left"),
        (["peps", "--sample", "addresses=1"], "no address is known"),
        (
            ["peps", "--sample", "sites=@nofile"],
            "cannot read nofile: No such file or directory; name a file with a site",
        ),
        (["peps", "--since", "2020-01-01", "--until", "2019-01-01"], "--since must be before --until"),
        (["peps", "--since", "lately"], "--since must be a date such as 2024-05-31"),
        (["peps", "--seed", "x"], "--seed must be a whole number"),
        (["nowhere"], "one of those that come with evercrawl: ota-contrib, peps"),
        ([], "is neither a crawl nor a history"),
    ],
)
def test_wrong_use_is_told(argv, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["evolution", *argv]) == 2
    assert says in capsys.readouterr().err


def test_a_figure_that_cannot_be_written_is_told_before_the_work(capsys, tmp_path):
    assert main(["evolution", "peps", "--plot", str(tmp_path)]) == 3
    told = capsys.readouterr()
    assert "it is a folder; name a file\n" in told.err
    assert not told.out


def test_a_sample_is_what_a_gateway_was_asked_for(capsys, tmp_path):
    names = list(read(find("peps")[0]).paths)[:3]
    log = tmp_path / "access.log"
    lines = [f'10.0.0.1 - - [01/Jan/2024:00:00:00 +0000] "GET /{name} HTTP/1.1" 200 17' for name in names[:2]]
    log.write_text("\n".join([*lines, f"https://peps.example/x {names[2]}", '"GET /no/such HTTP/1.1"']))
    assert [each["pages"] for each in objects(capsys, "peps", "--sample", f"gateway={log}")] == [3]
    log.write_text("nothing of ours\n")
    assert main(["evolution", "peps", "--sample", f"gateway={log}"]) == 2
    assert "names no page of these histories" in capsys.readouterr().err
