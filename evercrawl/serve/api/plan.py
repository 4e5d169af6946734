"""Predicted freshness by budget."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts


async def planned(request: Request) -> Response:
    """Return the plan as `evercrawl plan --json` prints it; 202 and `pending` while it is computed."""
    parts: ServerParts = request.app.state.context
    site = Parameters(request, "site").text("site", most=253).strip()
    sequence = parts.replica.sequence
    found = await parts.heavy.ask(sequence, "plan", *([f"--site={site}"] if site else []))
    if found is None:
        return answer({"pending": True}, parts.replica.token, 202)
    return answer({"pending": False} | found, parts.replica.token)
