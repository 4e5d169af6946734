"""Responses read back from the archive and decoded."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from evercrawl.fetch.answer import unwrap
from evercrawl.store.archive.answer import Stored
from evercrawl.store.archive.warc import EntryKind
from evercrawl.store.journal.events import Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Exchange, Request

HTML: Final = ("text/html", "application/xhtml+xml")


def answer_of(partition: Partition, event: Visit) -> Stored:
    """Return the archived response with a visit's content; a revisit record refers to an earlier one.

    Raises
    ------
    StoreError
        It is damaged, or missing.
    """
    assert event.archive is not None, "a visit without an answer has no content"
    found = partition.archive.read(event.archive)
    if found.kind is EntryKind.RESPONSE or not event.content:
        return found
    earlier = partition.journal.read(event.content)
    assert isinstance(earlier, Visit), "content lies with a visit"
    return replace(answer_of(partition, earlier), headers=found.headers)


def exchange_of(event: Visit, answer: Stored, most_bytes: int | None = None) -> Exchange:
    """Return an archived response as an exchange, its body decoded as far as the visit read it.

    At most `most_bytes` of the body are decoded.
    """
    size_bytes = event.size_bytes if most_bytes is None else min(event.size_bytes, most_bytes)
    request = Request(answer.url, max_wire_bytes=max(len(answer.wire), 1), max_body_bytes=size_bytes)
    exchange = Exchange(
        request, answer.at, status=answer.status, head=answer.head, wire=answer.wire, headers=answer.headers
    )  # fmt: skip
    unwrap(exchange)
    return exchange


def is_html(mime: str, body: bytes) -> bool:
    """Return whether a body is read as HTML: by its type, or without one, by how it begins.

    >>> is_html("text/html", b""), is_html("", b" <p>"), is_html("text/plain", b"<p>")
    (True, True, False)
    """
    return mime in HTML or (not mime and body.lstrip()[:1] == b"<")


def instant(at: float) -> str:
    """Return seconds since the epoch in readable form.

    >>> instant(86400.9)
    '1970-01-02 00:00:00 UTC'
    """
    return f"{datetime.fromtimestamp(int(at), UTC):%Y-%m-%d %H:%M:%S} UTC"
