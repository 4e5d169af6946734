"""A visit as a program gets it that runs the crawl itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from evercrawl.fetch.answer import unwrap
from evercrawl.model.stored.remembered import Remembered
from evercrawl.parse import html
from evercrawl.store.journal.events import CHANGED
from evercrawl.types import Document, Exchange, Outcome


@dataclass(frozen=True)
class PageVisit:
    """One visit of a running crawl.

    Attributes
    ----------
    url, at
        Of the page; when it was asked for, in UTC.
    outcome
        ok, truncated, error, refused, redirect, duplicate or gone.
    status, error
        HTTP status, 0 where no answer came; and a class of failure, "" where there is none.
    version, new
        Number of the page's content, from 0 on; and whether this visit found it, so that it has just begun.
    mime, title, language
        Of the content, as far as it was read anew.
    links
        URLs that the page links to, as far as it was read anew.
    """

    url: str
    at: datetime
    outcome: str
    status: int
    error: str
    version: int
    new: bool
    mime: str
    title: str
    language: str
    links: tuple[str, ...]
    _exchange: Exchange = field(repr=False)

    @cached_property
    def body(self) -> bytes:
        """The content, with the codings of the way undone; b"" where none came."""
        held = self._exchange
        if held.body or not held.wire:
            return held.body
        answer = Exchange(
            held.request, held.at, wire=held.wire, headers=held.headers, http_version=held.http_version,
            truncated=held.truncated,
        )  # fmt: skip
        unwrap(answer)
        return answer.body

    @cached_property
    def text(self) -> str:
        """The visible text of an HTML page."""
        return self._document.text

    @cached_property
    def _document(self) -> Document:
        kind = self._exchange.headers.get("content-type", "")
        return html.read(self.body, self.url, kind, text=True)


def page_visit(visit: Remembered) -> PageVisit:
    """Return a visit that the crawl has just remembered, as a program gets it."""
    event, reading = visit.event, visit.reading
    read = reading.content is not None and event.outcome in (Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE)
    first = reading.before.digest == 0
    return PageVisit(
        reading.exchange.request.url,
        datetime.fromtimestamp(event.at, UTC),
        Outcome(event.outcome).label,
        event.status,
        event.error,
        event.changes,
        read and (first or bool(event.flags & CHANGED)),
        reading.page.mime,
        reading.page.title,
        reading.page.language,
        tuple(reading.page.targets),
        reading.exchange,
    )
