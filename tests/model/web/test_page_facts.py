"""What policies are told of pages and their URLs is what the crawl holds of them."""

import json

import numpy as np
import pytest

from evercrawl.config import Config
from evercrawl.crawl.learn import visit_event
from evercrawl.model.columns import Columns
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.view import View
from evercrawl.model.web.known_graph import KnownGraph
from evercrawl.model.web.page_facts import ANCHOR_BYTES
from evercrawl.model.worth.usage import USAGE_FILE
from evercrawl.schedule.base import Context
from evercrawl.schedule.pages import Facts
from evercrawl.schedule.policies.chile.chile import Chile
from evercrawl.store.journal.events import Lost

SITE = "http://example.org"
NAMES = (
    "depth", "url_bytes", "dynamic", "anchor_bytes", "index_bytes", "abstract_bytes", "text_bytes", "similarity"
)  # fmt: skip


def slots_of(made):
    return np.arange(made.state.known.count, dtype=np.uint32)


def facts(made, known) -> dict[str, dict[str, float]]:
    """Return by URL what its page is like."""
    found = known.of(slots_of(made))["facts"]
    urls = made.state.urls.get_many(range(made.state.known.count))
    columns = [getattr(found, name).tolist() for name in NAMES]
    return {url: dict(zip(NAMES, row, strict=True)) for url, *row in zip(urls, *columns, strict=True)}


def ask(made, *queries: str, at=0.0):
    with (made.directory / USAGE_FILE).open("a") as file:
        file.writelines(json.dumps({"at": at, "query": query}) + "\n" for query in queries)


@pytest.fixture
def known(made):
    """What is learned visit by visit."""
    graph = KnownGraph(made.partition, ("facts",))
    made.know(graph)
    return graph


def test_each_fact_is_what_the_crawl_holds(made, known):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/find?q=tea"))
    text = "Home to /a to /find?q=tea"
    made.visit(f"{SITE}/a", made.page("A", "/find?q=tea", "/far"), squeeze=True)
    found = facts(made, known)
    assert found[f"{SITE}/"] == {
        "depth": 0, "url_bytes": 19, "dynamic": 0, "anchor_bytes": 0, "index_bytes": len(text), "abstract_bytes": 4,
        "text_bytes": len(text), "similarity": 0,
    }  # fmt: skip
    assert found[f"{SITE}/find?q=tea"] == {
        "depth": 1, "url_bytes": 29, "dynamic": 1, "anchor_bytes": 2 * len("to /find?q=tea"), "index_bytes": 0,
        "abstract_bytes": 0, "text_bytes": 0, "similarity": 0,
    }  # fmt: skip
    assert found[f"{SITE}/far"]["depth"] == 2
    assert found[f"{SITE}/a"]["text_bytes"] == len("A to /find?q=tea to /far")


def test_markup_is_no_text_and_of_a_long_text_the_index_has_less(made, known):
    made.seed(f"{SITE}/markup", f"{SITE}/long", f"{SITE}/picture", f"{SITE}/moved", f"{SITE}/gone")
    made.visit(f"{SITE}/markup", b"<title>Much</title><p>17 bytes of text." + b"<b class=empty></b>" * 2000)
    made.visit(f"{SITE}/long", made.page("Long", text="so it goes on " * 3000))
    made.visit(f"{SITE}/picture", b"\x89PNG" * 1000, content_type="image/png")
    made.visit(f"{SITE}/moved", b"<p>moved", 301, location="/long")
    made.visit(f"{SITE}/gone", b"<p>no such page", 404)
    found = facts(made, known)
    sizes = {url.rpartition("/")[2]: (row["text_bytes"], row["index_bytes"]) for url, row in found.items()}
    assert sizes.pop("markup") == (17, 17)
    text, index = sizes.pop("long")
    assert text == len("so it goes on " * 3000) - 1
    assert 15_000 < index < 16_100, "its beginning, and what words are new after that"
    assert sizes == dict.fromkeys(("picture", "moved", "gone"), (0, 0))
    assert found == facts(made, KnownGraph(made.partition, ("facts",)))


def test_where_nobody_counted_the_text_the_content_stands_for_it(made, known, monkeypatch):
    """So it is with what older versions read, until the page changes."""
    made.seed(f"{SITE}/")
    monkeypatch.setattr(visit_event, "text_of", lambda *_: None)
    body = made.page("Home")
    made.visit(f"{SITE}/", body, etag='"1"')
    made.visit(f"{SITE}/", body, etag='"2"')
    assert [facts(made, known)[f"{SITE}/"][name] for name in ("text_bytes", "index_bytes")] == [len(body)] * 2
    monkeypatch.undo()
    made.visit(f"{SITE}/", body, etag='"3"')
    assert facts(made, known)[f"{SITE}/"]["text_bytes"] == len(body), "it was not read again"
    made.visit(f"{SITE}/", made.page("At home"))
    assert facts(made, known)[f"{SITE}/"]["text_bytes"] == len("At home")
    assert facts(made, known) == facts(made, KnownGraph(made.partition, ("facts",)))


def test_a_page_under_new_validators_has_the_text_it_had(made, known):
    made.seed(f"{SITE}/")
    for tag in "12":
        made.visit(f"{SITE}/", made.page("Home"), etag=f'"{tag}"')
    assert made.partition.journal.read(int(made.state.records.rows["event"][0])).etag == '"2"'
    assert facts(made, known)[f"{SITE}/"]["text_bytes"] == len("Home")


def test_of_links_that_nobody_asked_the_words_of_each_counts_as_usual(made):
    """Those that were read before the policy was another, or without their words."""
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b"))
    graph = KnownGraph(made.partition, ("facts",))
    assert [row["anchor_bytes"] for row in facts(made, graph).values()] == [0.0, ANCHOR_BYTES, ANCHOR_BYTES]
    made.know(graph)
    made.visit(f"{SITE}/a", made.page("A", "/b"))
    made.visit(f"{SITE}/", made.page("Home at last", "/a", "/b"))
    found = [row["anchor_bytes"] for row in facts(made, graph).values()]
    assert found == [0.0, len("to /a"), 2 * len("to /b")]
    assert facts(made, graph) == facts(made, KnownGraph(made.partition, ("facts",)))


def test_the_words_of_all_links_of_a_page_to_another_count_up_to_a_bound(made, known):
    made.seed(f"{SITE}/")
    long = "much to say " * 30
    made.visit(f"{SITE}/", f'<p><a href="/a">one</a> <a href="/a">four</a> <a href="/b">{long}</a> {SITE}/c'.encode())
    found = facts(made, known)
    assert found[f"{SITE}/a"]["anchor_bytes"] == len("one") + len("four")
    assert 128 < found[f"{SITE}/b"]["anchor_bytes"] <= 255
    made.visit(f"{SITE}/", b'<p><a href="/a">one</a> <a href="/b"><img src="/i.png"></a>')
    found = facts(made, known)
    assert (found[f"{SITE}/a"]["anchor_bytes"], found[f"{SITE}/b"]["anchor_bytes"]) == (3, 0)


def test_a_page_keeps_its_bytes_while_it_is_in_trouble_or_unchanged_and_not_when_they_were_lost(made, known):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home"), etag='"1"')
    size = len("Home")
    made.visit(f"{SITE}/", b"", 304, etag='"1"')
    assert facts(made, known)[f"{SITE}/"]["text_bytes"] == size
    made.visit(f"{SITE}/", b"", 0, error="timeout")
    assert facts(made, known)[f"{SITE}/"]["text_bytes"] == size
    made.partition.remember(Lost(0, 0, made.now, (0, 0, 0), "it was made so"))
    assert facts(made, known)[f"{SITE}/"]["text_bytes"] == 0


def test_the_index_has_neither_copies_nor_pages_that_ask_not_to_be_found_and_titles_stand_in_lists(made, known):
    made.seed(f"{SITE}/", f"{SITE}/copy", f"{SITE}/hidden")
    for name in ("", "copy"):
        made.visit(f"{SITE}/{name}", made.page("Caf\N{LATIN SMALL LETTER E WITH ACUTE}"))
    made.visit(f"{SITE}/hidden", made.page("Hidden"), x_robots_tag="noindex")
    found = facts(made, known)
    held = [found[f"{SITE}/{name}"] for name in ("", "copy", "hidden")]
    assert all(row["text_bytes"] > 0 for row in held)
    assert [row["index_bytes"] > 0 for row in held] == [True, False, False]
    assert [row["abstract_bytes"] for row in held] == [5, 5, 6]
    made.visit(f"{SITE}/hidden", made.page("Shown at last"))
    assert facts(made, known)[f"{SITE}/hidden"]["abstract_bytes"] == 13
    assert facts(made, known)[f"{SITE}/hidden"]["index_bytes"] > 0
    assert facts(made, known) == facts(made, KnownGraph(made.partition, ("facts",)))


def test_a_very_long_url_is_long_and_no_more(made, known):
    made.seed(f"{SITE}/{'a' * 40_000}", f"{SITE}/?{'a' * 40_000}")
    found = list(facts(made, known).values())
    assert [row["url_bytes"] for row in found] == [32_767, 32_767]
    assert [row["dynamic"] for row in found] == [0, 1]


def test_likeness_is_to_what_people_ask_for_by_title_and_address(made, known):
    made.seed(f"{SITE}/", f"{SITE}/green-tea", f"{SITE}/coffee")
    made.visit(f"{SITE}/", made.page("All about tea"))
    assert {row["similarity"] for row in facts(made, known).values()} == {0.0}
    ask(made, "green tea", "tea")
    found = facts(made, known)
    assert found[f"{SITE}/"]["similarity"] == pytest.approx(0.75)
    assert found[f"{SITE}/green-tea"]["similarity"] == pytest.approx(1.0)
    assert found[f"{SITE}/coffee"]["similarity"] == 0.0
    ask(made, "coffee", "coffee")
    assert facts(made, known)[f"{SITE}/coffee"]["similarity"] == pytest.approx(0.5)


def test_read_back_from_the_journal_it_is_the_same(made, known):
    made.fill()
    ask(made, "home")
    before = facts(made, known)
    assert len(before) > 8
    assert before == facts(made, KnownGraph(made.partition, ("facts",)))
    made.stop()


def test_what_became_known_since_is_looked_at(made, known):
    made.seed(f"{SITE}/")
    facts(made, known)
    made.visit(f"{SITE}/", made.page("Home", *(f"/{i}?i" for i in range(40))))
    assert sum(row["dynamic"] for row in facts(made, known).values()) == 40


def test_of_no_page_nothing_is_said(made, known):
    assert [len(getattr(known.of(slots_of(made))["facts"], name)) for name in NAMES] == [0] * 8


def test_a_policy_is_told_by_whoever_looks_and_while_the_crawl_runs(made):
    known = KnownGraph(made.partition, Chile.needs)
    made.know(known)
    made.fill()
    ask(made, "home")
    view = View(made.partition, Config(policy="chile"), made.now)
    pages = view.candidates(slots_of(made))
    assert isinstance(pages.facts, Facts)
    for name in NAMES:
        assert getattr(pages.facts, name).tolist() == getattr(known.of(slots_of(made))["facts"], name).tolist()
    columns = Columns(
        view.state, view.scheme, view.priors, AnnouncedDates(view.state.accounts), in_bytes=True, known=known
    )
    assert columns(slots_of(made)).facts is not None
    policy = Chile()
    seen = pages.take(~np.isnan(pages.visited_at))
    policy.plan(seen, 3, Context(made.now))
    value = policy.value(pages, Context(made.now + 86_400))
    assert np.isfinite(value).all()
    assert len(set(value.tolist())) > 5
