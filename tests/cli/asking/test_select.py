"""Choosing sites on the command line, of a crawl of a real server."""

import json

import pytest

from evercrawl.cli.main import main


def test_sites_are_chosen_and_compared_with_raters(crawled, tmp_path, capsys):
    """One crawl serves all questions, for it takes a second or two."""
    assert main(["select", "--budget", "1", "--dir", crawled]) == 0
    head, line, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["importance", "x", "mean", "linking", "pages", "size", "site"]
    assert line.split()[0] == "1"
    assert last.startswith("chosen: 1 of 2 sites, ")
    assert last.endswith(" of the importance; budget used: 1 site of 1 site")

    assert main(["select", "--budget", "1MB", "--unit", "bytes", "--dir", crawled, "--json"]) == 0
    *sites, selection = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(of["event"], of["rank"]) for of in sites] == [("site", 1), ("site", 2)]
    assert (selection["event"], selection["sites"], selection["of"], selection["unit"]) == ("selection", 2, 2, "bytes")
    assert selection["importance"] == pytest.approx(1.0)
    assert 0 < sum(of["size_bytes"] for of in sites) == pytest.approx(selection["spent"], abs=2)

    assert main(["select", "--budget", "1", "--by", "pages", "--dir", crawled, "--json"]) == 0
    site, selection = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main(["top", "--sites", "--dir", crawled, "--json"]) == 0
    most = max((json.loads(line) for line in capsys.readouterr().out.splitlines()), key=lambda of: of["of_pages"])
    assert (site["site"], selection["by"]) == (most["site"], "of_pages")

    ratings = tmp_path / "ratings.csv"
    first, second = (of["site"] for of in sites)
    rows = [f"{first},ann,1", f"{second},ann,4", f"{first},bob,1", f"{second},bob,3", "none.example,bob,2"]
    ratings.write_text("\n".join(["site,rater,rating", *rows]))
    asked = ["select", "--budget", "1", "--dir", crawled, "--ratings", str(ratings)]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "pairs of raters agree about 50 % of the sites\n" in said
    assert "the crawl does not know 1 rated site: none.example\n" in said
    assert main([*asked, "--best", "1", "--json"]) == 0
    agreed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert agreed["event"] == "agreement"
    assert agreed["measures"]["importance"] == 1.0
    assert [rater["rater"] for rater in agreed["raters"]] == ["ann", "bob"]

    ratings.write_text("site,rating\nnone.example,2\n")
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["measures"]["importance"] is None
    assert main(asked) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["--budget", "0"],
        ["--budget", "1.5"],
        ["--budget", "9X", "--unit", "bytes"],
        ["--budget", "1", "--ratings", "no.csv"],
    ],
)
def test_wrong_use_is_told(tmp_path, capsys, arguments):
    assert main(["select", *arguments, "--dir", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("evercrawl: ")


def test_without_a_crawl_there_is_nothing_to_choose(tmp_path, capsys):
    assert main(["select", "--budget", "5", "--dir", str(tmp_path), "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["exit_code"] == 2
    assert "there is no crawl" in err
