"""The history of the pages of a crawl, as its journal tells it."""

from email.utils import formatdate

import pytest

from evercrawl.ask.status import calibration
from evercrawl.errors import ConfigError
from evercrawl.lab.histories import APPEARED, CHANGED, REMOVED, TECHNICAL, History, find, history_of_crawl, load
from evercrawl.lab.histories.evolution.linked import links
from evercrawl.lab.histories.evolution.watched import watch
from evercrawl.model.stored import reader
from evercrawl.store.journal.events import Lost

SITE, OTHER = "http://example.org", "http://www.other.example"


@pytest.fixture
def told(made):
    """Return what gives the history of the crawl as it stands, and its events as rows."""

    def tell() -> tuple[History, list[tuple[int, int, float]]]:
        made.save()
        history = history_of_crawl(made.directory)
        columns = history.page.tolist(), history.op.tolist(), (history.at - made.now).tolist()
        return history, list(zip(*columns, strict=True))

    return tell


def test_pages_appear_change_go_and_come_back(made, told):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", text="one two three four"))
    made.visit(f"{SITE}/a", made.page("A"))
    made.visit(f"{SITE}/", made.page("Home", "/a", text="one two three four"))
    made.visit(f"{SITE}/", made.page("Home", "/a", text="five six seven eight"))
    made.visit(f"{SITE}/", status=304)
    made.visit(f"{SITE}/a", status=404)
    made.visit(f"{SITE}/a", status=404)
    made.visit(f"{SITE}/a", made.page("A"))
    history, rows = told()
    assert history.paths == (f"{SITE}/", f"{SITE}/a")
    assert rows == [(0, APPEARED, -70), (1, APPEARED, -60), (0, CHANGED, -40), (1, REMOVED, -20), (1, APPEARED, 0)]
    assert history.seen.titles == ("Home", "A")
    assert history.seen.types == ("text/html", "text/html")
    assert (history.seen.until - made.now).tolist() == [-30, 0]
    assert history.seen.look.tolist() == [0, 1, 0, 0, 0, 1, 1, 1]
    assert watch(history).looks.tolist() == [3.0, 2.0], "one of each began a life, of the second page two"
    assert (watch(history).lives.ended_at - made.now).tolist() == [-30, -20, 0]


def test_it_tells_how_much_was_read(made, monkeypatch):
    monkeypatch.setattr(reader, "EVERY", 2)
    made.seed(f"{SITE}/")
    for words in ("one two three", "four five six", "seven eight nine"):
        made.visit(f"{SITE}/", made.page("Home", text=words))
    made.save()
    for ask in (history_of_crawl, calibration):
        told = list[tuple[str, int, int]]()
        ask(made.directory, lambda *each, told=told: told.append(each))
        _, _, upto = told[0]
        assert upto >= 4
        assert told == [("events", number, upto) for number in range(0, upto, 2)]


def test_other_bytes_around_the_same_words_are_no_change(made, told):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", b"<html><p>some words</p></html>")
    made.visit(f"{SITE}/", b"<html><p id=2>some words</p></html>")
    made.visit(f"{SITE}/", status=304)
    made.visit(f"{SITE}/", b"<html><p id=3>some words</p></html>")
    assert [op for _, op, _ in told()[1]] == [APPEARED]


def test_a_change_has_the_date_that_the_site_gives_once_it_is_believed(made, told):
    made.seed(f"{SITE}/")
    for number in range(5):  # the first says nothing, and three good ones make the site's believed
        made.now += 1_000
        made.visit(f"{SITE}/", made.page(f"page {number}"), last_modified=formatdate(made.now - 90, usegmt=True))
    made.visit(f"{SITE}/", made.page("page 6"), last_modified=formatdate(made.now - 90, usegmt=True))
    rows = told()[1]
    assert [at for _, op, at in rows if op == CHANGED] == [-3_040, -2_030, -1_020, -10 - 100, 0]


def test_what_failed_was_refused_or_led_elsewhere_is_no_state_of_a_page(filled):
    history = history_of_crawl(filled.directory)
    paths = [path.removeprefix("http://example.org") for path in history.paths]
    assert paths == ["/", "/a", "/copy", "/picture"]
    assert history.op.tolist() == [APPEARED] * 4 + [CHANGED]
    assert history.sites[history.site[0]] == "example.org"


def test_after_content_was_lost_nothing_can_be_compared(made, told):
    made.seed(f"{SITE}/", f"{SITE}/b")
    made.visit(f"{SITE}/", made.page("one"))
    made.partition.remember(Lost(0, 0, made.now, (0, 0, 1), "test"))
    made.visit(f"{SITE}/", made.page("two"))
    made.visit(f"{SITE}/", made.page("three"))
    assert [op for _, op, _ in told()[1]] == [APPEARED, TECHNICAL, CHANGED]


def test_links_come_and_go_between_pages_that_were_read(made, told):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/never"))
    made.visit(f"{SITE}/a", made.page("A", "/", text="first"))
    made.visit(f"{SITE}/", status=304)
    made.visit(f"{SITE}/", made.page("Home", "/a", text="cut"), truncated=True)
    made.visit(f"{SITE}/b", made.page("B", "/a", text="second"))
    made.visit(f"{SITE}/", made.page("Home", "/b", "/new", text="other words now"))
    made.visit(f"{SITE}/new", made.page("New", "/a", text="third"))
    made.visit(f"{SITE}/a", status=410)
    history, _ = told()
    log = history.links
    rows = zip(
        (log.at - made.now).tolist(), log.source.tolist(), log.target.tolist(), log.present.tolist(), strict=True
    )
    assert sorted(rows) == sorted([
        (-70, 0, 1, True), (-70, 0, 2, True), (-60, 1, 0, True), (-30, 2, 1, True), (-20, 0, 1, False),
        (-20, 0, 3, True), (-10, 3, 1, True), (0, 1, 0, False),
    ])  # fmt: skip
    assert history.paths[3] == f"{SITE}/new"
    assert history.seen.born.tolist() == [False, False, False, True], "a link to it came to a page that was there"
    found = links(history, watch(history))
    assert found.page[found.later].tolist() == [0]
    assert found.known.tolist() == found.later.tolist()


def test_a_crawl_is_found_by_its_directory_and_read_while_it_runs(made):
    made.seed(f"{SITE}/", f"{OTHER}/")
    made.visit(f"{SITE}/", made.page("one"))
    made.save()
    made.visit(f"{OTHER}/", made.page("two"))  # not acknowledged yet
    before = sorted((path.name, path.stat().st_size) for path in made.directory.iterdir())
    assert find(str(made.directory)) == [made.directory]
    (history,) = load(str(made.directory))
    assert (history.name, history.paths) == ("crawl", (f"{SITE}/",))
    assert sorted((path.name, path.stat().st_size) for path in made.directory.iterdir()) == before
    made.save()
    (later,) = load(str(made.directory))
    assert [later.sites[i] for i in later.site] == ["example.org", "other.example"]


def test_a_crawl_that_read_nothing_has_an_empty_history(made, told):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", status=500)
    assert len(told()[0]) == len(told()[1]) == 0


def test_where_there_is_no_crawl_it_says_so(tmp_path):
    with pytest.raises(ConfigError, match="there is no crawl in"):
        history_of_crawl(tmp_path)
