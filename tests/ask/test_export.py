"""Pages, links and visits as tables."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from evercrawl.ask.export import files as export_file
from evercrawl.ask.export import tables as export
from evercrawl.ask.export.tables import TABLES, table
from evercrawl.config import Config, save
from evercrawl.errors import ConfigError, StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies.price.price import Price

SITE = "http://example.org"
BEGAN_AT = 1_700_000_000.0
DAY_S = 86_400.0


def rows(made, name: str) -> list[dict[str, object]]:
    crawl = opened(made.directory)
    try:
        pieces = list(table(crawl, name, now=made.now + DAY_S))
    finally:
        crawl.close()
    return [dict(zip(piece, row, strict=True)) for piece in pieces for row in zip(*piece.values(), strict=True)]


def by_path(made) -> dict[str, dict[str, object]]:
    return {str(row["url"]).removeprefix(SITE): row for row in rows(made, "pages")}


def test_every_known_url_is_a_page_with_its_class(filled):
    classes = {path: row["class"] for path, row in by_path(filled).items()}
    assert classes == {
        "/": "ok", "/a": "ok", "/copy": "duplicate", "/moved": "redirect", "/away": "redirect", "/gone": "gone",
        "/broken": "error", "/private": "refused", "/cut": "truncated", "/later": None, "/picture": "ok",
    }  # fmt: skip


def test_a_page_tells_its_last_visit(filled):
    page = by_path(filled)["/"]
    beliefs = [page.pop(name) for name in ("importance", "rate_per_s", "fresh", "due_at")]
    assert beliefs[:3] == [pytest.approx(number, rel=1) for number in (0.3, 5e-5, 0.3)]
    assert beliefs[3] is None  # no price was ever noted
    assert page == {
        "url": f"{SITE}/", "class": "ok", "status": 200, "title": "Home again", "size_bytes": page["size_bytes"],
        "tls_ok": None, "found_at": BEGAN_AT, "visited_at": filled.now, "changes": 1, "visits": 2,
        "copy_of": None,
    }  # fmt: skip


def test_copies_and_near_copies_name_whose_they_are(made):
    made.fill()
    made.visit(f"{SITE}/later", made.page("A", "/", "/b", text="one two").replace(b"to /b", b"to /a"))
    made.stop()
    pages = by_path(made)
    assert (pages["/copy"]["class"], pages["/copy"]["copy_of"]) == ("duplicate", f"{SITE}/a")
    assert (pages["/later"]["class"], pages["/later"]["copy_of"]) == ("ok", f"{SITE}/a")
    assert pages["/moved"]["copy_of"] is None


def test_an_unchanged_page_has_the_size_of_its_content(filled):
    page = by_path(filled)["/a"]
    assert (page["status"], page["size_bytes"]) == (304, len(filled.page("A", "/", "/a", text="one two")))


def test_importance_is_shared_among_all_pages_that_are_no_aliases(filled):
    shares = {path: row["importance"] for path, row in by_path(filled).items()}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert {path for path, share in shares.items() if not share} == {"/moved", "/copy"}
    assert shares["/a"] > shares["/picture"]  # a redirect and a copy lead to it


def test_a_copy_is_fresh_with_the_probability_that_its_rate_gives(filled):
    """And that the page is still there: one vanishes in a page's year, where nothing else is known."""
    page = by_path(filled)["/picture"]
    scale_s, age_s = 0.4 / page["rate_per_s"], filled.now + DAY_S - page["visited_at"]
    assert page["fresh"] == pytest.approx((1 + age_s / scale_s) ** -0.4 * np.exp(-age_s / (365.25 * DAY_S)))


def test_what_has_no_copy_is_not_fresh(filled):
    assert {path for path, row in by_path(filled).items() if row["fresh"] is None} == {
        "/moved", "/away", "/gone", "/broken", "/private", "/later"
    }  # fmt: skip


def test_a_page_falls_due_when_a_visit_is_worth_the_price(made):
    made.fill()
    made.state.notes["price"] = 1.0
    made.stop()
    pages = by_path(made)
    assert pages["/later"]["due_at"] is None
    assert pages["/gone"]["due_at"] >= pages["/gone"]["visited_at"] + 2 * 3600.0
    crawl = opened(made.directory)
    view = View(crawl, Config(), 0.0)
    gone = view.awaited(crawl.state.find([f"{SITE}/gone"]))
    assert pages["/gone"]["due_at"] == pytest.approx(float(view.due_at(gone)[0])), "as it awaits its return"
    columns = view.columns(np.array([0], np.uint32))
    value = Price().value(columns, Context(pages["/"]["due_at"]))
    crawl.close()
    assert value == pytest.approx(1.0, rel=1e-3)
    assert pages["/"]["due_at"] > pages["/"]["visited_at"] + 3600.0


def test_a_page_falls_due_as_a_policy_without_a_price_has_it(made):
    made.seed(f"{SITE}/", f"{SITE}/gone")
    made.visit(f"{SITE}/", made.page("Home"))
    for _ in range(3):
        made.visit(f"{SITE}/gone", b"", 404)
    save(Config(policy="rpuc", policy_options=["types=2", "periods=1d,7d"]), made.directory)
    made.stop()
    pages = by_path(made)
    assert pages["/"]["due_at"] - pages["/"]["visited_at"] in (86_400.0, 7 * 86_400.0)
    assert pages["/gone"]["due_at"] is None, "it was given up"


def test_a_page_never_fetched_has_nulls(filled):
    page = by_path(filled)["/later"]
    assert [page[name] for name in ("rate_per_s", "fresh", "due_at")] == [None] * 3
    assert [page[name] for name in ("class", "status", "title", "size_bytes", "tls_ok", "visited_at")] == [None] * 6
    assert (page["visits"], page["changes"], page["found_at"]) == (0, 0, BEGAN_AT + 10)


def test_certificates_are_told_of_https_only(made):
    secure = ["https://good.example/", "https://bad.example/", "https://new.example/", "https://dead.example/"]
    made.seed(*secure, "http://plain.example/")
    made.visit(secure[0], made.page("Good"), tls_ok=True)
    made.visit(secure[1], b"", 0, error="tls", tls_ok=False)
    made.visit(secure[3], b"", 0, error="dns")
    made.visit("http://plain.example/", made.page("Plain"))
    made.stop()
    assert [row["tls_ok"] for row in rows(made, "pages")] == [True, False, None, None, None]


def test_links_are_those_of_the_stored_pages(made):
    made.seed(f"{SITE}/")
    body = (
        b"<title>T</title><a href=/a rel=nofollow>one</a><a href='http://docs.example.org/b'>two</a>"
        b"<a href='https://example.com/'>three</a>"
    )
    made.visit(f"{SITE}/", body, squeeze=True)
    made.stop()
    assert rows(made, "links") == [
        {"source": f"{SITE}/", "target": f"{SITE}/a", "rel": "nofollow", "internal": True, "anchor": "one"},
        {"source": f"{SITE}/", "target": "http://docs.example.org/b", "rel": "", "internal": True, "anchor": "two"},
        {"source": f"{SITE}/", "target": "https://example.com/", "rel": "", "internal": False, "anchor": "three"},
    ]


def test_links_are_of_the_newest_content_and_of_held_pages_only(filled):
    sources = {row["source"] for row in rows(filled, "links")}
    assert sources == {f"{SITE}/", f"{SITE}/a", f"{SITE}/copy"}
    assert "http://other.example/" not in {row["target"] for row in rows(filled, "links")}


def test_visits_are_those_of_the_journal(filled):
    visits = rows(filled, "visits")
    assert len(visits) == 12
    assert visits[0] == {
        "url": f"{SITE}/", "at": BEGAN_AT + 10, "interval_s": 0.0, "class": "ok", "status": 200, "changed": False,
        "size_bytes": visits[0]["size_bytes"], "fetch_s": 0.25,
    }  # fmt: skip
    assert visits[-1]["changed"] is True
    assert visits[-1]["interval_s"] == pytest.approx(110.0, abs=0.1)


def test_pieces_are_small_and_make_the_same_table(filled, monkeypatch):
    whole = {name: rows(filled, name) for name in TABLES}
    monkeypatch.setattr(export, "ROWS", 3)
    crawl = opened(filled.directory)
    for name in TABLES:
        pieces = [len(piece[next(iter(piece))]) for piece in table(crawl, name)]
        assert len(pieces) > 1
        assert sum(pieces) == len(whole[name])
    crawl.close()
    assert {name: rows(filled, name) for name in TABLES} == whole


def written(made, path, name: str) -> None:
    crawl = opened(made.directory)
    with export_file.opened(path, TABLES[name]) as sink:
        export_file.write(table(crawl, name, now=made.now), sink)
    crawl.close()


@pytest.mark.parametrize("name", TABLES)
def test_both_formats_hold_the_same(filled, tmp_path, name):
    written(filled, tmp_path / "t.parquet", name)
    written(filled, tmp_path / "t.jsonl", name)
    parquet = pyarrow.parquet.read_table(tmp_path / "t.parquet").to_pylist()
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in lines:
        for column, kind in TABLES[name].items():
            if kind == "instant" and row[column] is not None:
                row[column] = datetime.fromisoformat(row[column])
    assert lines == parquet
    assert len(parquet) == len(rows(filled, name))


def test_an_instant_is_a_timestamp_in_utc(filled, tmp_path):
    written(filled, tmp_path / "t.parquet", "visits")
    at = pyarrow.parquet.read_table(tmp_path / "t.parquet")["at"][0].as_py()
    assert at == datetime.fromtimestamp(BEGAN_AT + 10, UTC)


def test_an_empty_table_is_a_table(made, tmp_path):
    made.stop()
    written(made, tmp_path / "t.parquet", "links")
    assert pyarrow.parquet.read_table(tmp_path / "t.parquet").column_names == list(TABLES["links"])


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_what_fails_leaves_the_old_file(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), export_file.opened(path, TABLES["links"]):
        raise RuntimeError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path):
    for ending in ("parquet", "jsonl"):
        with pytest.raises(StoreError, match="t\\."), export_file.opened(tmp_path / "no" / f"t.{ending}", {}):
            pass


def test_other_endings_are_refused():
    with pytest.raises(ConfigError, match=r"\.parquet or \.jsonl"):
        export_file.check_name("pages.csv")


@pytest.mark.parametrize("ending", [".parquet", ".jsonl"])
def test_a_file_that_cannot_be_made_is_told_in_words(made, ending):
    """A folder that nobody can write to, not even root."""
    with (
        pytest.raises(StoreError, match="cannot write"),
        export_file.opened(Path(f"/proc/pages{ending}"), TABLES["pages"]),
    ):
        pass


def test_all_tables_can_be_exported_while_the_crawl_runs(made):
    made.fill()
    made.snapshot()
    made.visit(f"{SITE}/later", made.page("Later", "/late-link"))
    made.save()  # the writer is still open: what follows the snapshot is read from the journal
    assert by_path(made)["/later"]["class"] == "ok"
    assert "late-link" in str([row["target"] for row in rows(made, "links")])
    assert rows(made, "visits")[-1]["url"] == f"{SITE}/later"


def test_a_row_is_one_line_for_whoever_reads_lines():
    """Some take other characters than a line feed for the end of a line: what follows would be a row of its own."""
    breaks = "".join(chr(code) for code in range(0x3000) if len(f"a{chr(code)}b".splitlines()) > 1)
    title = f"{breaks}{{}}".join("abc") + "\ud800\u00e9"
    out = io.StringIO()
    export_file.JsonRows(out, {"title": "string"}).add({"title": [title, "next"]})
    lines = out.getvalue().splitlines()
    assert [json.loads(line)["title"] for line in lines] == [title, "next"]
    assert "\u00e9" in out.getvalue().encode().decode()
