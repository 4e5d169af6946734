"""Search results and suggestions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.search.facets import SearchFacets
from evercrawl.ask.search.search import Narrow, SearchAnswer
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica
from evercrawl.serve.cursors import CURSOR, NEXT, ListCursors
from evercrawl.serve.problems import RequestError

NAMES = ("q", "site", "language", "fresh", "fetched_within", "limit", "skip")
MOST = 100
MOST_SKIPPED: Final = 10_000
"""Hits before those that are told."""


@on_replica
def search(parts: ServerParts, request: Request) -> Response:
    """Return the pages that match a query."""
    given = Parameters(request, *NAMES, "facets", CURSOR)
    words = given.text("q", most=500).strip()
    if not words:
        raise RequestError(400, "q, the words to look for, is missing")
    skip = given.whole("skip", 0, 0, MOST_SKIPPED)
    asked_for = (given.text(name) for name in ("site", "language", "fresh", "fetched_within"))
    cursors = ListCursors(parts.replica, given, "search", words, *asked_for)
    if cursors.number is not None:
        if skip or cursors.told > MOST_SKIPPED:
            raise RequestError(400, f"{CURSOR} goes without skip, and as far as {MOST_SKIPPED:,} hits")
        skip = cursors.told
    counted = bool(given.whole("facets", 0, 0, 1))
    found = asked(parts, given, words, skip=skip, counted=counted, behind=cursors.number)
    hits = [asdict(hit) for hit in found.hits]
    fields: dict[str, object] = {"hits": hits, "more": found.more, "took_s": round(found.took_s, 6)}
    fields["instead"] = found.instead or None
    goes_on = found.more and found.last is not None and skip + len(hits) <= MOST_SKIPPED
    fields[NEXT] = cursors.behind(skip - cursors.told + len(hits), *found.last) if goes_on and found.last else None
    if found.facets is not None:
        fields["facets"] = written(found.facets)
    if parts.recorder is not None:
        shown = parts.tickets.answer(words, skip, [hit.url for hit in found.hits])
        for hit, ticket in zip(hits, parts.tickets.hits(shown), strict=True):
            hit["ticket"] = ticket
        fields["ticket"] = parts.tickets.written(shown)
    return answer(fields, parts.replica.token)


@on_replica
def suggest(parts: ServerParts, request: Request) -> Response:
    """Return completions of a query being typed."""
    given = Parameters(request, "q", "limit")
    text, most = given.text("q", most=500), given.whole("limit", 8, 1, 20)
    with parts.replica.searching() as search:
        found = search.suggest(text.lstrip(), most)
    return answer({"suggestions": found}, parts.replica.token)


def asked(
    parts: ServerParts,
    given: Parameters,
    words: str,
    *,
    skip: int,
    counted: bool = False,
    behind: tuple[float, int] | None = None,
) -> SearchAnswer:
    """Return the results of a search; `skip`, `counted` and `behind` as for `Search.ask`."""
    narrow = Narrow(
        site=given.text("site", most=253), language=given.text("language", most=35), fresh=given.share("fresh", 0.0),
        fetched_within_s=given.duration("fetched_within"),
    )  # fmt: skip
    limit = given.whole("limit", 10, 1, MOST)
    with parts.replica.searching() as search:
        return search.ask(words, narrow, limit=limit, skip=skip, counted=counted, behind=behind)


def written(found: SearchFacets) -> dict[str, object]:
    """Return facets for JSON: by the parameter that narrows, each value with its number of pages."""
    groups = (
        ("site", found.sites), ("language", found.languages),
        ("fetched_within", {lasting(age_s): count for age_s, count in found.fetched_within_s.items()}),
        ("fresh", found.fresh),
    )  # fmt: skip
    counted = {name: [{"value": value, "pages": pages} for value, pages in of.items()] for name, of in groups}
    return {"pages": found.pages, **counted}


def lasting(seconds: float) -> str:
    """Return a duration in the form the parameter takes.

    Examples
    --------
    >>> lasting(3600.0), lasting(7 * 86400.0)
    ('1h', '7d')
    """
    return f"{seconds / 86_400:.0f}d" if seconds >= 86_400 else f"{seconds / 3_600:.0f}h"
