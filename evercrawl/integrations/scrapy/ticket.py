"""Tickets that requests carry from the scheduler on, by which their results are reported to the crawl."""

from __future__ import annotations

import enum
import weakref
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from evercrawl.crawl.driven.driven_crawl import Turn
    from evercrawl.model.stored.reading import Before, Fetched

KEY: Final = "_evercrawl"
"""Key of `Request.meta` under which a request carries its ticket."""


class Stage(enum.Enum):
    """Stage of a request: it is being fetched; the spider has its response; all is done."""

    FETCHED = 1
    READ = 2
    DONE = 3


class Office(Protocol):
    """The issuer of tickets, to which results are reported."""

    def answered(self, ticket: Ticket, request: Request, response: Response) -> bool:
        """Process a response; return whether to pass it to the spider, which an unchanged page is not."""
        ...

    def failed(self, ticket: Ticket, exception: Exception) -> None:
        """Process a failure."""
        ...

    def yielded(self, ticket: Ticket) -> None:
        """Record that the spider has yielded everything for a response."""
        ...

    def linked(self, ticket: Ticket, request: Request) -> None:
        """Record a request that the spider yields for a page."""
        ...


class Ticket:
    """The ticket of one request that was handed to the engine; copies of the request share it.

    Parameters
    ----------
    office
        Receiver of the request's results.
    url
        Normalised URL of the page; "" for a request that is not a page.
    turn, before
        Turn of the page, and its state before the visit; None for a request that is not a page.
    number
        Number in the store of a request that is not a page; None if it is kept only in memory.

    Attributes
    ----------
    stage, at
        Stage of the request; when it was handed to the engine (s since the epoch).
    items, running
        Whether the spider has yielded items; whether it is still yielding.
    links, answer
        URLs of the pages that the spider yielded; the exchange.
    watch
        Weak reference to the request: once the request no longer exists, its processing is over.
    """

    __slots__ = ("__weakref__", "answer", "at", "before", "items", "links", "number", "office", "running", "stage",
                 "turn", "url", "watch")  # fmt: skip

    def __init__(
        self,
        office: Office,
        url: str,
        at: float,
        *,
        turn: Turn | None = None,
        before: Before | None = None,
        number: int | None = None,
    ) -> None:
        self.office, self.url, self.at = office, url, at
        self.turn, self.before, self.number = turn, before, number
        self.stage, self.items, self.running = Stage.FETCHED, False, False
        self.links = list[str]()
        self.answer: Fetched | None = None
        self.watch: weakref.ref[Request] | None = None

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:  # a stored meta of a request holds no ticket
        return type(None), ()


def ticket_of(request: Request | None) -> Ticket | None:
    """Return the ticket of a request; None if it has none."""
    found = request.meta.get(KEY) if request is not None else None
    return found if isinstance(found, Ticket) else None
