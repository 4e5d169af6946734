"""Parsing of one body into its content: a pure function that can run in any process."""

import traceback
from typing import Any, Final

import msgspec
import numpy as np

from evercrawl.arrays.hasher import Hasher
from evercrawl.fetch.answer import unwrap
from evercrawl.fetch.directives import words_of, x_robots
from evercrawl.fetch.optouts import of_headers
from evercrawl.model.web.outlinks import leading_away
from evercrawl.parse import html
from evercrawl.parse.documents.base import DocumentError, kind_of
from evercrawl.parse.documents.reader import read_document
from evercrawl.parse.listings import feed
from evercrawl.parse.optouts import of_words
from evercrawl.parse.requisites import of_page
from evercrawl.parse.urls import normalise
from evercrawl.search.condense import HEAD_BYTES, condense
from evercrawl.store.archive.warc import DOM_TYPE, payload_digest
from evercrawl.types import Document, Exchange, Request

_HTML: Final = ("text/html", "application/xhtml+xml")
_TITLE_CHARS: Final = 300
_FAULT_CHARS: Final = 200
_TRACE_CHARS: Final = 8_000
_ASKED: Final = (
    "content-type", "content-encoding", "transfer-encoding", "content-language", "x-robots-tag",
    "tdm-reservation", "content-signal", "content-usage",
)  # fmt: skip
_OF_RENDERED: Final = ("content-language", "x-robots-tag", "tdm-reservation", "content-signal", "content-usage")


class Body(msgspec.Struct, array_like=True, frozen=True):
    """A body to be parsed, with everything its parsing depends on.

    Attributes
    ----------
    url, headers, http_version
        Its origin, and the response headers that affect parsing.
    data, packed
        The bytes; whether they are still encoded (transfer and content codings).
    max_wire_bytes, max_body_bytes
        Limits on decoding.
    truncated
        Whether it is known to be incomplete.
    held, held_rest
        Digest of the stored content, which need not be parsed again, in two words; 0 without any.
    agent
        The product token that robots directives may name.
    text
        Whether to return the text itself, for a search index.
    secret
        The crawl's secret, with which contents and URLs are hashed; see `Hasher`.
    former
        Whether the stored digest predates the crawl's secret.
    links
        Whether to return the links of an HTML page.
    requisites
        Whether to return the page requisites.
    """

    url: str
    headers: dict[str, str]
    http_version: str
    data: bytes
    packed: bool
    max_wire_bytes: int
    max_body_bytes: int
    truncated: bool
    held: int
    held_rest: int
    agent: str
    text: bool
    secret: bytes
    former: bool = False
    links: bool = True
    requisites: bool = False

    def __repr__(self) -> str:
        """Return a representation without the secret."""
        return f"Body(url={self.url!r}, {len(self.data)} bytes)"


class Content(msgspec.Struct, array_like=True):
    """The parsed content of a body.

    Attributes
    ----------
    size_bytes, digest, digest_rest
        Size and digest of the decoded body; the digest in two words.
    former
        Its digest without a secret, if requested.
    truncated, error, detail
        Findings while decoding; see `Exchange`.
    mime, title, language, simhash, words, targets, unpaid, withheld, cut, feeds, canonical
        See `Document`; `targets` include that of a meta refresh. A body whose content is stored already is not
        parsed.
    keys, away
        Hash keys of `targets`, u8 each; and the result of `leading_away` for them.
    payload
        The archive's payload fields of the received bytes, if these are still encoded.
    noindex
        Whether headers or page ask not to be indexed.
    text, anchors
        Visible text in UTF-8, and the span of each link's words in it: i4 start, end, index of the target; empty
        unless requested.
    indexed
        The part of a long text that is indexed; "" if all of it is.
    text_bytes, index_bytes
        Size of the visible text, and of its indexed part; for a long text that was not requested, of its beginning.
    forms
        Search forms of the page; see `Document`.
    optouts
        Bits of `OptOut` set by headers or page.
    trace
        The traceback of an internal error while parsing; "" without one.
    requisites
        URLs of the page requisites, if requested.
    """

    size_bytes: int = 0
    digest: int = 0
    digest_rest: int = 0
    former: int = 0
    truncated: bool = False
    error: str = ""
    detail: str = ""
    mime: str = ""
    title: str = ""
    language: str = ""
    simhash: int = 0
    words: int = 0
    noindex: bool = False
    withheld: int = 0
    canonical: str = ""
    targets: list[str] = []
    unpaid: list[str] = []
    feeds: list[str] = []
    text: bytes = b""
    anchors: bytes = b""
    keys: bytes = b""
    away: list[int] = []
    payload: str = ""
    indexed: str = ""
    forms: list[str] = []
    text_bytes: int = 0
    index_bytes: int = 0
    cut: int = 0
    trace: str = ""
    optouts: int = 0
    requisites: list[str] = []


def body_of(
    exchange: Exchange, held: tuple[int, int], agent: str, hasher: Hasher, *, text: bool, former: bool = False,
    requisites: bool = False,
) -> Body:  # fmt: skip
    """Return the body of an exchange for parsing."""
    request, headers = exchange.request, exchange.headers
    if exchange.rendered is not None:
        kept = {name: headers[name] for name in _OF_RENDERED if name in headers} | {"content-type": DOM_TYPE}
        return Body(
            request.url, kept, "1.1", exchange.rendered.dom, False, request.max_wire_bytes, request.max_body_bytes,
            False, *held, agent, text, hasher.secret, former and bool(hasher.secret), requisites=requisites,
        )  # fmt: skip
    return Body(
        request.url, {name: headers[name] for name in _ASKED if name in headers}, exchange.http_version,
        exchange.wire if exchange.packed else exchange.body, exchange.packed,
        request.max_wire_bytes, request.max_body_bytes, exchange.truncated, *held, agent, text, hasher.secret,
        former and bool(hasher.secret), requisites=requisites,
    )  # fmt: skip


def contents(body: Body, *, documents: bool = False) -> Content:
    """Return the parsed content of a body.

    Parameters
    ----------
    body
        The body.
    documents
        Whether to parse PDFs and office documents too, which runs in an expendable process.

    Examples
    --------
    >>> kind = {"content-type": "text/html"}
    >>> contents(Body("http://a/", kind, "1.1", b"<title>A</title>", False, 9, 99, False, 0, 0, "a", False, b"")).title
    'A'
    """
    data, content = _unpacked(body)
    if content.error and not content.truncated:
        return content
    hasher = Hasher(body.secret)
    content.size_bytes, (content.digest, content.digest_rest) = len(data), hasher.digest(data)
    if body.former:
        content.former, _ = Hasher(b"").digest(data)
    content_type = body.headers.get("content-type", "")
    content.mime = content_type.partition(";")[0].strip().lower()[:100]
    if body.held == content.digest and body.held_rest == content.digest_rest:
        return content
    tag = body.headers.get("x-robots-tag")
    directives = x_robots(tag, body.agent) if tag is not None else frozenset[str]()
    content.noindex = "noindex" in directives
    content.optouts = of_headers(body.headers) | (of_words(words_of(tag, body.agent)) if tag is not None else 0)
    if content.mime in _HTML or (not content.mime and data.lstrip()[:1] == b"<"):
        _document(content, body, data, content_type, hasher, nofollow="nofollow" in directives)
    elif feed.is_feed(data, content.mime):
        _feed(content, body, data, content_type, hasher)
    elif content.mime == "text/plain":
        document = html.read_text(data, content_type, hasher)
        content.simhash, content.words, content.text_bytes = document.simhash, document.words, document.text_bytes
        content.text = document.utf8 if body.text else b""
    elif documents and (kind := kind_of(content.mime, body.url, data)):
        _file(content, body, data, kind, hasher, nofollow="nofollow" in directives)
    if content.targets:
        content.keys = hasher.keys(content.targets).tobytes()
        content.away = leading_away(body.url, content.targets)
    if len(content.text) > HEAD_BYTES and not content.noindex:
        content.indexed = condense(content.text)
    content.index_bytes = len(content.indexed.encode()) or min(content.text_bytes, HEAD_BYTES)
    return content


def attempted(body: Body, *, documents: bool = False) -> Content:
    """Return `contents(body)`; an exception becomes an error of this page, and the crawl goes on."""
    try:
        return contents(body, documents=documents)
    except Exception as fault:
        trace = "".join(traceback.format_exception(fault))[-_TRACE_CHARS:]
        return Content(error="parser", detail=f"the page could not be read: {fault!r}"[:_FAULT_CHARS], trace=trace)


def _unpacked(body: Body) -> tuple[bytes, Content]:
    if not body.packed:
        return body.data, Content(truncated=body.truncated)
    request = Request(body.url, max_wire_bytes=body.max_wire_bytes, max_body_bytes=body.max_body_bytes)
    exchange = Exchange(
        request, 0.0, wire=body.data, headers=body.headers, http_version=body.http_version, truncated=body.truncated
    )
    unwrap(exchange)
    said = Content(truncated=exchange.truncated, error=exchange.error, detail=exchange.detail)
    said.payload = payload_digest(body.data)
    return exchange.body, said


def _document(content: Content, body: Body, data: bytes, content_type: str, hasher: Hasher, *, nofollow: bool) -> None:
    language = body.headers.get("content-language", "")
    document = html.read(data, body.url, content_type, language, text=body.text, links=body.links, hasher=hasher)
    content.title = document.title[:_TITLE_CHARS]
    content.language = document.language[:35]
    content.simhash, content.words, content.text_bytes = document.simhash, document.words, document.text_bytes
    content.feeds, content.forms = document.feeds, document.forms
    content.noindex = content.noindex or document.noindex
    content.optouts |= document.optouts
    if not (nofollow or document.nofollow):
        content.targets, content.withheld = _targets(document), document.withheld
        content.unpaid, content.cut = document.unpaid, document.cut
        content.anchors = document.anchors.tobytes()
    if body.requisites:
        content.requisites = of_page(data, body.url, content_type)
    if document.canonical != body.url:
        content.canonical = document.canonical
    content.text = document.utf8


def _feed(content: Content, body: Body, data: bytes, content_type: str, hasher: Hasher) -> None:
    """Take in the titles of a feed and its entries."""
    found = feed.read_feed(data, body.url, content_type)
    content.targets, content.title, content.language = feed.targets(found), found.title, found.language
    _words_of(content, found.text, hasher, text=body.text)


def _file(content: Content, body: Body, data: bytes, kind: str, hasher: Hasher, *, nofollow: bool) -> None:
    """Take in a PDF or an office document; an unreadable one has no content."""
    try:
        found = read_document(kind, data)
    except DocumentError:
        return
    content.title, content.language = " ".join(found.title.split())[:_TITLE_CHARS], found.language[:35]
    _words_of(content, found.text, hasher, text=body.text)
    if not nofollow:
        links = (normalise(link, body.url) for link in found.links)
        content.targets = list(dict.fromkeys(link for link in links if link))[: html.MAX_TARGETS]


def _words_of(content: Content, words: str, hasher: Hasher, *, text: bool) -> None:
    document = html.read_text(words.encode("utf-8", "replace"), "text/plain; charset=utf-8", hasher)
    content.simhash, content.words, content.text_bytes = document.simhash, document.words, document.text_bytes
    content.text = document.utf8 if text else b""


def _targets(document: Document) -> list[str]:
    more = document.refresh and document.refresh not in document.targets
    return [*document.targets, document.refresh] if more else document.targets


def spans(content: Content) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the spans of the links' words in `content.text`: start, end, index of the target; shape (n, 3)."""
    return np.frombuffer(bytearray(content.anchors), np.int32).reshape(-1, 3)  # bytes would cost a kernel 3 us more
