"""Asking a crawl directory for pages by words."""

import numpy as np
import pytest

from evercrawl.ask.content import content
from evercrawl.ask.search.hits import READ_BYTES, Hit
from evercrawl.ask.search.search import Narrow, Search
from evercrawl.config import Config
from evercrawl.crawl.learn.reindex import reindex
from evercrawl.errors import ConfigError, StoreError
from evercrawl.model.standing import Standing, earned
from evercrawl.model.stored.reader import opened
from evercrawl.search.index import FOLDER, Index, IndexedPage

SITE, OTHER = "http://www.example.org", "http://other.example"


@pytest.fixture
def directory(made):
    """A hub and what it links to, on two sites; one page is seen again later, one changes, one vanishes."""
    made.seed(f"{SITE}/", f"{OTHER}/")
    links = "".join(
        f"<a href=/{name}>{words}</a>" for name, words in (("tea", "one"), ("coffee", "black"), ("gone", "-"))
    )
    made.visit(f"{SITE}/", f"<html lang=en><title>Home</title><p>Drinks of all kinds.{links}</html>".encode())
    made.visit(f"{SITE}/tea", made.page("Green tea", "/", text="How to brew tea. Take green leaves & water."))
    made.visit(f"{SITE}/coffee", made.page("Coffee", "/", text="Coffee is no tea."), squeeze=True)
    made.visit(f"{SITE}/gone", made.page("Gone tea", text="tea tea tea"))
    made.visit(f"{OTHER}/", b"<html lang=de-AT><title>Tea-Haus</title><p>Tee und Kuchen</html>")
    made.now += 86_400.0
    made.visit(f"{SITE}/gone", b"no", 404)
    made.visit(f"{SITE}/gone", b"no", 404)
    made.visit(f"{SITE}/coffee", made.page("Coffee", "/", text="Coffee is no tea, still."))
    made.stop()
    reindex(made.directory)
    return made.directory


@pytest.fixture
def search(directory):
    search = Search(directory)
    yield search
    search.close()


def urls(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.url for hit in hits]


def test_a_hit_tells_what_is_known_of_the_page(search, made):
    answer = search.ask("green tea")
    first = answer.hits[0]
    assert (first.rank, first.url, first.title, first.language, first.site) == (
        1, f"{SITE}/tea", "Green tea", "en", "example.org",
    )  # fmt: skip
    assert [first.title[a:b] for a, b in first.title_marks] == ["Green", "tea"]
    assert first.snippet.startswith("How to brew tea. Take green leaves & water.")
    assert [first.snippet[a:b] for a, b in first.snippet_marks][:2] == ["tea", "green"]
    assert first.fetched_at == first.changed_at
    assert made.now - 2 * 86_400 < first.fetched_at < made.now - 80_000
    assert 0 <= first.fresh <= 1
    assert 0 < first.importance < 1 < first.times_mean * 10
    assert (answer.more, answer.took_s > 0) == (False, True)


def test_scores_fall_and_ranks_rise(search):
    hits = search.ask("tea").hits
    assert len(hits) == 3
    assert [hit.rank for hit in hits] == [1, 2, 3]
    assert sorted((hit.score for hit in hits), reverse=True) == [hit.score for hit in hits]


def test_what_is_gone_or_was_never_read_is_not_found(search):
    assert f"{SITE}/gone" not in urls(search.ask("tea").hits)
    assert search.ask("nonsense").hits == ()
    assert search.ask("").hits == ()


def test_what_counts_is_what_links_give_not_what_a_site_has_of_itself(search):
    view = search.view
    slots = np.arange(view.state.known.count, dtype=np.uint32)
    gain = dict(zip((view.state.urls.get(slot) for slot in slots.tolist()), earned(view, slots).tolist(), strict=True))
    assert gain[f"{OTHER}/"] == pytest.approx(0.0, abs=1e-9)  # no page links there, and it has its site for itself
    assert gain[f"{SITE}/tea"] > 0.001
    assert (earned(view, slots) <= view.importance * view.counted + 1e-12).all()


def test_the_mean_page_of_a_site_stands_at_one(search):
    view = search.view
    seen, rows = view.records(np.arange(view.state.known.count, dtype=np.uint32))
    standing = Standing(view)(rows["slot"][seen])
    sites = view.state.site_of[rows["host"][seen]]
    means = [standing[sites == site].mean() for site in np.unique(sites)]
    assert all(mean == pytest.approx(1) or mean == 0 for mean in means)
    assert max(means) > 0


def test_a_site_alone_shows_first_what_links_praise(search):
    hits = search.ask("site:example.org").hits
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].score > hits[-1].score


def test_words_of_links_lead_to_a_page(search):
    assert urls(search.ask("black").hits)[0] == f"{SITE}/coffee"


def test_hits_come_in_portions(search):
    every = urls(search.ask("tea").hits)
    first, second = search.ask("tea", limit=2), search.ask("tea", limit=2, skip=2)
    assert urls(first.hits) + urls(second.hits) == every
    assert (first.more, second.more, second.hits[0].rank) == (True, False, 3)


@pytest.mark.parametrize(
    ("narrow", "expected"),
    [
        (Narrow(site="example.org"), {f"{SITE}/tea", f"{SITE}/coffee"}),
        (Narrow(site="www.example.org"), {f"{SITE}/tea", f"{SITE}/coffee"}),
        (Narrow(site="other.example"), {f"{OTHER}/"}),
        (Narrow(site="no.where"), set()),
        (Narrow(language="de"), {f"{OTHER}/"}),
        (Narrow(language="de-at"), {f"{OTHER}/"}),
        (Narrow(fresh=0.0), {f"{SITE}/tea", f"{SITE}/coffee", f"{OTHER}/"}),
        (Narrow(fresh=1.0), set()),
    ],
)
def test_only_what_is_wanted_is_found(search, narrow, expected):
    assert set(urls(search.ask("tea", narrow).hits)) == expected


def test_pages_are_wanted_by_age(search, made, monkeypatch):
    class Then:
        def now(self) -> float:
            return made.now + 100.0

    monkeypatch.setattr("evercrawl.ask.search.search.SystemClock", Then)
    assert set(urls(search.ask("tea", Narrow(fetched_within_s=3_600.0)).hits)) == {f"{SITE}/coffee"}
    assert set(urls(search.ask("tea", Narrow(changed_within_s=3_600.0)).hits)) == {f"{SITE}/coffee"}
    assert len(search.ask("tea", Narrow(fetched_within_s=2 * 86_400.0)).hits) == 3
    sure, unsure = (hit.fresh for hit in search.ask("tea", Narrow(fresh=0.01)).hits[:2])
    assert sure > 0.01 < unsure


def test_filters_find_what_stands_far_behind(made):
    """More pages match than are ranked at once; the only one that passes is the worst of them."""
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", *(f"/{i}" for i in range(260))))
    for i in range(260):
        made.visit(f"{SITE}/{i}", made.page("word", text=f"word {'word ' * (i + 1 < 260)}{'other ' * i}"))
    made.now += 1_000_000.0
    made.visit(f"{SITE}/259", made.page("", text=f"word {'other ' * 300}"))
    made.stop()
    reindex(made.directory)
    search = Search(made.directory)
    since_s = search.view.now - made.now + 10.0
    assert urls(search.ask("word", Narrow(changed_within_s=since_s)).hits) == [f"{SITE}/259"]
    search.close()


def test_new_commits_are_seen(search, directory, made):
    assert search.ask("cocoa").hits == ()
    index = Index(directory / FOLDER)
    slot = int(made.state.find([f"{SITE}/tea"])[0])
    index.put([IndexedPage(slot, 1, f"{SITE}/tea", "example.org", "www.example.org", "Cocoa", "cocoa")])
    index.commit(99)
    assert urls(search.ask("cocoa").hits) == [f"{SITE}/tea"]
    index.put([IndexedPage(4_000_000, 1, f"{SITE}/new", "example.org", "www.example.org", "Cocoa", "cocoa")])
    index.commit(100)
    assert urls(search.ask("cocoa").hits) == [f"{SITE}/tea"]  # what is not known yet waits until it is
    index.close()


def test_an_index_that_is_made_anew_meanwhile_is_followed(search, directory):
    before = urls(search.ask("tea").hits)
    reindex(directory)
    assert urls(search.ask("tea").hits) == before
    index = Index(directory / FOLDER)
    index.remove(index.held()[0].tolist())
    index.commit(100)
    index.close()
    assert search.ask("tea").hits == ()


def test_plain_text_has_a_snippet_too(made):
    made.seed(f"{SITE}/a.txt")
    made.visit(f"{SITE}/a.txt", b"all about   tea", content_type="text/plain")
    made.stop()
    reindex(made.directory)
    search = Search(made.directory)
    (hit,) = search.ask("tea").hits
    assert (hit.title, hit.snippet, hit.snippet_marks) == ("", "all about tea", ((10, 13),))
    search.close()


def test_without_an_index_it_says_how_to_make_one(filled):
    with pytest.raises(StoreError, match=f"evercrawl reindex --dir {filled.directory}"):
        Search(filled.directory)


def test_without_a_crawl_there_is_nothing_to_ask(tmp_path):
    with pytest.raises(ConfigError):
        Search(tmp_path)


@pytest.mark.parametrize("squeeze", [True, False])
def test_of_a_long_page_the_beginning_is_shown(made, squeeze):
    made.seed(f"{SITE}/")
    text = f"Green tea. {'filler words ' * (READ_BYTES // 10)} pagoda"
    made.visit(f"{SITE}/", made.page("Long", text=text), squeeze=squeeze)
    made.stop()
    reindex(made.directory)
    search = Search(made.directory)
    (green,), (pagoda,) = search.ask("green").hits, search.ask("pagoda").hits
    assert green.snippet[slice(*green.snippet_marks[0])] == "Green"
    assert pagoda.snippet.startswith("Green tea. filler")
    search.close()


def test_what_the_pages_that_answer_have_in_common_is_counted(search):
    counted = search.ask("tea", counted=True).facets
    assert counted.pages == 3
    assert counted.sites == {"example.org": 2, "other.example": 1}
    assert counted.languages == {"en": 2, "de": 1}
    assert all(0 < pages < 3 for of in (counted.fetched_within_s, counted.fresh) for pages in of.values())
    assert search.ask("tea").facets is None
    assert search.ask("nothing-here", counted=True).facets.pages == 0


def test_a_mistyped_word_is_told(search):
    assert search.ask("cofee").instead == "coffee"
    assert search.ask("coffee").instead == ""
    assert search.suggest("cof") == ["coffee"]


def test_content_that_is_older_than_the_crawl_has_changed_when_it_was_first_seen_at_the_latest(made):
    made.seed(f"{SITE}/old")
    made.now += 500.0
    page = made.page("An old page", text="older than the crawl")
    made.visit(f"{SITE}/old", page, last_modified="Mon, 06 Jan 2020 10:00:00 GMT")
    made.stop()
    reindex(made.directory)
    search = Search(made.directory)
    (hit,) = search.ask("old").hits
    search.close()
    assert made.now - 1.0 < hit.changed_at <= hit.fetched_at
    held = opened(made.directory)
    assert made.now - 1.0 < content(held, f"{SITE}/old", Config()).changed_at <= hit.fetched_at
    held.close()
