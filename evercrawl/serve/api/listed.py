"""Lists: the most important pages and sites."""

from __future__ import annotations

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.rank.top import top_pages
from evercrawl.ask.rank.top_sites import top_sites
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica


@on_replica
def pages(parts: ServerParts, request: Request) -> Response:
    """Answer with the most important pages."""
    most = Parameters(request, "limit").whole("limit", 50, 1, 5000)
    found = parts.replica.once(f"top pages {most}", lambda view: [asdict(each) for each in top_pages(view, most)])
    return answer({"pages": found}, parts.replica.sequence)


@on_replica
def sites(parts: ServerParts, request: Request) -> Response:
    """Answer with the most important sites."""
    most = Parameters(request, "limit").whole("limit", 100, 1, 5000)
    found = parts.replica.once(f"top sites {most}", lambda view: [asdict(each) for each in top_sites(view, most)])
    return answer({"sites": found}, parts.replica.sequence)
