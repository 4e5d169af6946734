"""What a request carries with it from the scheduler on, so that whatever becomes of it is told to the crawl."""

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
"""Of `Request.meta`, under which a request carries its ticket."""


class Stage(enum.Enum):
    """How far a request has come: it is being fetched; its answer is with the spider; all is done."""

    FETCHED = 1
    READ = 2
    DONE = 3


class Office(Protocol):
    """Whoever gave out tickets, and hears of what comes of them."""

    def answered(self, ticket: Ticket, request: Request, response: Response) -> bool:
        """Hear of an answer; return whether it is worth the spider's time: it is not where nothing has changed."""
        ...

    def failed(self, ticket: Ticket, exception: Exception) -> None:
        """Hear that no answer came."""
        ...

    def yielded(self, ticket: Ticket) -> None:
        """Hear that the spider has yielded all that it makes of an answer."""
        ...

    def linked(self, ticket: Ticket, request: Request) -> None:
        """Hear of a request that the spider yields for a page."""
        ...


class Ticket:
    """Of one request that was given to the engine; copies of the request share it.

    Parameters
    ----------
    office
        Hears of what becomes of it.
    url
        Normalised, of the page; "" of a request that is no page.
    turn, before
        Of the page, and what is known of it; None where the request is no page.
    number
        Of a request that is no page, in the store; None where it is kept in memory alone.

    Attributes
    ----------
    stage, at
        How far it is; when it was given to the engine (s since the epoch).
    items, running
        Whether the spider yielded items, and still yields.
    links, answer
        URLs of the pages that the spider yielded; and what came.
    watch
        Of the request itself: once it is gone, whatever became of it is over.
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

    def __reduce__(self) -> tuple[type[None], tuple[()]]:  # whoever keeps the meta of a request keeps no ticket
        return type(None), ()


def ticket_of(request: Request | None) -> Ticket | None:
    """Return the ticket of a request; None where it has none."""
    found = request.meta.get(KEY) if request is not None else None
    return found if isinstance(found, Ticket) else None
