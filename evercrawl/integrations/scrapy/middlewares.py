"""What watches requests on their way: whether an answer came, what the spider made of it, and when that is done."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from scrapy import Request

from evercrawl.integrations.scrapy.ticket import KEY, Stage, Ticket, ticket_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.http import Response


def unchanged(response: Response, **_: Any) -> None:
    """Make nothing of a page that is what it was."""


class DownloaderMiddleware:
    """Tells the crawl what came of a request, behind every other middleware."""

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Response:
        """Hear of an answer; one that is what it was is kept from the spider."""
        ticket = ticket_of(request)
        if (
            ticket is not None
            and ticket.stage is Stage.FETCHED
            and not ticket.office.answered(ticket, request, response)
        ):
            request.callback = unchanged
            request.meta["handle_httpstatus_all"] = True
        return response

    def process_exception(self, request: Request, exception: Exception, spider: Spider | None = None) -> None:
        """Hear that no answer came, however often it was tried."""
        ticket = ticket_of(request)
        if ticket is not None and ticket.stage is Stage.FETCHED:
            ticket.office.failed(ticket, exception)


class SpiderMiddleware:
    """Tells the crawl what a spider yields for a page, and when it is done with it."""

    def process_spider_output(self, response: Response, result: Iterable[Any], spider: Spider | None = None) -> Any:
        """Pass on what a callback yields."""
        ticket = ticket_of(response.request)
        if ticket is None:
            return result
        return _watched(ticket, response, result)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Pass on what an asynchronous callback yields."""
        ticket = ticket_of(response.request)
        if ticket is None:
            async for each in result:
                yield each
            return
        ticket.running = True
        try:
            async for each in result:
                yield _seen(ticket, response, each)
        finally:
            _through(ticket)

    def process_spider_exception(self, response: Response, exception: Exception, spider: Spider | None = None) -> None:
        """Hear that a callback failed before it yielded anything, and nobody made anything of that."""
        ticket = ticket_of(response.request)
        if ticket is not None and not ticket.running:
            _through(ticket)


def _watched(ticket: Ticket, response: Response, result: Iterable[Any]) -> Iterable[Any]:
    ticket.running = True
    try:
        for each in result:
            yield _seen(ticket, response, each)
    finally:
        _through(ticket)


def _seen(ticket: Ticket, response: Response, each: Any) -> Any:
    if isinstance(each, Request):
        each = each.replace() if each is response.request else each
        each.meta.pop(KEY, None)  # of one made with the meta of the request before
        ticket.office.linked(ticket, each)
    elif each is not None:
        ticket.items = True
    return each


def _through(ticket: Ticket) -> None:
    ticket.running = False
    ticket.office.yielded(ticket)
