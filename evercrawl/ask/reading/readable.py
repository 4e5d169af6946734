"""Conversion of a body of any type to text; runs in a child process, see `reader`."""

from typing import Final

import msgspec

from evercrawl.model.stored.answers import is_html
from evercrawl.parse import html
from evercrawl.parse.documents.base import kind_of as document_of
from evercrawl.parse.documents.reader import read_document
from evercrawl.parse.encoding import decode
from evercrawl.parse.listings.feed import is_feed, read_feed
from evercrawl.parse.reading.chunks import Chunk, chunks
from evercrawl.parse.reading.markdown_words import words
from evercrawl.parse.reading.rendering import ContentForm, rendered
from evercrawl.parse.visible import visible

PDF: Final = "application/pdf"
PLAIN: Final = ("json", "xml", "javascript", "yaml")
"""Suffixes of media types that are text, besides `text/`."""


class ReadRequest(msgspec.Struct, array_like=True):
    """A body, and the requested format.

    Attributes
    ----------
    body, url, mime, content_type
        The body without codings, its URL, its media type, and the response's Content-Type.
    form
        Markdown or HTML of the main content, or all visible text.
    chunk_chars
        Maximum characters per chunk; 0 for no chunks.
    whole
        Whether to return the whole page instead of its main content, because finding that took too long.
    """

    body: bytes
    url: str
    mime: str
    content_type: str = ""
    form: ContentForm = ContentForm.MARKDOWN
    chunk_chars: int = 0
    whole: bool = False


class ReadContent(msgspec.Struct, array_like=True):
    """The content of a body.

    Attributes
    ----------
    content
        The content in the requested format; "" if chunks were requested.
    chunks
        The chunks.
    error
        The reason why the body could not be read; "" if it could.
    whole
        Whether this is the whole page, because the main content could not be determined in time.
    """

    content: str = ""
    chunks: list[Chunk] = []
    error: str = ""
    whole: bool = False


def kind_of(mime: str, body: bytes, url: str = "") -> str:
    """Return the kind of text of a body: html, pdf, document, feed, plain, or "" for none.

    >>> kind_of("text/html", b""), kind_of("application/pdf", b""), kind_of("image/png", b"")
    ('html', 'pdf', '')
    """
    if is_html(mime, body):
        return "html"
    if mime == PDF or (not mime and body.startswith(b"%PDF-")):
        return "pdf"
    if document_of(mime, url, body):
        return "document"
    if is_feed(body, mime):
        return "feed"
    return "plain" if mime.startswith("text/") or mime.endswith(PLAIN) else ""


def read(request: ReadRequest) -> ReadContent:
    r"""Return the content of a body in the requested format.

    >>> read(ReadRequest(b"<h1>Tea</h1><p>Boil <a href=w>water</a>.", "http://example.org/", "text/html")).content
    '# Tea\n\nBoil [water](http://example.org/w).'
    """
    kind = kind_of(request.mime, request.body, request.url)
    if kind == "html" and request.form is ContentForm.TEXT:
        content = html.read(request.body, request.url, request.content_type).text
    elif kind == "html":
        content = rendered(request.body, request.url, request.content_type, request.form, whole=request.whole)
    elif kind == "pdf":
        from evercrawl.ask.reading.pdf import pdf_text

        content = pdf_text(request.body)
        content = words(content) if request.form is ContentForm.MARKDOWN else content
    elif kind == "document":
        document = read_document(document_of(request.mime, request.url, request.body), request.body)
        content = document.text if request.form is ContentForm.TEXT else document.markdown
    elif kind == "feed":
        feed = read_feed(request.body, request.url, request.content_type)
        content = feed.text if request.form is ContentForm.TEXT else feed.markdown
    else:
        content = decode(request.body, request.content_type)[0]
    content = visible(content)
    if request.chunk_chars:
        return ReadContent(chunks=chunks(content, request.url, request.chunk_chars), whole=request.whole)
    return ReadContent(content, whole=request.whole)
