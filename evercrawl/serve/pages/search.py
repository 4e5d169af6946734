"""The search page, which works without JavaScript."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, cast
from urllib.parse import urlencode

import numpy as np
from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from evercrawl.ask.instants import iso
from evercrawl.ask.search.facets import SearchFacets
from evercrawl.ask.search.search import SearchAnswer
from evercrawl.change.gamma import rate
from evercrawl.errors import EvercrawlError
from evercrawl.serve.api.search import MOST, MOST_SKIPPED, NAMES, asked, written
from evercrawl.serve.asking import Parameters
from evercrawl.serve.clicks import entered
from evercrawl.serve.context import ServerParts
from evercrawl.serve.pages.shell import Static, rendered
from evercrawl.serve.tickets import AnswerTicket

_TITLES: Final = {"site": "Site", "language": "Language", "fetched_within": "Seen within", "fresh": "Still so"}
LOCKED = "Searching from another machine needs the link with the token, or a server started with --public search."


def page(static: Static) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of the page."""

    async def endpoint(request: Request) -> Response:
        html, shown = await run_in_threadpool(_html, static, request)
        recorder = request.app.state.context.recorder
        if shown is not None and recorder is not None and entered(request.headers):
            recorder.beside(recorder.retrieved(shown, request.state.network))
        return HTMLResponse(html)

    return endpoint


def _html(static: Static, request: Request) -> tuple[str, AnswerTicket | None]:
    """Return the page, and the results shown if they may be recorded."""
    parts: ServerParts = request.app.state.context
    given = Parameters(request, *NAMES)
    words, skip = given.text("q", most=500).strip(), given.whole("skip", 0, 0, MOST_SKIPPED)
    found, trouble = None, ""
    if words and not request.state.may_read:
        trouble = LOCKED
    elif words:
        try:
            found = asked(parts, given, words, skip=skip, counted=True)
        except EvercrawlError as error:
            trouble = str(error)
    shown = None
    if found is not None and parts.recorder is not None:
        shown = parts.tickets.answer(words, skip, [hit.url for hit in found.hits])
    narrowed = {name: given.text(name) for name in NAMES if name not in ("q", "skip") and given.text(name)}
    html = rendered(
        "search", static, request, found=found, trouble=trouble, skip=skip, marked=marked, iso=iso, ago=ago,
        narrowed=narrowed, groups=_groups(found.facets) if found and found.facets else [], named=_named,
        here=partial(_here, words, narrowed), rates=_rates(parts, found) if found else [],
        limit=given.whole("limit", 10, 1, MOST),
        retrieval=parts.tickets.written(shown) if shown else "", tickets=parts.tickets.hits(shown) if shown else [],
    )  # fmt: skip
    return html, shown


def _groups(counted: SearchFacets) -> list[tuple[str, str, list[tuple[str, str, int]]]]:
    """Return the filters of results: parameter and title; values with their names and numbers of pages."""
    found = [
        (name, title, [(str(each["value"]), _named(name, str(each["value"])), each["pages"]) for each in values])
        for name, title in _TITLES.items()
        if (values := cast("list[dict[str, Any]]", written(counted)[name]))
    ]
    return [each for each in found if len(each[2]) > 1 or each[0] in ("fetched_within", "fresh")]


def _named(name: str, value: str) -> str:
    """Return the label of a filter.

    Examples
    --------
    >>> _named("fresh", "0.9"), _named("fetched_within", "1h"), _named("site", "a.example")
    ('90 % or more', 'the last 1h', 'a.example')
    """
    if name == "fresh":
        return f"{100 * float(value):.0f} % or more"
    return f"the last {value}" if name == "fetched_within" else value


def _here(words: str, narrowed: dict[str, str], **other: Any) -> str:
    """Return the address of this search with changed parameters."""
    return _address(words, narrowed, other)


def _address(words: str, narrowed: dict[str, str], other: dict[str, Any]) -> str:
    """Return the address of the same query with other parameters; None omits one."""
    given = {"q": words, **narrowed, **other}
    return "/?" + urlencode({name: value for name, value in given.items() if value not in (None, "", 0)})


def _rates(parts: ServerParts, found: SearchAnswer) -> list[float]:
    """Return the estimated change rate of each hit, by which its display fades: 1/s."""
    with parts.replica.reading() as view:
        slots = np.array([view.state.find_one(hit.url) for hit in found.hits], np.uint32)
        if not len(slots) or (slots >= view.state.known.count).any():
            return [0.0] * len(slots)
        pages = view.columns(slots)
        return [float(f"{each:.4g}") for each in rate(pages.shape, pages.scale_s)]


def marked(text: str, marks: Sequence[tuple[int, int]]) -> Markup:
    """Return a text as HTML, with the query's words marked.

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
    """Return the age of an instant, in the largest unit that fits twice."""
    passed_s = max(time.time() - at, 0.0)
    for unit, size_s in (("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)):
        if passed_s >= 2 * size_s:
            return f"{passed_s / size_s:.0f} {unit} ago"
    return f"{passed_s:.0f} seconds ago"
