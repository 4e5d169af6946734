"""Links that came and went, read from the journal."""

import json

import pytest

from evercrawl.ask.rank.link_steps import link_steps
from evercrawl.ask.rank.rising import rising_pages
from evercrawl.cli.main import main
from evercrawl.config import Config
from evercrawl.model.view import View

SITE = "http://example.org"


@pytest.fixture
def told(asked):
    """Return what gives the steps of a crawl: page, whether it gained, and the instant."""

    def tell() -> list[tuple[str, bool, float]]:
        view = asked(after_s=9e6)
        steps = link_steps(view)
        columns = (steps.page.tolist(), steps.amount.tolist(), steps.at.tolist())
        return [
            (view.state.urls.get(page)[len(SITE) :], amount > 0, at) for page, amount, at in zip(*columns, strict=True)
        ]

    return tell


def begin(made) -> None:
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b"))
    made.visit(f"{SITE}/a", made.page("a", "/b", text="first"))
    made.visit(f"{SITE}/b", made.page("b", "/", text="second"))


def test_what_a_page_links_to_when_it_is_first_read_is_no_news(made, told):
    begin(made)
    assert told() == []


def test_a_link_comes_and_goes_between_two_readings(made, told):
    begin(made)
    home, now = made.now - 20, made.now
    made.visit(f"{SITE}/", made.page("Home", "/a", "/c", text="new"))
    assert told() == [("/c", True, (home + now + 10) / 2), ("/b", False, (home + now + 10) / 2)]


def test_a_reading_that_brings_no_links_changes_none(made, told):
    begin(made)
    made.visit(f"{SITE}/", b"", 304)
    made.visit(f"{SITE}/", b"", 0, error="timeout")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", text="other words"))
    assert told() == []


def test_the_links_of_a_page_that_is_news_are_news(made, told):
    begin(made)
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/new", text="new"))
    at = made.now - 15  # in the middle of its two readings
    made.visit(f"{SITE}/new", made.page("New", "/b", "/further"))
    made.visit(f"{SITE}/further", made.page("Further", "/a"))  # may have been there long before
    assert told() == [("/new", True, at), ("/b", True, at), ("/further", True, at)]


def test_what_was_read_in_part_tells_nothing_of_what_is_missing(made, told):
    begin(made)
    made.visit(f"{SITE}/", made.page("Home", "/a", text="cut"), truncated=True)
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", text="whole"))
    assert told() == []


def test_a_link_to_an_alias_is_one_to_the_page_it_stands_for(made, told):
    begin(made)
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/moved", text="new"))
    made.visit(f"{SITE}/moved", b"", 301, location="/a")
    made.visit(f"{SITE}/a", made.page("a", "/b", "/moved", text="third"))  # to itself, in the end
    assert [(page, gained) for page, gained, _ in told()] == []


def test_a_link_brings_a_part_of_what_its_page_has(made, asked):
    begin(made)
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/c", text="new"))
    view = asked(after_s=9e6)
    steps, home = link_steps(view), view.importance[0]
    assert steps.amount.tolist() == pytest.approx([0.85 * view.scheme.internal * home / 3])


def test_the_page_that_others_begin_to_link_to_rises_most(made, asked):
    made.seed(f"{SITE}/")
    names = [f"/p{i}" for i in range(8)]
    made.visit(f"{SITE}/", made.page("Home", *names, "/hub", "/still"))
    for name in names:
        made.visit(f"{SITE}{name}", made.page(name, "/still", text=f"this is {name}"))
    made.now += 3600.0
    for name in names:
        made.visit(f"{SITE}{name}", made.page(name, "/still", "/hub", text=f"this is {name} by now"))
    first, *others = rising_pages(asked(after_s=9e6), 10)
    assert (first.rank, first.url, first.came, first.went) == (1, f"{SITE}/hub", 8, 0)
    assert first.long < first.short <= first.times_mean
    assert first.score > 0
    assert f"{SITE}/still" not in {page.url for page in others}


def test_a_crawl_that_rests_tells_the_same_each_time(made, asked):
    begin(made)
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/c", text="new"))
    view = asked(after_s=9e6)
    later = View(view.partition, Config(), view.now + 1e8)
    assert rising_pages(view, 5) == rising_pages(later, 5) != []


def test_a_longer_window_looks_further_back(made, asked):
    begin(made)
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/c", text="new"))
    made.now += 1e5
    made.visit(f"{SITE}/a", made.page("a", "/b", text="other words"))
    view = asked(after_s=9e6)
    scores = [page.score for of_s in (1e3, 1e5) for page in rising_pages(view, 1, of_s)]
    assert scores[-1] > 1e-3
    assert len(scores) == 2
    assert scores[0] < 1e-6


def test_where_nothing_ever_happened_nothing_rises(made, asked):
    made.save()
    assert rising_pages(asked(after_s=9e6), 5) == []


def test_the_command_line_lists_them(made, capsys):
    begin(made)
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/new", text="another"))
    made.stop()
    assert main(["top", "--rising", "--dir", str(made.directory)]) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == ["rises", "x", "mean", "lately", "before", "came", "went", "found", "page"]
    assert line.split()[-1] == f"{SITE}/new"
    assert main(["top", "--rising", "--dir", str(made.directory), "--json", "--within", "1s"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["rank"], row["url"], row["came"], row["went"]) == (1, f"{SITE}/new", 1, 0)
    assert row["score"] > 0
