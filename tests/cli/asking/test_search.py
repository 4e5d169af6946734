"""Searching on the command line, in a crawl of a real server."""

import json
import re

import pytest

from evercrawl.ask.search.hits import Hit
from evercrawl.cli.main import main
from evercrawl.cli.verbs.asking.search import shown
from evercrawl.simulate.surroundings.loopback import NETWORK


def found(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_what_was_crawled_is_found(crawled, site, capsys):
    assert main(["top", "3", "--dir", crawled, "--json"]) == 0
    best = found(capsys)[0]
    assert main(["search", f"site:{site.web.origins[0]}", "--dir", crawled, "--json", "--limit", "100"]) == 0
    hits = found(capsys)
    assert {str(hit["url"]).rpartition("/")[0] for hit in hits} <= {
        f"{site.web.origins[0]}{path}" for path in ("", "/p")
    }
    title = str(next(hit["title"] for hit in hits if hit["title"]))
    assert main(["search", *title.split(), "--dir", crawled, "--json"]) == 0
    hit = found(capsys)[0]
    assert (hit["rank"], hit["title"]) == (1, title)
    assert set(hit) == {
        "event", "fetched_at_s", "changed_at_s",
        "rank", "url", "title", "score", "importance", "times_mean", "fetched_at", "changed_at", "fresh", "site",
        "language", "snippet", "title_marks", "snippet_marks",
    }  # fmt: skip
    assert best["importance"] >= hit["importance"] > 0  # type: ignore[operator]


def test_people_see_title_address_and_what_is_known(crawled, capsys):
    assert main(["search", "page", "--dir", crawled, "--limit", "2", "--fetched-within", "1h", "--fresh", "10%"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^ 1\. .+\n    http://\S+\n    importance [\d.]+ x mean · fetched .+ · fresh \d+", out)
    assert re.search(r"^2 results in \d+ ms(; --limit shows more)?$", out, re.MULTILINE)
    assert "\x1b" not in out


def test_nothing_found_is_exit_code_1(crawled, capsys):
    assert main(["search", "xyzzy", "--dir", crawled]) == 1
    assert capsys.readouterr().out == "nothing was found for xyzzy\n"
    assert main(["search", "page", "--dir", crawled, "--lang", "xx"]) == 1
    assert capsys.readouterr().out == "nothing was found for page with these filters\n"
    assert main(["search", "page", "--dir", crawled, "--json", "--changed-within", "0s", "--site", "no.where"]) == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("wrong", [["--limit", "0"], ["--fresh", "2"], ["--fetched-within", "soon"]])
def test_wrong_use_is_told(tmp_path, capsys, wrong):
    assert main(["search", "tea", *wrong, "--dir", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("evercrawl: ")


def test_an_empty_query_is_told(tmp_path, capsys):
    assert main(["search", "", " ", "--dir", str(tmp_path)]) == 2
    assert "the query is empty" in capsys.readouterr().err


def test_without_an_index_it_says_how_to_make_one(site, tmp_path, capsys):
    flags = ["--delay", "0", "--allow-net", NETWORK, "--pages", "2", "--quiet", "--no-index"]
    assert main(["crawl", *site.seeds, "--dir", str(tmp_path / "crawl"), *flags]) == 0
    assert main(["search", "page", "--dir", str(tmp_path / "crawl")]) == 3
    assert f"evercrawl reindex --dir {tmp_path / 'crawl'}" in capsys.readouterr().err


def _hit(**fields: object) -> Hit:
    usual = {
        "rank": 1, "url": "http://a.example/", "title": "Tea", "score": 1.0, "importance": 0.1, "times_mean": 2.0,
        "fetched_at": 0.0, "changed_at": 0.0, "fresh": 0.5, "site": "a.example", "language": "en",
        "snippet": "all about tea", "title_marks": ((0, 3),), "snippet_marks": ((10, 13),),
    }  # fmt: skip
    return Hit(**{**usual, **fields})  # type: ignore[arg-type]


def test_a_terminal_shows_words_bold_and_nothing_that_a_page_wants_it_to_do():
    title, address, about, text = shown(_hit(), 60.0, 80, terminal=True)
    assert (title, address, text) == (
        " 1. \x1b[1mTea\x1b[0m",
        "    http://a.example/",
        "    all about \x1b[1mtea\x1b[0m",
    )
    assert "fetched 1 minute ago" in about
    evil = _hit(title="a\x1b[2Jb\ue000c", snippet="\x9bx", title_marks=(), snippet_marks=(), language="\x1b[8m")
    assert not re.search(r"\x1b(?!\[[012]m)|\x9b|\ue000", "".join(shown(evil, 0.0, 80, terminal=True)))


def test_marks_survive_line_breaks():
    words = "word " * 30
    hit = _hit(snippet=words.strip(), snippet_marks=tuple((i * 5, i * 5 + 4) for i in range(30)))
    lines = shown(hit, 0.0, 40, terminal=True)[3:]
    assert len(lines) > 3
    assert all(line.count("\x1b[1m") == line.count("\x1b[0m") > 0 for line in lines)
    title = shown(_hit(title="a\nb\tc", title_marks=((2, 3),)), 0.0, 80, terminal=True)[0]
    assert title.endswith("a \x1b[1mb\x1b[0m c")
