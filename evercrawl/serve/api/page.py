"""One page: the reasons for its next visit, and its content."""

from __future__ import annotations

import re
import time
from dataclasses import asdict
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.changes.past import content_at
from evercrawl.ask.changes.question import moment
from evercrawl.ask.content import content
from evercrawl.ask.why.crossing import value_curve
from evercrawl.ask.why.why import why
from evercrawl.errors import NotHeldError
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica, wanted_url
from evercrawl.serve.problems import RequestError
from evercrawl.serve.sequences import SEQUENCE

SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What an archived page may do in a browser: nothing."""


_SHOWN_IN: Final = frozenset({"document", "iframe", "frame", "empty"})
_TYPE: Final = re.compile(r"[!-.0-~]++/[\x20-\x7e]++")


@on_replica
def explained(parts: ServerParts, request: Request) -> Response:
    """Return everything that decides when a page is visited, as `evercrawl why --json` prints it, and its usage."""
    url = wanted_url(Parameters(request, "url").text("url", most=8000))
    with parts.replica.derived() as (view, derived):
        found, use = why(view, url, derived=derived), parts.use.of(view, url)
        told = None
        if found.worth is not None and found.history is not None:
            told = parts.replica.appointment(view, view.state.find_one(url))
    return answer(asdict(found) | {"use": asdict(use), "appointment": told}, parts.replica.token)


@on_replica
def rising(parts: ServerParts, request: Request) -> Response:
    """Return the worth of a visit over time, from the last one until it crosses the price."""
    url = wanted_url(Parameters(request, "url").text("url", most=8000))
    with parts.replica.reading() as view:
        found = value_curve(view, url)
    return answer(asdict(found), parts.replica.token)


@on_replica
def stored(parts: ServerParts, request: Request) -> Response:
    """Return the newest stored body of a page, or that at an instant, which browsers show in a sandbox."""
    given = Parameters(request, "url", "at")
    url, at = wanted_url(given.text("url", most=8000)), given.text("at", most=40)
    try:
        if at:
            with parts.replica.derived() as (view, derived):
                found = content_at(view.partition, derived, url, moment(at, time.time(), "at"))
        else:
            with parts.replica.reading() as view:
                found = content(view.partition, url, view.config, view.now)
    except NotHeldError as error:
        raise RequestError(404, str(error)) from error
    if request.headers.get("sec-fetch-dest", "document") not in _SHOWN_IN:
        raise RequestError(403, "a stored copy can be viewed, but not run as part of a page")
    headers = {
        "content-security-policy": SANDBOX,
        SEQUENCE: parts.replica.token,
        "content-disposition": "inline" if found.mime.startswith(("text/", "application/xhtml")) else "attachment",
    }
    return Response(found.body, 200, headers, _served_type(found.content_type))


def _served_type(said: str) -> str:
    r"""Return the media type for a copy, cleaned so that it cannot inject a header field.

    Examples
    --------
    >>> _served_type("text/html; charset=utf-8"), _served_type("text/html\rSet-Cookie: a=b")
    ('text/html; charset=utf-8', 'application/octet-stream')
    """
    return said if _TYPE.fullmatch(said) else "application/octet-stream"
