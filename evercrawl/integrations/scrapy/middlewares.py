"""Middlewares that report responses, the spider's output, and its completion to the crawl."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from scrapy import Request

from evercrawl.integrations.scrapy.ticket import KEY, Stage, Ticket, ticket_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.http import Response


def unchanged(response: Response, **_: Any) -> None:
    """Ignore an unchanged page (callback)."""


class DownloaderMiddleware:
    """Middleware that reports the result of a request to the crawl, after every other middleware."""

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Response:
        """Report a response; an unchanged page is not passed to the spider."""
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
        """Report that there was no response after all retries."""
        ticket = ticket_of(request)
        if ticket is not None and ticket.stage is Stage.FETCHED:
            ticket.office.failed(ticket, exception)


class SpiderMiddleware:
    """Middleware that reports what a spider yields for a page, and when it is done, to the crawl."""

    def process_spider_output(self, response: Response, result: Iterable[Any], spider: Spider | None = None) -> Any:
        """Report and pass on the output of a callback."""
        ticket = ticket_of(response.request)
        if ticket is None:
            return result
        return _watched(ticket, response, result)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Report and pass on the output of an asynchronous callback."""
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
        """Report that a callback failed before it yielded anything, and that nothing handled the error."""
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
        each.meta.pop(KEY, None)  # it may have been copied with the meta of the previous request
        ticket.office.linked(ticket, each)
    elif each is not None:
        ticket.items = True
    return each


def _through(ticket: Ticket) -> None:
    ticket.running = False
    ticket.office.yielded(ticket)
