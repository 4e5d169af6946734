"""One page: why it is visited when it is, and its content."""

from __future__ import annotations

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.content import NotHeldError, content
from evercrawl.ask.why.why import why
from evercrawl.serve.asking import SEQUENCE, Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica, wanted_url
from evercrawl.serve.problems import RequestError

SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What an archived page may do in a browser: nothing."""


@on_replica
def explained(parts: ServerParts, request: Request) -> Response:
    """Answer with all that decides when a page is visited, as `evercrawl why --json` tells it."""
    url = wanted_url(Parameters(request, "url").text("url", most=8000))
    with parts.replica.derived() as (view, derived):
        found = why(view, url, derived=derived)
    return answer(asdict(found), parts.replica.sequence)


@on_replica
def stored(parts: ServerParts, request: Request) -> Response:
    """Answer with the newest stored body of a page, which a browser shows in a sandbox."""
    url = wanted_url(Parameters(request, "url").text("url", most=8000))
    with parts.replica.reading() as view:
        try:
            found = content(view.partition, url, view.config, view.now)
        except NotHeldError as error:
            raise RequestError(404, str(error)) from error
    headers = {
        "content-security-policy": SANDBOX,
        SEQUENCE: str(parts.replica.sequence),
        "content-disposition": "inline" if found.mime.startswith(("text/", "application/xhtml")) else "attachment",
    }
    return Response(found.body, 200, headers, found.content_type or "application/octet-stream")
