"""The search page, which works without scripts."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from evercrawl.ask.instants import iso
from evercrawl.errors import EvercrawlError
from evercrawl.serve.api.search import NAMES, asked
from evercrawl.serve.asking import Parameters
from evercrawl.serve.clicks import entered
from evercrawl.serve.context import ServerParts
from evercrawl.serve.pages.shell import Static, rendered
from evercrawl.serve.tickets import AnswerTicket

_LOCKED = "Searching from another machine needs the link with the token, or a server started with --public search."


def page(static: Static) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of the page."""

    async def endpoint(request: Request) -> Response:
        html, shown = await run_in_threadpool(_html, static, request)
        recorder = request.app.state.context.recorder
        if shown is not None and recorder is not None and entered(request.headers):
            recorder.beside(recorder.retrieved(shown))
        return HTMLResponse(html)

    return endpoint


def _html(static: Static, request: Request) -> tuple[str, AnswerTicket | None]:
    """Return the page, and what it shows where that may be recorded."""
    parts: ServerParts = request.app.state.context
    given = Parameters(request, *NAMES)
    words, skip = given.text("q", most=500).strip(), given.whole("skip", 0, 0, 10_000)
    found, trouble = None, ""
    if words and not request.state.may_read:
        trouble = _LOCKED
    elif words:
        try:
            found = asked(parts, given, words)
        except EvercrawlError as error:
            trouble = str(error)
    shown = None
    if found is not None and parts.recorder is not None:
        shown = parts.tickets.answer(words, skip, [hit.url for hit in found.hits])
    html = rendered(
        "search", static, request, found=found, trouble=trouble, skip=skip, marked=marked, iso=iso, ago=ago,
        retrieval=parts.tickets.written(shown) if shown else "", tickets=parts.tickets.hits(shown) if shown else [],
    )  # fmt: skip
    return html, shown


def marked(text: str, marks: Sequence[tuple[int, int]]) -> Markup:
    """Return a text as HTML, with what was asked for marked.

    Examples
    --------
    >>> marked("a <b> c", [(2, 5)])
    Markup('a <mark>&lt;b&gt;</mark> c')
    """
    parts, at = list[str](), 0
    for start, end in marks:
        parts += [escape(text[at:start]), Markup("<mark>"), escape(text[start:end]), Markup("</mark>")]
        at = end
    return Markup("").join([*parts, escape(text[at:])])


def ago(at: float) -> str:
    """Return how long ago an instant was, in the largest unit that fits twice."""
    passed_s = max(time.time() - at, 0.0)
    for unit, size_s in (("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)):
        if passed_s >= 2 * size_s:
            return f"{passed_s / size_s:.0f} {unit} ago"
    return f"{passed_s:.0f} seconds ago"
