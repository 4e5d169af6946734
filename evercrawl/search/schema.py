"""Schemas of the two indexes, for pages and for links to them, and their tokenization."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import msgspec
import tantivy

from evercrawl.search.condense import HEAD_BYTES, condense
from evercrawl.search.segment import may_be_unsegmented, segmented, unsegmented

VERSION: Final = 2
"""Of everything below; an index of another version has to be made again."""

MOST_ADDRESS_CHARS: Final = 200
"""Characters of a URL whose words are indexed."""

_SEGMENTED_HEAD_BYTES: Final = 3 * HEAD_BYTES  # pairs of letters with blanks take this much more space

TITLE: Final = "title"
BODY: Final = "body"
ADDRESS: Final = "address"
SITE: Final = "site"
HOST: Final = "host"
LANGUAGE: Final = "language"
KEY: Final = "key"
SLOT: Final = "slot"
DIGEST: Final = "digest"
ANCHOR: Final = "anchor"

_ANALYZER: Final = (
    tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    .filter(tantivy.Filter.remove_long(40))
    .filter(tantivy.Filter.lowercase())
    .build()
)


class IndexedPage(msgspec.Struct, frozen=True):
    """A page as given to the index.

    Attributes
    ----------
    slot
        Discovery number, the page's key in the index.
    digest
        64-bit digest of the content, by which outdated pages are detected.
    url, site, host
        The page's URL, its registrable domain, and its host name.
    title, text
        Plain text; or text in UTF-8, which is condensed if it is long.
    language
        BCP 47 tag, or "".
    """

    slot: int
    digest: int
    url: str
    site: str
    host: str
    title: str
    text: str | bytes
    language: str = ""


def pages_schema() -> tantivy.Schema:
    """Return the schema of pages: words, names to filter by, and two numbers; the text is not stored.

    Pages are deleted by `KEY`, a text field: deletion by a number does not match.
    """
    build = tantivy.SchemaBuilder()
    build.add_text_field(KEY, tokenizer_name="raw", index_option="basic")
    build.add_text_field(TITLE)
    build.add_text_field(BODY)
    build.add_text_field(ADDRESS, index_option="freq")
    for name in (SITE, HOST, LANGUAGE):
        build.add_text_field(name, tokenizer_name="raw", index_option="basic")
    build.add_unsigned_field(SLOT, fast=True)
    build.add_unsigned_field(DIGEST, fast=True)
    return build.build()


def anchors_schema() -> tantivy.Schema:
    """Return the schema of links: their words, and the page they lead to."""
    build = tantivy.SchemaBuilder()
    build.add_text_field(KEY, tokenizer_name="raw", index_option="basic")
    build.add_text_field(ANCHOR, index_option="freq")
    build.add_unsigned_field(SLOT, fast=True)
    return build.build()


def page_document(page: IndexedPage) -> tantivy.Document:
    """Return the index document of a page; one without a URL has nothing to be found by.

    Fields are added with explicit types: a number without its type would crash the writer, and looking types up in a
    schema costs half as much again.
    """
    made = _named(page.slot)
    made.add_unsigned(DIGEST, page.digest)
    if not page.url:
        return made
    made.add_text(TITLE, segmented(page.title))
    made.add_text(BODY, _body(page.text))
    made.add_text(ADDRESS, segmented(address_words(page.url)))
    made.add_text(SITE, page.site)
    made.add_text(HOST, page.host)
    for name in languages(page.language):
        made.add_text(LANGUAGE, name)
    return made


def anchors_document(slot: int, words: Iterable[str]) -> tantivy.Document:
    """Return the index document of the words of links to a page."""
    made = _named(slot)
    made.add_text(ANCHOR, segmented("\n".join(words)))
    return made


def _body(text: str | bytes) -> str:
    """Return the indexed form of a text: its words, and pairs of letters for scripts without spaces."""
    if isinstance(text, str):
        return segmented(text)
    if may_be_unsegmented(text) and unsegmented(decoded := text.decode("utf-8", "replace")):
        return condense(segmented(decoded).encode(), _SEGMENTED_HEAD_BYTES)
    return condense(text)


def _named(slot: int) -> tantivy.Document:
    made = tantivy.Document()
    made.add_text(KEY, str(slot))
    made.add_unsigned(SLOT, slot)
    return made


def address_words(url: str) -> str:
    """Return the searchable part of a URL: host, path and query, unescaped.

    >>> address_words("http://example.org/caf%C3%A9/menu?day=1")
    'example.org/café/menu day=1'
    """
    address, _, query = url.partition("://")[2].partition("#")[0].partition("?")
    return unquote(f"{address} {query}".strip())[:MOST_ADDRESS_CHARS]


@lru_cache(maxsize=1024)
def languages(tag: str) -> tuple[str, ...]:
    """Return the indexed names of a language: its tag and the primary subtag, in lower case.

    >>> languages("de-AT"), languages("en"), languages("")
    (('de', 'de-at'), ('en',), ())
    """
    tag = tag.lower()
    return tuple(sorted({tag.partition("-")[0], tag} - {""}))


def words_of(text: str) -> list[str]:
    """Return the words of a text as tokenized by the index, in order.

    >>> words_of("Hash-tables, in C++ & ÖPNV"), words_of("数据库")
    (['hash', 'tables', 'in', 'c', 'öpnv'], ['数据', '据库'])
    """
    return _ANALYZER.analyze(segmented(text))
