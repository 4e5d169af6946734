"""Parsing of an HTML body into a `Document`: text, links, and robots directives."""

import re
from collections.abc import Iterable

from evercrawl.arrays.hasher import Hasher
from evercrawl.parse.encoding import decode, utf8
from evercrawl.parse.forms.search_forms import search_forms
from evercrawl.parse.optouts import of_meta, of_words
from evercrawl.parse.reading.rendering import markdown
from evercrawl.parse.scan import anchors, scan
from evercrawl.parse.simhash import simhash_bytes
from evercrawl.parse.tree import links
from evercrawl.parse.urls import normalise, resolve, resolve_each, unresolved
from evercrawl.parse.web_codecs import encoded
from evercrawl.types import Document

__all__ = ["MAX_TARGETS", "links", "markdown", "read", "read_text"]

MAX_TARGETS = 10_000
"""To how many distinct URLs one page may link; a page with more is a trap or a dump, and the others are cut."""

MAX_LINKS = 100_000
"""How many distinct links of one page are resolved at all: the same URL may be written in several ways."""

MAX_TITLE = 1_000
"""Characters of a title that are kept."""

_MOST_CHARS = 16_000
"""Of a title, or of what is said to robots, no more is looked at: some are as long as the page."""

_LANGUAGE = re.compile(r"[a-z]{1,8}([-_][a-z0-9]{1,8})*", re.I)
_TRIMMED = "".join(map(chr, range(0x21)))  # at the ends of a URL
_REFRESH = re.compile(  # as the HTML standard's "shared declarative refresh steps" read it
    r"[\t\n\f\r ]*+(?:[0-9]|\.)[0-9.]*+(?:[\t\n\f\r ]*+[;,][\t\n\f\r ]*+|[\t\n\f\r ]++)"
    r"(?:url[\t\n\f\r ]*+=[\t\n\f\r ]*+)?(?:\"([^\"]*)|'([^']*)|(.*))",
    re.I | re.S | re.A,
)
_SPLIT = re.compile(r"[\s,]+")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_MOST_ENCODED = 8 << 20  # characters of links whose queries are encoded so; others are left in UTF-8
_HIGH = bytes(range(0x80, 0x100))
_PERCENT = [chr(code) if chr(code).isalnum() and code < 0x80 else f"%{code:02X}" for code in range(0x100)]


def read(
    body: bytes,
    url: str,
    content_type: str = "",
    language: str = "",
    *,
    text: bool = True,
    links: bool = True,
    hasher: Hasher | None = None,
) -> Document:
    """Return the document of one HTML page.

    Parameters
    ----------
    body
        The decoded page; any bytes.
    url
        Its URL, normalised.
    content_type, language
        The response's Content-Type and Content-Language; a language declared in the page takes precedence.
    text
        Whether to return the text, and the spans of its links.
    links
        Whether to return its links, which take a third of the time to resolve.
    hasher
        The crawl's hasher; without it the text is not hashed.

    Examples
    --------
    >>> page = read(b"<html lang=en><title>A  b</title><p>One<p>two <a href=/c>three</a>", "http://example.org/")
    >>> page.title, page.text, page.language, page.targets
    ('A b', 'One two three', 'en', ['http://example.org/c'])
    >>> page.utf8, page.anchors.tolist()
    (b'One two three', [[8, 13, 0]])
    """
    source, encoding = utf8(body, content_type)
    found = scan(source, MAX_LINKS, xml=content_type.lower().startswith("application/xhtml+xml"))
    base = (normalise(found.base, url) if found.base else None) or url
    asked = {word for content in found.robots for word in _SPLIT.split(content[:_MOST_CHARS].lower())}
    nofollow = not asked.isdisjoint(("nofollow", "none"))
    hrefs = [] if nofollow or not links else found.hrefs if encoding == "utf-8" else _in_encoding(found.hrefs, encoding)
    targets, indices = resolve_each(base, hrefs)
    cut = found.cut + unresolved(base, hrefs) if not nofollow else 0
    if len(targets) > MAX_TARGETS:
        cut += len(targets) - MAX_TARGETS
        indices = [index if index < MAX_TARGETS else -1 for index in indices]
        del targets[MAX_TARGETS:]
    document = Document(
        title=" ".join(found.title[:_MOST_CHARS].split())[:MAX_TITLE],
        language=_tag(found.language) or _tag(language),
        targets=targets,
        cut=cut,
        unpaid=_unpaid(resolve(base, found.unpaid), targets) if found.unpaid else [],
        withheld=len(set(resolve(base, found.withheld)).difference(targets)) if found.withheld else 0,
        feeds=resolve(base, found.feeds) if found.feeds else [],
        forms=search_forms(source, base) if "?" in "".join(hrefs) else [],  # otherwise it has no results
        canonical=(normalise(found.canonical, base) or "") if found.canonical else "",
        refresh=_refresh(found.refresh, base) if found.refresh else "",
        simhash=simhash_bytes(found.text, hasher) if hasher is not None else 0,
        words=_words(found.text, hasher),
        text_bytes=len(found.text),
        noindex=not asked.isdisjoint(("noindex", "none")),
        nofollow=nofollow,
        optouts=of_words(asked) | of_meta(source) if found.robots else of_meta(source),
        encoding=encoding,
    )
    if text:
        document.utf8 = found.text
        document.anchors = anchors(found.spans, indices, targets.index(url) if url in targets else -1)
    return document


def read_text(body: bytes, content_type: str = "", hasher: Hasher | None = None) -> Document:
    """Return the document of a plain text: white space folded, no links.

    Examples
    --------
    >>> read_text(b"one  two").text
    'one two'
    """
    source, encoding = decode(body, content_type)
    text = " ".join(source.replace("\0", "").split())
    utf8 = text.encode()
    similarity = simhash_bytes(utf8, hasher) if hasher is not None else 0
    return Document(utf8=utf8, simhash=similarity, words=_words(utf8, hasher), text_bytes=len(utf8), encoding=encoding)


def _unpaid(urls: list[str], targets: list[str]) -> list[str]:
    """Return those of `urls` that are among `targets`."""
    kept = set(targets)
    return [url for url in urls if url in kept]


def _words(text: bytes, hasher: Hasher | None) -> int:
    """Return 32 bits of a text's hash; 0 for no text."""
    return hasher.short(text) & 0xFFFFFFFF if text and hasher is not None else 0


def _tag(language: str) -> str:
    """Return the first language tag of an attribute or a header; "" if invalid."""
    first = language[:100].partition(",")[0].strip()
    return first.replace("_", "-") if _LANGUAGE.fullmatch(first) else ""


def _refresh(content: str, base: str) -> str:
    """Return the target of a meta refresh; "" without one, or if it is the page itself."""
    found = _REFRESH.match(content)
    target = (found[1] or found[2] or found[3] or "").strip(_TRIMMED) if found else ""
    return (normalise(target, base) or "") if target else ""


def _in_encoding(hrefs: Iterable[str], encoding: str) -> list[str]:
    """Return links with their queries percent-encoded in the page's encoding, as browsers send them."""
    found, room = list[str](), _MOST_ENCODED
    for href in hrefs:
        if href.isascii() or "?" not in href or room < 0:
            found.append(href)
        else:
            found.append(_query_in(href, encoding))
            room -= len(found[-1])
    return found


def _query_in(href: str, encoding: str) -> str:
    path, _, query = href.partition("?")
    return f"{path}?{_FOREIGN.sub(lambda run: _percent(run[0], encoding), query)}"


def _percent(text: str, encoding: str) -> str:
    code = encoded(text, encoding)
    if code.translate(None, _HIGH):
        return "".join(map(_PERCENT.__getitem__, code))
    return f"%{code.hex('%').upper()}"
