"""Usage reports by browsers: results seen and pages opened, identified by a response's tickets."""

from __future__ import annotations

import contextlib
from typing import TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.decoding import json_of
from evercrawl.errors import EvercrawlError
from evercrawl.serve.asking import Parameters
from evercrawl.serve.clicks import UsageRecorder, prefetched
from evercrawl.serve.context import ServerParts
from evercrawl.serve.guard import BODY_BYTES
from evercrawl.serve.problems import RequestError
from evercrawl.serve.tickets import AnswerTicket, HitTicket

_T = TypeVar("_T")


class SeenAnswer(msgspec.Struct, forbid_unknown_fields=True):
    """A report that results were visible for a second: their ticket."""

    ticket: str


class OpenedHit(msgspec.Struct, forbid_unknown_fields=True):
    """A report that a page was opened: its ticket, and that of the results if known."""

    ticket: str
    retrieval: str = ""


async def retrieved(request: Request) -> Response:
    """Record that results were seen; 204 once that is on disk, 202 if the client's network had its share of the day."""
    parts, recorder = _recorder(request)
    given = await _body(request, SeenAnswer)
    written = await recorder.retrieved(parts.tickets.read(given.ticket, AnswerTicket), request.state.network)
    return Response(status_code=204 if written else 202)


async def clicked(request: Request) -> Response:
    """Record that a page was opened; 204 once that is on disk, 202 if the client's network had its share of the day."""
    parts, recorder = _recorder(request)
    given = await _body(request, OpenedHit)
    answer = parts.tickets.read(given.retrieval, AnswerTicket) if given.retrieval else None
    written = await recorder.clicked(parts.tickets.read(given.ticket, HitTicket), answer, request.state.network)
    return Response(status_code=204 if written else 202)


async def go(request: Request) -> Response:
    """Redirect to the page of a ticket, and to no other, once the opening is on disk."""
    Parameters(request)
    parts: ServerParts = request.app.state.context
    hit = parts.tickets.read(str(request.path_params["ticket"]), HitTicket)
    if parts.recorder is not None and request.method == "GET" and not prefetched(request.headers):
        with contextlib.suppress(RequestError, EvercrawlError):  # a full disk must not block the redirect
            await parts.recorder.clicked(hit, network=request.state.network)
    return Response(status_code=303, headers={"location": hit.url})


def _recorder(request: Request) -> tuple[ServerParts, UsageRecorder]:
    Parameters(request)
    parts: ServerParts = request.app.state.context
    if parts.recorder is None:
        raise RequestError(404, "this server records no usage; start it without --no-record")
    return parts, parts.recorder


async def _body(request: Request, kind: type[_T]) -> _T:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > BODY_BYTES:
            raise RequestError(413, f"a request may have {BODY_BYTES} bytes")
    try:
        return json_of(body, kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RequestError(400, f'not understood: {error}; write {{"ticket": ...}}') from error
