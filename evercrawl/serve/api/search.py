"""The search."""

from __future__ import annotations

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.search.search import Narrow, SearchAnswer
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica
from evercrawl.serve.problems import RequestError

NAMES = ("q", "site", "language", "fresh", "limit", "skip")
MOST = 100


@on_replica
def search(parts: ServerParts, request: Request) -> Response:
    """Answer with the pages that are about some words."""
    given = Parameters(request, *NAMES)
    words = given.text("q", most=500).strip()
    if not words:
        raise RequestError(400, "q, the words to look for, is missing")
    found = asked(parts, given, words)
    hits = [asdict(hit) for hit in found.hits]
    fields: dict[str, object] = {"hits": hits, "more": found.more, "took_s": round(found.took_s, 6)}
    if parts.recorder is not None:
        shown = parts.tickets.answer(words, given.whole("skip", 0, 0, 10_000), [hit.url for hit in found.hits])
        for hit, ticket in zip(hits, parts.tickets.hits(shown), strict=True):
            hit["ticket"] = ticket
        fields["ticket"] = parts.tickets.written(shown)
    return answer(fields, parts.replica.sequence)


def asked(parts: ServerParts, given: Parameters, words: str) -> SearchAnswer:
    """Return what the search finds."""
    narrow = Narrow(
        site=given.text("site", most=253), language=given.text("language", most=35), fresh=given.share("fresh", 0.0)
    )
    limit, skip = given.whole("limit", 10, 1, MOST), given.whole("skip", 0, 0, 10_000)
    with parts.replica.searching() as search:
        return search.ask(words, narrow, limit=limit, skip=skip)
