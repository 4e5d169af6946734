"""Looking for copies of a text on the command line, in a crawl of a real server."""

import io
import json
import sys

import pytest

from evercrawl.cli.main import main


def told(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def page(crawled, capsys):
    """The URL and the text of a page that has enough words."""
    assert main(["top", "30", "--dir", crawled, "--json"]) == 0
    for row in told(capsys):
        if main(["get", row["url"], "--text", "--dir", crawled]) == 0:
            text = capsys.readouterr().out
            if len(text.split()) > 40:
                return row["url"], text
    raise AssertionError("there is such a page")


def test_a_file_a_text_and_standard_input_are_looked_for(crawled, page, tmp_path, capsys, monkeypatch):
    url, text = page
    (tmp_path / "text.txt").write_text(text)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    for source in (str(tmp_path / "text.txt"), text, "-"):
        assert main(["copies", source, "--dir", crawled, "--json"]) == 0
        *found, last = told(capsys)
        assert url in [row["url"] for row in found if row["contains"] > 0.99]
        assert (last["event"], last["listed"], last["indexed"]) == ("copies", len(found), True)
    assert main(["copies", text, "--dir", crawled]) == 0
    assert url in capsys.readouterr().out


def test_a_page_of_the_crawl_is_looked_for_elsewhere(crawled, page, capsys):
    main(["copies", page[0], "--dir", crawled, "--json"])
    assert page[0] not in [row.get("url") for row in told(capsys)]


@pytest.mark.parametrize(
    ("source", "said"),
    [("two words", "fewer than 5 words"), ("http://127.0.0.1:9/never", "no content of"), (".", "fewer than 5 words")],
)
def test_what_is_nothing_to_look_for_is_told(crawled, capsys, source, said):
    assert main(["copies", source, "--dir", crawled]) == 2
    assert said in capsys.readouterr().err


def test_where_nobody_has_it_the_exit_code_is_1(crawled, capsys):
    assert main(["copies", "words that nobody ever put in this order before", "--dir", crawled]) == 1
    assert "no copy of the text is known" in capsys.readouterr().out
