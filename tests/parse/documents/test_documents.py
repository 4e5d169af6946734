"""Office documents and PDFs: text, title, language and links; what is damaged or a bomb is refused."""

import random

import office_files as files
import pytest

from evercrawl.parse.documents.base import DocumentError, kind_of
from evercrawl.parse.documents.office import read_office
from evercrawl.parse.documents.reader import read_document

pytest.importorskip("docx")
KINDS = {"docx": files.docx, "xlsx": files.xlsx, "pptx": files.pptx, "odf": files.odt}


@pytest.mark.parametrize(
    ("kind", "title", "language", "words", "link"),
    [
        ("docx", "A report", "de", ["# Findings of docx", "Grüße aus dem Dokument.", "left | right"], "linked"),
        ("xlsx", "A table", "", ["## Figures", "words of xlsx | 42 | 1.5", "more"], "from-xlsx"),
        ("pptx", "", "", ["## Slide of pptx", "a point", "and a note"], "from-pptx"),
        ("odf", "An open one", "fr", ["## Heading of odt", "words and a link"], "from-odt"),
    ],
)
def test_each_kind_says_what_it_holds(kind, title, language, words, link):
    found = read_document(kind, KINDS[kind]())
    assert found.markdown.split("\n\n") == words
    assert (found.language, found.links) == (language, (f"http://example.org/{link}",))
    assert found.title == title or (kind == "pptx" and found.title)


def test_a_zip_bomb_is_refused_before_it_is_unpacked():
    with pytest.raises(DocumentError, match="too large unpacked"):
        read_office("docx", files.bomb())


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_damaged_is_refused_in_words(kind):
    body, draw = KINDS[kind](), random.Random(7)
    refused = 0
    for damaged in (
        b"",
        b"PK",
        body[: len(body) // 2],
        files.lying(body),
        *(_scrambled(body, draw) for _ in range(20)),
    ):
        try:
            read_office(kind, damaged)
        except DocumentError:
            refused += 1
    assert refused >= 3


def _scrambled(body: bytes, draw: random.Random) -> bytes:
    data = bytearray(body)
    for _ in range(20):
        data[draw.randrange(len(data))] = draw.randrange(256)
    return bytes(data)


@pytest.mark.parametrize(
    ("mime", "url", "start", "kind"),
    [
        ("application/vnd.oasis.opendocument.text", "http://a/x", b"", "odf"),
        ("application/octet-stream", "http://a/x.xlsx", b"PK\x03\x04", "xlsx"),
        ("application/octet-stream", "http://a/x.xlsx", b"<html>", ""),
        ("application/zip", "http://a/x.zip", b"PK\x03\x04", ""),
        ("", "http://a/x", b"%PDF-1.7", "pdf"),
        ("text/html", "http://a/x.docx", b"PK\x03\x04", ""),
    ],
)
def test_kinds_are_told_by_type_or_else_by_name_and_first_bytes(mime, url, start, kind):
    assert kind_of(mime, url, start) == kind
