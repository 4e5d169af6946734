"""What the two indexes hold of a page and of the links to it, and how words are told apart."""

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

_SEGMENTED_HEAD_BYTES: Final = 3 * HEAD_BYTES  # pairs of letters, with their blanks, take that much more

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
    """What the index is given of a page.

    Attributes
    ----------
    slot
        Discovery number: the page's name in the index.
    digest
        64 bits that name the content, so that others can tell whether the index has this one.
    url, site, host
        Where it is; the registrable domain, and the host's name.
    title, text
        What it says, as plain text; or the text in UTF-8, which is then condensed where it is long.
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
    """Return what is kept of a page: words, names to filter by, and two numbers; never the text itself.

    Pages are deleted by `KEY`, a text: deleting by a number finds nothing.
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
    """Return what is kept of links: the words, and the page they lead to."""
    build = tantivy.SchemaBuilder()
    build.add_text_field(KEY, tokenizer_name="raw", index_option="basic")
    build.add_text_field(ANCHOR, index_option="freq")
    build.add_unsigned_field(SLOT, fast=True)
    return build.build()


def page_document(page: IndexedPage) -> tantivy.Document:
    """Return a page as it is written; one without a URL has nothing that it could be found by.

    Field by field, by the type of each: a number that came without its type would kill the writer, and to find the
    types in a schema takes half as long again.
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
    """Return what links say of a page, as it is written."""
    made = _named(slot)
    made.add_text(ANCHOR, segmented("\n".join(words)))
    return made


def _body(text: str | bytes) -> str:
    """Return what is indexed of a text: its words, and pairs of letters where there are none."""
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
    """Return what of a URL people may search for: host, path and query, escapes undone.

    >>> address_words("http://example.org/caf%C3%A9/menu?day=1")
    'example.org/café/menu day=1'
    """
    address, _, query = url.partition("://")[2].partition("#")[0].partition("?")
    return unquote(f"{address} {query}".strip())[:MOST_ADDRESS_CHARS]


@lru_cache(maxsize=1024)
def languages(tag: str) -> tuple[str, ...]:
    """Return the names that a language goes by: its tag and the primary part of it, in lower case.

    >>> languages("de-AT"), languages("en"), languages("")
    (('de', 'de-at'), ('en',), ())
    """
    tag = tag.lower()
    return tuple(sorted({tag.partition("-")[0], tag} - {""}))


def words_of(text: str) -> list[str]:
    """Return the words of a text as the index knows them, in order.

    >>> words_of("Hash-tables, in C++ & ÖPNV"), words_of("数据库")
    (['hash', 'tables', 'in', 'c', 'öpnv'], ['数据', '据库'])
    """
    return _ANALYZER.analyze(segmented(text))
