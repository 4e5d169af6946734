"""Error responses by RFC 9457: a title, a sentence that says what to do, a status."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from evercrawl.errors import ConfigError, EvercrawlError, NotReadyError

MEDIA_TYPE = "application/problem+json"


class RequestError(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    status
        Of the response.
    detail
        A sentence that says what is wrong and what to do.
    """

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers


def problem(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Return the error response."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return Response(msgspec.json.encode(body), status, headers, MEDIA_TYPE)


async def on_problem(request: Request, error: Exception) -> Response:
    """Return the response for a `RequestError`."""
    assert isinstance(error, RequestError)
    headers = {name.replace("_", "-"): value for name, value in error.headers.items()}
    return problem(error.status, error.detail, headers)


async def on_http(request: Request, error: Exception) -> Response:
    """Return the response for an error of the router."""
    assert isinstance(error, HTTPException)
    detail = {
        404: f"there is no {request.url.path} here; / shows the crawl, /openapi.json lists what programs may ask",
        405: f"{request.method} is not possible for {request.url.path}",
    }.get(error.status_code, error.detail)
    return problem(error.status_code, detail, dict(error.headers or {}))


async def on_trouble(request: Request, error: Exception) -> Response:
    """Return the response for a problem with the crawl or with the request."""
    assert isinstance(error, EvercrawlError)
    again = {"retry-after": "2"} if isinstance(error, NotReadyError) else None
    return problem(400 if isinstance(error, ConfigError) else 503, str(error), again)


async def on_gone(request: Request, error: Exception) -> Response:
    """Return the response to a request that its client broke off, so that it is not logged as an error."""
    return problem(400, "the client closed the connection before the end of its request")


HANDLERS: dict[Any, Any] = {
    RequestError: on_problem,
    HTTPException: on_http,
    EvercrawlError: on_trouble,
    ClientDisconnect: on_gone,
}
