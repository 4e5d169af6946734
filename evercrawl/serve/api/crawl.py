"""The crawl as a whole: its state, and who is asked next."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.measured import measured
from evercrawl.ask.rank.upcoming import upcoming
from evercrawl.ask.status import state_of
from evercrawl.config.site_rules import Sites
from evercrawl.model.rules.robots_file import ROBOTS_FILE, unreachable
from evercrawl.model.rules.waits import silent_until
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
    return answer({**found, **running}, parts.replica.token)


@on_replica
def following(parts: ServerParts, request: Request) -> Response:
    """Answer with the pages that fall due next, and when."""
    most = Parameters(request, "limit").whole("limit", 20, 1, 1000)
    found = parts.replica.once(f"next {most}", lambda view: upcoming(view, most), NEXT_S)
    return answer({"pages": [asdict(each) for each in found]}, parts.replica.token)


@on_replica
def waits(parts: ServerParts, request: Request) -> Response:
    """Answer with the hosts that are left alone, why, and until when."""
    Parameters(request)
    with parts.replica.reading() as view:
        found = _waits(view)
    return answer({"hosts": found}, parts.replica.token)


async def progress(request: Request) -> Response:
    """Answer with what the running crawl says of itself, over the line to it; null where none answers."""
    Parameters(request)
    parts: ServerParts = request.app.state.context
    told = await run_in_threadpool(parts.progress)
    return answer({"progress": told}, parts.replica.token)


@on_replica
def recent(parts: ServerParts, request: Request) -> Response:
    """Answer with the last visits, the newest first."""
    most = Parameters(request, "limit").whole("limit", 20, 1, 256)
    found = [fields for _, fields in parts.replica.recent()][::-1][:most]
    return answer({"visits": found}, parts.replica.token)


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
    away = {number: (until, "errors in a row, or its own wish") for number, until in state.away.items()}
    silent = {number: (until, "it said nothing while too many were waited for")
              for number, until in silent_until(state).items()}  # fmt: skip
    found = [
        {"host": state.hosts[number], "why": why, "until": until, "pages": _unread(view, number)}
        for number, (until, why) in (silent | away).items()
        if until > view.now
    ]
    sites = Sites(view.config.sites)
    shut = [
        {"host": host, "why": "crawl.toml has it asked at other hours", "until": until, "pages": _unread(view, number)}
        for number, host in (enumerate(state.hosts) if view.config.sites else ())
        if (until := sites.opens_at(host, view.now)) > view.now
    ]
    closed = [
        {"host": origin, "why": f"robots.txt could not be fetched: {why}", "until": None, "pages": None}
        for origin, why in unreachable(view.partition.directory / ROBOTS_FILE).items()
    ]
    return sorted(found + shut, key=lambda each: float(each["until"])) + closed  # type: ignore[arg-type]


def _unread(view: View, number: int) -> int:
    """Return how many known pages of a host were never visited."""
    rows = view.state.records.rows[: view.state.records.count]
    known = int(view.state.known.pages_of_hosts(len(view.state.hosts))[number])
    return max(known - int(np.count_nonzero(rows["host"] == number)), 0)
