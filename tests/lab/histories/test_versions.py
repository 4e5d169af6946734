"""The versions of pages that a crawl archived, and what `evercrawl lab evolution --texts` tells of them."""

import json
import math

import pytest

from evercrawl.change.shingles import shingles, word_keys
from evercrawl.cli.main import main
from evercrawl.lab.histories.versions import versions_of_crawl

SITE = "http://example.org"
WORDS = "the old man walks along the shore and looks for shells in the sand"
TIDES = [f"{WORDS} high tide at {hour} today" for hour in ("nine", "ten", "nine")]


@pytest.fixture(name="crawl")
def crawl_of_two_pages(made):
    """Return a crawl: a page whose last words go to and fro, one that grows, and one that is as it was."""
    made.seed(f"{SITE}/", f"{SITE}/grows", f"{SITE}/still")
    grown = WORDS
    for turn, tide in enumerate(TIDES):
        made.visit(f"{SITE}/", made.page("Tides", text=tide))
        grown += f" then on day {turn} he found a blue one"
        made.visit(f"{SITE}/grows", made.page("Diary", text=grown), squeeze=turn == 1)
        made.visit(f"{SITE}/still", made.page("Still", text=WORDS))
    made.visit(f"{SITE}/", status=304)
    made.visit(f"{SITE}/grows", status=404)
    made.save()
    return made


def test_versions_are_those_that_were_archived_with_the_last_look(crawl):
    urls = [f"{SITE}/still", f"{SITE}/"]
    ((place, versions),) = versions_of_crawl(crawl.directory, urls, -math.inf, math.inf)
    assert place == 1
    assert [version.at - crawl.now for version in versions] == [-100, -70, -40, -10]
    expected = [shingles(word_keys(tide)).tolist() for tide in TIDES]
    for version, runs in zip(versions, [*expected, expected[-1]], strict=True):
        assert set(runs) <= set(version.runs.tolist())
    assert versions[0].runs.tolist() == versions[2].runs.tolist() != versions[1].runs.tolist()


def test_only_visits_of_the_time_count(crawl):
    found = list(versions_of_crawl(crawl.directory, [f"{SITE}/"], crawl.now - 80, crawl.now - 30))
    assert [[version.at - crawl.now for version in versions] for _, versions in found] == [[-70, -40, -40]]
    assert not list(versions_of_crawl(crawl.directory, [f"{SITE}/"], crawl.now - 30, math.inf))


def told(capsys, crawl, *argv: str) -> str:
    assert main(["evolution", "--dir", str(crawl.directory), *argv]) == 0
    return capsys.readouterr().out


def test_evolution_tells_what_stays_and_what_flickers(crawl, capsys):
    crawl.partition.close()
    (whole,) = (json.loads(line) for line in told(capsys, crawl, "--texts", "--json").splitlines())
    assert (whole["texts"], whole["text_changes"]) == (2, 4)
    assert whole["flip_flops"] == 0.25
    assert 0 < whole["flicker"] < 1
    assert 0 < whole["new_stayed"] < 1
    assert whole["there_after_day"] is None, "nobody looked for a day"
    (plain,) = (json.loads(line) for line in told(capsys, crawl, "--json").splitlines())
    assert (plain["texts"], plain["flicker"]) == (0, None)
    assert {name: whole[name] for name in ("pages", "changes", "new")} == {
        name: plain[name] for name in ("pages", "changes", "new")
    }
    assert "which text stays and which flickers" in told(capsys, crawl, "--texts")
    assert "what stays" not in told(capsys, crawl)
    assert main(["evolution", "peps", "--texts"]) == 2
    assert "--dir" in capsys.readouterr().err


FOLDERS, PAGES, DAYS = 4, 3, 40


@pytest.fixture
def months(made):
    """Return a crawl of forty days: every eighth day all pages of a folder change, each folder on days of its own.

    In the first two folders what is new is added to the page; in the others it takes the place of what was new before.
    """
    urls = [f"{SITE}/f{folder}/{page}" for folder in range(FOLDERS) for page in range(PAGES)]
    made.seed(*urls)
    for half_day in range(2 * DAYS):
        made.now += 43_200.0 - 10.0 * len(urls)
        for place, url in enumerate(urls):
            folder = place // PAGES
            edits = (half_day // 2 + 2 * folder) // 8
            told = [f"in edit {edit} he found {edit * 7} blue shells" for edit in range(edits + 1)]
            made.visit(
                url, made.page("Diary", text=" ".join([f"{WORDS} {place}", *(told if folder < 2 else told[-1:])]))
            )
    made.save()
    return made


def test_evolution_tells_that_folders_change_together_and_that_copies_age(months, capsys):
    months.partition.close()
    (found,) = (json.loads(line) for line in told(capsys, months, "--texts", "--json").splitlines())
    assert found["near_days"] == pytest.approx(1.0, rel=0.02)
    assert found["folder_correlation"] == pytest.approx(1.0)
    assert found["site_correlation"] < 0.073, "on a day on which a folder changes the pages of others do not"
    assert found["folder_lift"] > 7.4
    assert 0 < found["other_after_day"] < 0.3 * found["other_after_week"] < 0.3
    out = told(capsys, months, "--texts")
    assert (
        "together: correlation of changes within 1 day (0: independent), and pairs that change, relative to chance"
        in out
    )
    assert out.rstrip().splitlines()[-1].split() == ["example.org", "0.0667", "x", "1.48", "1", "x", "8.16"]
