"""A crawl directory as an object."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evercrawl
from evercrawl.crawl.learn.reindex import reindex
from evercrawl.errors import ConfigError, NotHeldError

SITE = "http://example.org"


@pytest.fixture
def crawl(made):
    """A hub that two pages link to; one page changed, and one is only named."""
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/hub"))
    for name in "ab":
        made.visit(f"{SITE}/{name}", made.page(name, "/hub", text="tea leaves"))
    made.visit(f"{SITE}/a", made.page("a", "/hub", text="coffee beans that grow in the shade of other trees"))
    made.stop()
    reindex(made.directory)
    with evercrawl.Crawl.open(made.directory) as crawl:
        yield crawl


def test_rows_of_pages_are_read_when_they_are_iterated(crawl):
    pages = crawl.pages()
    assert [row["url"] for row in pages] == [f"{SITE}/", f"{SITE}/a", f"{SITE}/b", f"{SITE}/hub"]
    first, *_, last = pages  # once more
    assert (first["title"], first["visits"], last["visited_at"]) == ("Home", 1, None)
    assert first["visited_at"].utcoffset().total_seconds() == 0


def test_a_table_is_an_arrow_stream(crawl):
    taken = pa.table(crawl.pages())
    assert taken.drop_columns("fresh").equals(crawl.pages().arrow().drop_columns("fresh"))  # it falls with time
    assert taken.column("url").to_pylist() == [row["url"] for row in crawl.pages()]
    assert taken.schema.field("visited_at").type == pa.timestamp("us", tz="UTC")
    assert sum(batch.num_rows for batch in crawl.pages().batches()) == 4


def test_a_page_is_its_newest_content(crawl):
    held = crawl.page(f"{SITE}/a")
    assert b"coffee beans" in held.body
    assert (held.visits, held.status) == (2, 200)
    with pytest.raises(NotHeldError, match="not fetched yet"):
        crawl.page(f"{SITE}/hub")


def test_what_is_no_url_is_said_to_be_none(crawl):
    for ask in (crawl.page, crawl.why):
        with pytest.raises(ConfigError, match="not a URL"):
            ask("mailto:someone")


def test_changes_are_listed_with_what_became_of_each(crawl):
    listed = crawl.changes(limit=None).changes
    assert {change.url: change.kind for change in listed}[f"{SITE}/a"] == "changed"
    with pytest.raises(ConfigError, match=r"the crawl does not know other\.example"):
        crawl.changes(limit=None, site="other.example")
    assert not crawl.changes(pattern="nothing-like-it").changes
    assert not crawl.changes(since="now").changes


def test_words_find_pages(crawl):
    assert [hit.url for hit in crawl.search("coffee").hits] == [f"{SITE}/a"]
    assert not crawl.search("coffee", site="other.example").hits


def test_the_most_important_pages_come_first(crawl):
    assert crawl.top(1)[0].url == f"{SITE}/hub"
    assert crawl.why(f"{SITE}/hub").url == f"{SITE}/hub"


def test_what_a_crawl_adds_is_seen_by_the_next_question(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a"))
    made.save()
    with evercrawl.Crawl.open(made.directory) as crawl:
        assert crawl.why(f"{SITE}/a").state == "waiting"
        before = [page.visits for page in crawl.top()]
        made.visit(f"{SITE}/a", made.page("A"))
        made.save()
        assert b"A" in crawl.page(f"{SITE}/a").body
        assert sum(page.visits for page in crawl.top()) == sum(before) + 1


def test_tables_are_written_to_files(crawl, tmp_path):
    assert crawl.export("pages", tmp_path / "pages.parquet") == 4
    assert pq.read_table(tmp_path / "pages.parquet").num_rows == 4
    assert crawl.export("links", tmp_path / "links.jsonl") == 5
    first = json.loads((tmp_path / "links.jsonl").read_text().splitlines()[0])
    assert first["source"].startswith(SITE)
    with pytest.raises(ConfigError, match="ends in"):
        crawl.export("pages", tmp_path / "pages.csv")
    with pytest.raises(ConfigError, match="pages, links, visits"):
        crawl.export("cookies", tmp_path / "pages.parquet")


def test_nothing_is_written_when_a_directory_is_opened_and_asked(crawl):
    before = {path: path.stat().st_mtime_ns for path in crawl.directory.rglob("*") if path.is_file()}
    list(crawl.pages())
    crawl.top()
    crawl.page(f"{SITE}/a")
    assert before == {path: path.stat().st_mtime_ns for path in crawl.directory.rglob("*") if path.is_file()}
