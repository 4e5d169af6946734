"""Lists: the most important pages and sites."""

from __future__ import annotations

from dataclasses import asdict

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.rank.site_states import site_states
from evercrawl.ask.rank.top import top_pages
from evercrawl.ask.rank.top_sites import top_sites
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica


@on_replica
def pages(parts: ServerParts, request: Request) -> Response:
    """Answer with the most important pages."""
    most = Parameters(request, "limit").whole("limit", 50, 1, 5000)
    found = parts.replica.once(f"top pages {most}", lambda view: [asdict(each) for each in top_pages(view, most)])
    return answer({"pages": found}, parts.replica.token)


async def sites(request: Request) -> Response:
    """Answer with the most important sites; with 202 and `pending` while a process reads a long journal for them."""
    parts: ServerParts = request.app.state.context
    most = Parameters(request, "limit").whole("limit", 100, 1, 5000)
    sequence = parts.replica.sequence
    if parts.replica.is_long:
        told = await parts.heavy.ask(sequence, "top", str(most), "--sites")
        if told is None:
            return answer({"pending": True, "sites": []}, parts.replica.token, 202)
        found = [{name: value for name, value in row.items() if name != "event"} for row in told["rows"]]
    else:
        found = await run_in_threadpool(
            parts.replica.once, f"top sites {most}", lambda view: [asdict(each) for each in top_sites(view, most)]
        )
    states = await run_in_threadpool(parts.replica.slowly, "sites", site_states)
    found = [each | (asdict(states[each["site"]]) if each["site"] in states else {}) for each in found]
    return answer({"pending": False, "sites": found}, parts.replica.token)
