"""Telling a crawl on the command line how it is used."""

import io
import json
import math
import sys
import time
from pathlib import Path

import pytest

from evercrawl.cli.main import main
from evercrawl.cli.verbs.serving.usage import MOST_BAD
from evercrawl.model.worth.query_words import HALF_LIFE_S
from evercrawl.model.worth.usage import Question, UsageWriter
from evercrawl.simulate.surroundings.loopback import NETWORK


def test_a_file_is_taken_in_once_and_reported(crawled, site, tmp_path, capsys):
    page = f"{site.web.origins[0]}/"
    lines = [json.dumps({"at": f"2024-05-0{i}T12:00:00Z", "query": "tea", "shown": [page]}) for i in (1, 2)]
    file = tmp_path / "clicks.jsonl"
    file.write_text("\n".join([lines[0], "bad", lines[1]]), encoding="utf-8")
    assert main(["usage", str(file), "--dir", crawled]) == 1
    out = capsys.readouterr()
    assert out.out == "recorded 2 queries; 1 line invalid\n"
    assert out.err.startswith("evercrawl: line 2 is invalid: ")
    assert main(["usage", str(file), "--dir", crawled, "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"event": "end", "added": 0, "again": 2, "bad": 1}
    assert main(["usage", "--dir", crawled, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["questions"], found["known"], found["words"]) == (2, 1, {"tea": 1.0})
    assert found["most_used"] == [{"url": page, "shown": 2, "clicked": 0}]
    assert main(["usage", "--dir", crawled]) == 0
    assert "2 (2 with words)" in capsys.readouterr().out
    assert main(["verify", "--dir", crawled]) == 0


def test_standard_input_is_read(crawled, capsys, monkeypatch):
    text = b'{"at": 1, "query": "tea"}\n' + b"bad\n" * (MOST_BAD + 3)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["usage", "-", "--dir", crawled]) == 1
    out = capsys.readouterr()
    assert out.out == f"recorded 1 query; {MOST_BAD + 3} lines invalid\n"
    assert out.err.splitlines()[-1] == "evercrawl: 3 more lines are invalid"
    assert len(out.err.splitlines()) == MOST_BAD + 1


def test_before_anything_was_told_it_says_how_to(crawled, capsys):
    assert main(["usage", "--dir", crawled]) == 0
    assert "evercrawl usage FILE" in capsys.readouterr().out
    assert main(["usage", "--dir", crawled, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["first_at"] is None


def test_what_a_search_showed_is_recorded_where_that_is_asked_for(crawled, capsys):
    assert main(["search", "page", "--dir", crawled, "--limit", "3", "--json"]) == 0
    shown = [json.loads(line)["url"] for line in capsys.readouterr().out.splitlines()]
    assert main(["usage", "--dir", crawled, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["questions"] == 0
    assert main(["search", "page", "--dir", crawled, "--limit", "3", "--record", "--json"]) == 0
    assert main(["search", "xyzzy", "--dir", crawled, "--record"]) == 1
    capsys.readouterr()
    assert main(["usage", "--dir", crawled, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["questions"], found["shown"]) == (2, 3)
    assert {page["url"] for page in found["most_used"]} == set(shown)


@pytest.mark.parametrize("wrong", [["usage", "no-such-file"], ["usage", "-"]])
def test_wrong_use_is_told(tmp_path, capsys, wrong):
    assert main([*wrong, "--dir", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("evercrawl: there is no crawl")


def test_use_is_exported_page_by_page(crawled, site, capsys):
    page, other = f"{site.web.origins[0]}/", "https://elsewhere.example/"
    now = time.time()
    UsageWriter(Path(crawled)).add(
        [
            Question(now - HALF_LIFE_S, "tea", (page, other)),
            Question(now, "tea", (page,), id="q"),
            Question(now, clicked=(page,), id="q", places=(0,)),
        ]
    )
    assert main(["export", "usage", "-o", "-", "--dir", crawled]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (first["url"], first["retrieved"], first["clicked"]) == (page, 2, 1)
    assert first["C"] == pytest.approx(1 / 1.5, abs=0.001)  # the older of two retrievals counts half
    assert first["retrieved_lately"] == pytest.approx(1.5, abs=0.001)
    n, x = first["visits"], first["changes"]
    assert n >= 1
    assert first["R"] == pytest.approx(1.5 / n, abs=0.001)
    assert first["U"] == pytest.approx(-math.log((n - x + 0.5) / (n + 0.5)))
    assert 0 < first["P"] < 1
    assert (second["url"], second["visits"], second["P"], second["C"]) == (other, 0, None, 0.0)


def test_a_file_that_is_not_there_is_named(crawled, capsys):
    assert main(["usage", "no-such-file", "--dir", crawled]) == 2
    assert "no-such-file" in capsys.readouterr().err


def test_a_crawl_that_nobody_told_of_use_says_so_once(site, tmp_path, capsys):
    directory = str(tmp_path / "crawl")
    flags = [
        "--delay",
        "0",
        "--allow-net",
        NETWORK,
        "--until-idle",
        "--weight",
        "embarrassment",
        "--refresh-after",
        "1h",
    ]
    assert main(["crawl", *site.seeds, "--dir", directory, *flags]) == 0
    assert capsys.readouterr().out.count("nothing is known of how the crawl is used") == 1
    file = tmp_path / "clicks.jsonl"
    file.write_text(json.dumps({"at": 1, "clicked": site.seeds[:1]}), encoding="utf-8")
    assert main(["usage", str(file), "--dir", directory]) == 0
    assert main(["crawl", "--dir", directory, *flags]) == 0
    assert "nothing is known" not in capsys.readouterr().out
