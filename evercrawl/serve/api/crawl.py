"""The crawl as a whole: its state, and who is asked next."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.measured import measured
from evercrawl.ask.rank.upcoming import upcoming
from evercrawl.ask.status import state_of
from evercrawl.model.rules.robots_file import ROBOTS_FILE, unreachable
from evercrawl.model.view import View
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica
from evercrawl.store.disk.lock import holder

NEXT_S: Final = 5.0
"""How long the list of those who are next may stand; all visited pages are passed for it."""
MEASURED_S: Final = 10.0
"""How long what probes found may stand; the end of the journal is read for it."""


@on_replica
def status(parts: ServerParts, request: Request) -> Response:
    """Answer with the state of the crawl, as `evercrawl status --json` tells it."""
    Parameters(request)
    found = parts.replica.once("status", lambda view: _state(parts, view))
    running = {"running": holder(parts.replica.directory) is not None, "trouble": parts.replica.trouble}
    return answer({**found, **running}, parts.replica.sequence)


@on_replica
def following(parts: ServerParts, request: Request) -> Response:
    """Answer with the pages that fall due next, and when."""
    most = Parameters(request, "limit").whole("limit", 20, 1, 1000)
    found = parts.replica.once(f"next {most}", lambda view: upcoming(view, most), NEXT_S)
    return answer({"pages": [asdict(each) for each in found]}, parts.replica.sequence)


@on_replica
def waits(parts: ServerParts, request: Request) -> Response:
    """Answer with the hosts that are left alone, why, and until when."""
    Parameters(request)
    with parts.replica.reading() as view:
        found = _waits(view)
    return answer({"hosts": found}, parts.replica.sequence)


@on_replica
def recent(parts: ServerParts, request: Request) -> Response:
    """Answer with the last visits, the newest first."""
    most = Parameters(request, "limit").whole("limit", 20, 1, 256)
    found = [fields for _, fields in parts.replica.recent()][::-1][:most]
    return answer({"visits": found}, parts.replica.sequence)


def _state(parts: ServerParts, view: View) -> dict[str, Any]:
    probed = parts.replica.rarely("measured", lambda seen: measured(seen.partition), MEASURED_S)
    found = state_of(view.partition, view, view.now, probed)
    measures = {
        name: of._asdict() if of is not None else None
        for name, of in (("measured", found.measured), ("measured_by_importance", found.measured_by_importance))
    }
    return {**asdict(found), **measures}


def _waits(view: View) -> list[dict[str, Any]]:
    state = view.state
    away = [
        {"host": state.hosts[number], "why": "errors in a row", "until": until}
        for number, until in state.away.items()
        if until > view.now
    ]
    closed = [
        {"host": origin, "why": f"robots.txt could not be fetched: {why}", "until": None}
        for origin, why in unreachable(view.partition.directory / ROBOTS_FILE).items()
    ]
    return sorted(away, key=lambda each: float(each["until"])) + closed  # type: ignore[arg-type]
