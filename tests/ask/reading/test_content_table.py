"""The content of pages as a table, chunks that changed, and pages that do harm."""

import io
import json
import zlib

import pytest
from hand_made import BEGAN_AT, SITE, HandMade

from evercrawl.ask.content import content
from evercrawl.ask.reading.content_table import ContentTable
from evercrawl.ask.reading.readable import ReadRequest
from evercrawl.ask.reading.reader import ContentReader
from evercrawl.ask.reading.selection import Wanted
from evercrawl.cli.main import main
from evercrawl.cli.verbs.asking import get
from evercrawl.config import Config
from evercrawl.errors import ConfigError
from evercrawl.model.stored.reader import opened
from evercrawl.parse.reading.rendering import ContentForm


def table(made: HandMade, wanted: Wanted | None = None, form=ContentForm.MARKDOWN, chunk_chars: int = 0):
    """Return the rows, and what became of the pages."""
    crawl = opened(made.directory)
    try:
        asked = ContentTable(crawl, wanted or Wanted(), form, chunk_chars, now=made.now + 60)
        pieces = list(asked.pieces())
    finally:
        crawl.close()
    rows = [dict(zip(piece, row, strict=True)) for piece in pieces for row in zip(*piece.values(), strict=True)]
    return rows, asked.tally


def test_every_page_with_text_is_a_row(filled):
    rows, tally = table(filled)
    by_path = {row["url"].removeprefix(SITE): row for row in rows}
    assert set(by_path) == {"/", "/a", "/cut"}  # no copy, no picture, nothing that is gone
    page = by_path["/a"]
    assert page["content"].startswith(f'---\nurl: "{SITE}/a"\ntitle: "A"\nfetched_at: ')
    assert page["content"].endswith(f"---\n\none two\n\n[to /]({SITE}/)[to /a]({SITE}/a)".replace(")[", ") ["))
    assert (page["title"], page["language"], page["mime"]) == ("A", "en", "text/html")
    assert page["fetched_at"] > page["changed_at"] > BEGAN_AT  # a 304 was the last visit
    assert 0 < page["fresh"] <= 1
    assert (tally.pages, tally.without_text, sum(tally.failed.values())) == (3, 1, 0)


def test_the_same_as_get_prints(filled, capsys):
    rows, _ = table(filled)
    expected = {row["url"]: row["content"] for row in rows}
    for path in ("/", "/a"):
        assert main(["get", f"{SITE}{path}", "--markdown", "--dir", str(filled.directory)]) == 0
        said = capsys.readouterr().out
        without = [line for line in said.splitlines() if not line.startswith("fresh:")]
        assert without == [line for line in expected[f"{SITE}{path}"].splitlines() if not line.startswith("fresh:")]


def test_site_pattern_and_language_narrow(filled):
    assert {row["url"] for row in table(filled, Wanted(pattern="/a$"))[0]} == {f"{SITE}/a"}
    assert table(filled, Wanted(site="other.example"))[0] == []
    assert len(table(filled, Wanted(site="example.org", language="EN"))[0]) == 3
    assert table(filled, Wanted(language="de"))[0] == []
    with pytest.raises(ConfigError, match="not a regular expression"):
        Wanted(pattern="(")


def test_since_has_what_appeared_changed_and_went(made):
    made.fill()
    since = made.now + 1
    made.visit(f"{SITE}/a", made.page("A", "/", text="one two three"))
    made.visit(f"{SITE}/later", made.page("Later", "/", text="new here"))
    made.visit(f"{SITE}/cut", b"no", 404)
    made.visit(f"{SITE}/", made.page("Home again", *(f"/{name}" for name in ("a",))), 304)
    made.stop()
    rows, tally = table(made, Wanted(since))
    assert {row["url"].removeprefix(SITE): row["removed"] for row in rows} == {
        "/a": False, "/later": False, "/cut": True,
    }  # fmt: skip
    assert (tally.pages, tally.removed) == (2, 1)


def page_of(*paragraphs: str) -> bytes:
    body = "".join(f"<p>{words}</p>" for words in paragraphs)
    return f"<html lang=en><title>T</title><body><main><h1>Head</h1>{body}</main></html>".encode()


def test_only_chunks_that_changed_come_again_and_those_gone_are_named(made):
    paragraphs = [f"Paragraph {number} says what nobody else does: {number * 7919}. " * 3 for number in range(40)]
    made.seed(f"{SITE}/", f"{SITE}/b")
    made.visit(f"{SITE}/", page_of(*paragraphs))
    made.visit(f"{SITE}/b", page_of(*(words[::-1] for words in paragraphs)))
    made.save()
    first, _ = table(made, chunk_chars=600)
    since = made.now + 1
    made.visit(f"{SITE}/", page_of(*paragraphs[:20], "Something new.", *paragraphs[20:]))
    made.visit(f"{SITE}/b", b"no", 404)
    made.stop()
    rows, tally = table(made, Wanted(since), chunk_chars=600)
    added, removed = ([row for row in rows if row["removed"] is is_gone] for is_gone in (False, True))
    assert 1 <= len(added) <= 2
    assert "Something new." in "".join(row["text"] for row in added)
    assert added[0]["headings"] == "Head"
    gone = {row["id"] for row in removed}
    assert {row["id"] for row in first if row["url"] == f"{SITE}/b"} <= gone
    assert tally.removed == len(removed)
    held = ({row["id"] for row in first} - gone) | {row["id"] for row in added}
    assert held == {row["id"] for row in table(made, chunk_chars=600)[0]}  # what an index that follows has now


def test_a_page_that_harms_its_reader_is_counted_and_the_others_go_on():
    slow = "<p " + " ".join(f"a{number}=1" for number in range(60_000)) + ">" + "hello world " * 40 + "</p>"
    with ContentReader(1, most_s=2.0) as reader:
        said = reader.read(ReadRequest(slow.encode(), f"{SITE}/", "text/html"))
        assert (said.whole, "hello world" in said.content) == (True, True)
        broken = reader.read(ReadRequest(b"%PDF-1.7 broken", f"{SITE}/", "application/pdf"))
        assert "cannot be read" in broken.error
        assert reader.read(ReadRequest(b"<p>next", f"{SITE}/", "text/html")).content == "next"


def test_a_large_table_is_written_in_bounded_time():
    page = "<table>" + ("<tr>" + "<td>cell</td>" * 10 + "</tr>") * 60_000 + "</table>"
    assert len(page) > 8_000_000
    with ContentReader(1) as reader:
        said = reader.read(ReadRequest(page.encode(), f"{SITE}/", "text/html"))
    assert said.error or said.content.count("| cell") == 600_000


def pdf(*lines: str) -> bytes:
    """Return a PDF of one page, made by hand."""
    shown = " ".join(f"BT /F 12 Tf 50 {700 - 20 * number} Td ({words}) Tj ET" for number, words in enumerate(lines))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        f"<</Length {len(shown)}>>stream\n{shown}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = io.BytesIO(), list[int]()
    out.write(b"%PDF-1.4\n")
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj{body}endobj\n".encode())
    at = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.write("".join(f"{place:010} 00000 n \n" for place in places).encode())
    out.write(f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{at}\n%%EOF".encode())
    return out.getvalue()


def test_a_pdf_that_unpacks_to_gigabytes_is_given_up_in_time():
    packed = zlib.compress(zlib.compress(b"BT /F 12 Tf " + b"(hello world) Tj " * 8_000_000 + b"ET"))
    body = pdf("x")
    start, end = body.index(b"<</Length"), body.index(b"endstream")
    head = b"<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n" % len(packed)
    with ContentReader(1, most_s=2.0) as reader:
        said = reader.read(
            ReadRequest(body[:start] + head + packed + b"\n" + body[end:], f"{SITE}/", "application/pdf")
        )
        assert said.error == "it takes more than 2 s to read"
        assert reader.read(ReadRequest(pdf("next"), f"{SITE}/", "application/pdf")).content == "next"


def test_the_text_of_a_pdf(begun):
    begun.visit(f"{SITE}/", pdf("A paper about tea", "and water"), content_type="application/pdf")
    begun.stop()
    rows, _ = table(begun, form=ContentForm.TEXT)
    assert rows[0]["content"] == "A paper about tea\nand water"
    crawl = opened(begun.directory)
    try:
        found = content(crawl, f"{SITE}/", Config())
    finally:
        crawl.close()
    assert get.as_bytes(found, "text") == b"A paper about tea\nand water\n"


def test_export_content_at_the_command_line(filled, tmp_path, capsys):
    file = tmp_path / "content.jsonl"
    words = ["export", "content", "-o", str(file), "--dir", str(filled.directory)]
    assert main([*words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["rows"], said["pages"], said["failed"], said["without_text"]) == (3, 3, 0, 1)
    assert len(file.read_text(encoding="utf-8").splitlines()) == 3
    assert main([*words[:3], str(tmp_path / "c.parquet"), *words[4:], "--chunks", "200"]) == 0
    assert main([*words, "--chunks", "12"]) == 2
    assert "a number of characters, 100 or more" in capsys.readouterr().err
    assert main([*words, "--chunks", "500", "--text"]) == 2
    assert main([*words, "--since", "soon"]) == 2
    assert "--since must be a time such as" in capsys.readouterr().err
    assert main(["export", "pages", "-o", str(file), "--dir", str(filled.directory), "--site", "a.example"]) == 2
    assert "--site is for the table content only" in capsys.readouterr().err
