"""Visits as a live crawl yields them to the program that runs it."""

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
        URL of the page; instant of the request, in UTC.
    outcome
        ok, truncated, error, refused, redirect, duplicate or gone.
    status, error
        HTTP status, 0 if there was no response; class of failure, "" if there was none.
    version, new
        Version number of the page's content, counted from 0; whether this visit found that version.
    mime, title, language
        Properties of the content, if this visit parsed it.
    links
        URLs that the page links to, if this visit parsed it.
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
        """The content after transfer and content decoding; b"" if none was received."""
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
    """Return the `PageVisit` of a visit that the crawl has just recorded."""
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
