"""What is said of a page by its state: it waits, is gone, leads to another, or is kept out by a rule."""

from dataclasses import replace

import pytest

from evercrawl.cli.verbs.asking.why import rows
from evercrawl.parse.html import MAX_TARGETS
from evercrawl.store.journal.events import Bounded
from evercrawl.types import RETIRED

SITE = "http://example.org"
HOUR_S, DAY_S = 3600.0, 86_400.0


def test_how_a_page_was_found_is_told(made, ask):
    made.fill()
    later = ask("/later")[0]
    assert (later.state, later.history, later.change.fresh) == ("waiting", None, None)
    assert (later.found.source, later.found.depth) == (f"{SITE}/", 1)
    seed = ask("/")[0].found
    assert (seed.source, seed.depth, seed.found_at) == ("", 0, pytest.approx(made.now - 120.0))


def test_each_kind_of_page_has_its_state(made, ask):
    made.fill()
    states = {path: ask(path)[0].state for path in ("/", "/copy", "/moved", "/gone", "/broken", "/private", "/cut")}
    assert states == {
        "/": "held", "/copy": "alias", "/moved": "redirect", "/gone": "gone", "/broken": "error",
        "/private": "refused", "/cut": "held",
    }  # fmt: skip
    assert ask("/copy")[0].alias == ask("/moved")[0].alias == f"{SITE}/a"


@pytest.mark.parametrize(("path", "leads_on"), [("/moved", True), ("/copy", True), ("/a", False)])
def test_what_only_leads_to_another_page_says_when_it_counts(made, ask, path, leads_on):
    made.fill()
    found = ask(path)[0]
    never = replace(found, worth=replace(found.worth, price=1.0, given_up=True, due_at=None))
    assert ("it only leads to another page" in dict(rows(never))["due"]) == leads_on


def test_failures_and_refusals_are_told_in_their_words(made, ask):
    made.fill()
    assert ask("/broken")[0].reasons[0] == "timeout: it was made so"
    assert ask("/private")[0].reasons == ("robots: robots.txt disallows it",)
    assert "has not been fetched yet" in ask("/later")[0].reasons[0]


def test_a_page_that_is_gone_is_tried_again_later_each_time_until_it_is_retired(made, ask):
    made.fill()
    for _ in range(2):
        made.visit(f"{SITE}/gone", b"no", 404)
    found = ask("/gone")[0]
    assert found.worth.earliest_at == pytest.approx(made.now + 8 * HOUR_S)
    assert found.reasons[0].startswith("it was found gone 3 times in a row; it is tried again from")


def test_a_page_gone_for_good_is_retired(made, ask):
    made.fill()
    for _ in range(RETIRED - 1):
        made.visit(f"{SITE}/gone", b"no", 404)
    found = ask("/gone")[0]
    assert (found.state, found.worth) == ("retired", None)
    assert found.reasons == (
        f"it was found gone {RETIRED} times in a row and is retired: it is requested again if it is named, linked "
        "to anew, or listed with a new date",
    )


def test_a_page_that_was_there_of_late_is_not_retired_for_an_outage(made, ask):
    made.fill()
    made.visit(f"{SITE}/a", made.page("A"))
    for _ in range(RETIRED + 2):
        made.visit(f"{SITE}/a", b"no", 404)
    found = ask("/a")[0]
    assert found.state == "gone"
    assert found.worth.earliest_at == pytest.approx(made.now + 2 ** (RETIRED + 2) * HOUR_S)


def test_but_once_it_has_not_been_there_for_a_month(made, ask):
    made.fill()
    made.visit(f"{SITE}/a", made.page("A"))
    for _ in range(RETIRED - 1):
        made.visit(f"{SITE}/a", b"no", 404)
    made.now += 31 * DAY_S
    made.visit(f"{SITE}/a", b"no", 404)
    assert ask("/a")[0].state == "retired"


def test_a_host_left_alone_keeps_its_pages_waiting(made, ask):
    made.seed(f"{SITE}/")
    made.frontier.hosts[0].stay_away(made.now + 2 * DAY_S, "back-off")
    made.visit(f"{SITE}/", b"", 503)
    assert any("example.org is not requested until 2023-11-16" in reason for reason in ask("/")[0].reasons)


@pytest.mark.parametrize(
    ("url", "settings", "state", "words"),
    [
        (f"{SITE}/new", {}, "unknown", "evercrawl crawl http://example.org/new --dir"),
        ("http://away.example/", {}, "out of scope", 'scope = "hosts": no seed is on away.example'),
        ("http://a.example.org/", {"scope": "domains"}, "unknown", "name it as a seed"),
        (f"{SITE}/new", {"exclude": ("/new",)}, "out of scope", "by exclude"),
        (f"{SITE}/new", {"include": ("/old",)}, "out of scope", "by include"),
        (f"{SITE}/new", {"max_pages_per_host": 3}, "out of scope", "max_pages_per_host = 3"),
        (f"{SITE}:25/", {}, "refused", "port 25"),
    ],
)
def test_what_is_no_page_of_the_crawl_is_told_why(made, ask, url, settings, state, words):
    made.fill()
    found = ask(url, **settings)[0]
    assert (found.url, found.state, found.weight) == (url, state, None)
    assert words in " ".join(found.reasons)


def test_a_near_duplicate_names_the_page_it_copies(made, ask):
    made.fill()
    made.visit(f"{SITE}/later", made.page("A", "/", "/b", text="one two").replace(b"to /b", b"to /a"))
    found = ask("/later")[0]
    assert (found.state, found.alias) == ("near-duplicate", f"{SITE}/a")


def test_a_host_that_is_full_is_told(made, ask):
    made.seed(f"{SITE}/a", f"{SITE}/b")
    found = ask("/never-seen", max_backlog_per_host=2)[0]
    assert found.state == "out of scope"
    assert "max_backlog_per_host = 2: that many URLs of example.org are already waiting" in found.reasons[0]


def test_links_that_were_cut_are_told_as_long_as_the_content_is_held(made, ask):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", *(f"/{i}" for i in range(MAX_TARGETS + 7))), etag='"1"')
    made.visit(f"{SITE}/", b"", 304, etag='"2"')
    made.visit(f"{SITE}/0", made.page("few", "/1"))
    found = ask("/")[0]
    assert found.cut_links == 7
    assert ("links", "7 further URLs ignored, because the page links to too many") in rows(found)
    assert ask("/0")[0].cut_links == ask("/1")[0].cut_links == 0
    assert "links" not in dict(rows(ask("/0")[0]))


def test_a_known_page_that_a_rule_keeps_out_is_told_with_the_rule(made, ask):
    made.fill()
    found, _ = ask("/a", exclude=("/a$",))
    assert (found.state, found.worth) == ("excluded", None)
    assert found.reasons == (
        "exclude = '/a$' in crawl.toml excludes it; its copy and history stay, and return when the rule is lifted",
    )
    assert ask("/")[0].state == "held"
    assert "by exclude = '/no'" in ask("/nobody-knows-it", exclude=("/no",))[0].reasons[0]


def test_it_is_told_since_when_a_rule_keeps_pages_out(made, ask):
    made.fill()
    made.partition.remember(Bounded(made.now, {"exclude = '/a$'": 1_700_000_000.0}))
    found, _ = ask("/a", exclude=("/a$",))
    assert "excludes it since 2023-11-14 22:13:20 UTC" in found.reasons[0]
