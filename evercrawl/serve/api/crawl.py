"""The crawl as a whole: status, next visits, waits, progress, visits and requests."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import Any, Final

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.changes.past import slot_of
from evercrawl.ask.instants import iso
from evercrawl.ask.measured import measured
from evercrawl.ask.rank.upcoming import UpcomingPage, upcoming
from evercrawl.ask.status import state_of
from evercrawl.config.site_rules import Sites
from evercrawl.errors import NotHeldError
from evercrawl.model.rules.robots_file import ROBOTS_FILE, unreachable
from evercrawl.model.rules.waits import silent_until
from evercrawl.model.view import View
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica, wanted_url
from evercrawl.serve.cursors import CURSOR, NEXT, ListCursors
from evercrawl.serve.problems import RequestError
from evercrawl.serve.sequences import SEQUENCE
from evercrawl.store.disk.lock import holder
from evercrawl.store.journal.events import CHANGED
from evercrawl.types import Outcome

NEXT_S: Final = 5.0
"""How long the list of those who are next may stand; all visited pages are passed for it."""
MEASURED_S: Final = 10.0
"""How long what probes found may stand; the end of the journal is read for it."""


@on_replica
def status(parts: ServerParts, request: Request) -> Response:
    """Return the state of the crawl, as `evercrawl status --json` prints it."""
    Parameters(request)
    found = parts.replica.once("status", lambda view: _state(parts, view))
    running = {"running": holder(parts.replica.directory) is not None, "trouble": parts.replica.trouble}
    return answer({**found, **running}, parts.replica.token)


@on_replica
def following(parts: ServerParts, request: Request) -> Response:
    """Return the pages that fall due next, with their times."""
    given = Parameters(request, "limit", "site", CURSOR)
    most, site = given.whole("limit", 20, 1, 1000), given.text("site", most=253).strip().lower()
    cursors = ListCursors(parts.replica, given, "next", site)
    behind = cursors.number
    name = f"next {most} {site} {behind}"
    found, slot = parts.replica.once(name, lambda view: _upcoming(view, most, site, behind), NEXT_S)
    rows = [asdict(each) | {"rank": each.rank + cursors.told} for each in found]
    following = cursors.behind(len(rows), found[-1].due_at, slot) if len(rows) == most else None
    return answer({"pages": rows, NEXT: following}, parts.replica.token)


def _upcoming(view: View, most: int, site: str, behind: tuple[float, int] | None) -> tuple[list[UpcomingPage], int]:
    """Return pages that fall due, and the slot of the last."""
    found = upcoming(view, most, site, behind)
    return found, view.state.find_one(found[-1].url) if found else 0


@on_replica
def waits(parts: ServerParts, request: Request) -> Response:
    """Return the hosts that must not be visited now, with reason and end."""
    Parameters(request)
    with parts.replica.reading() as view:
        found = _waits(view)
    return answer({"hosts": found}, parts.replica.token)


async def progress(request: Request) -> Response:
    """Return the running crawl's report over its socket; null if no crawl responds."""
    Parameters(request)
    parts: ServerParts = request.app.state.context
    told = await run_in_threadpool(parts.progress)
    return answer({"progress": told}, parts.replica.token)


@on_replica
def recent(parts: ServerParts, request: Request) -> Response:
    """Return the last visits, the newest first: of the crawl, of a site or of one page."""
    given = Parameters(request, "limit", "site", "url", CURSOR)
    most, site, url = given.whole("limit", 20, 1, 256), given.text("site", most=253).strip().lower(), given.text("url")
    cursors = ListCursors(parts.replica, given, "visits", site, url)
    behind = cursors.number[1] if cursors.number is not None else None
    if url:
        found, last = visits_of(parts, wanted_url(url), most, behind)
    else:
        kept = parts.replica.recent(site=site)[::-1]
        chosen = [each for each in kept if behind is None or each[0] < behind][:most]
        found, last = [fields for _, fields in chosen], chosen[-1][0] if chosen else 0
    following = cursors.behind(len(found), 0.0, last) if len(found) == most else None
    return answer({"visits": found, NEXT: following}, parts.replica.token)


def visits_of(parts: ServerParts, url: str, most: int, behind: int | None = None) -> tuple[list[dict[str, Any]], int]:
    """Return the visits to a page before a given one, the newest first, and the number of the oldest."""
    with parts.replica.derived() as (view, derived):
        try:
            visits = derived.runs.of_page(slot_of(view.partition, url))
        except NotHeldError as error:
            raise RequestError(404, str(error)) from error
        visits = (visits if behind is None else visits[visits < behind])[-most:]
        columns = {name: derived.runs.take(name, visits).tolist() for name in VISIT_COLUMNS}
    rows: list[dict[str, Any]] = [
        dict(zip(VISIT_COLUMNS, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ]
    return [visit_fields(row) for row in rows][::-1], int(visits[0]) if len(visits) else 0


VISIT_COLUMNS: Final[tuple[str, ...]] = ("at", "outcome", "status", "flags", "size", "wire")
"""Columns of the derived files of which `visit_fields` tells."""


def visit_fields(row: dict[str, Any]) -> dict[str, Any]:
    """Return a visit of the derived files as fields."""
    return {
        "at": row["at"], "outcome": Outcome(row["outcome"]).label, "status": row["status"],
        "changed": bool(row["flags"] & CHANGED), "bytes": row["wire"], "size_bytes": row["size"],
    }  # fmt: skip


@on_replica
def requested(parts: ServerParts, request: Request) -> Response:
    """Return the recent requests to a host as comma-separated values, for the host's operator."""
    given = Parameters(request, "host", "limit")
    host, most = given.text("host", most=253).strip().lower(), given.whole("limit", 10_000, 1, 100_000)
    with parts.replica.derived() as (view, derived):
        number = view.state.hosts.find(host)
        if number is None:
            raise RequestError(404, f"the crawl knows no host {host[:100]!r}; a host is named as in its URLs")
        rows = list[list[Any]]()
        for stop in range(derived.runs.visits, 0, -_PIECE):
            slots = derived.runs.slice("slot", max(stop - _PIECE, 0), stop)
            here = np.flatnonzero(view.state.known.hosts_of(slots) == number)[::-1][: most - len(rows)]
            visits = (max(stop - _PIECE, 0) + here).astype(np.int64)
            columns = [derived.runs.take(name, visits).tolist() for name in ("at", "outcome", "status", "wire")]
            urls = view.state.urls.get_many(slots[here].tolist())
            rows += [
                [iso(at), url, Outcome(outcome).label, status, wire]
                for (at, outcome, status, wire), url in zip(zip(*columns, strict=True), urls, strict=True)
            ]
            if len(rows) >= most:
                break
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(["at", "url", "outcome", "status", "bytes"])
    table.writerows([[_harmless(each) for each in row] for row in rows])
    headers = {SEQUENCE: parts.replica.token, "content-disposition": 'attachment; filename="requests.csv"'}
    return Response(out.getvalue(), 200, headers, "text/csv; charset=utf-8")


_PIECE: Final = 1 << 16


def _harmless(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula.

    Examples
    --------
    >>> _harmless("=1+1"), _harmless(200)
    ("'=1+1", 200)
    """
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t\r" else cell


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
    silent = {number: (until, "it did not answer while too many requests waited")
              for number, until in silent_until(state).items()}  # fmt: skip
    sites, timed = Sites(view.config.sites), any(section.hours for section in view.config.sites)
    shut = {
        number: (until, "crawl.toml has it asked at other hours")
        for number, host in (enumerate(state.hosts) if timed else ())
        if (until := sites.opens_at(host, view.now)) > view.now
    }
    left = {number: told for number, told in (shut | silent | away).items() if told[0] > view.now}
    seen = _seen(view, sorted(left))
    found = [
        {"host": state.hosts[number], "why": why, "since": seen[number][1], "until": until, "pages": seen[number][0]}
        for number, (until, why) in left.items()
    ]
    left_until = {state.hosts[number]: until for number, (until, _) in left.items()}
    closed = [
        {"host": origin, "why": f"robots.txt could not be fetched: {why}", "since": None, "until": None, "pages": None}
        for origin, why in unreachable(view.partition.directory / ROBOTS_FILE).items()
    ]
    return sorted(found, key=lambda each: left_until[str(each["host"])]) + closed


def _seen(view: View, numbers: list[int]) -> dict[int, tuple[int, float | None]]:
    """Return for some hosts, in order, the number of unread pages, and the time of the last visit."""
    if not numbers:
        return {}
    state, wanted = view.state, np.array(numbers, np.int64)
    read, last = np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.int64)
    for first in range(0, state.records.count, _PIECE):
        rows = state.records.rows[first : min(first + _PIECE, state.records.count)]
        places = np.minimum(np.searchsorted(wanted, rows["host"]), len(wanted) - 1)
        of = wanted[places] == rows["host"]
        read += np.bincount(places[of], minlength=len(wanted))
        np.maximum.at(last, places[of], rows["visited"][of].astype(np.int64))
    left = np.maximum(state.known.pages_of_hosts(len(state.hosts))[wanted].astype(np.int64) - read, 0)
    columns = zip(numbers, left.tolist(), read.tolist(), last.tolist(), strict=True)
    return {number: (pages, state.instant(at) if seen else None) for number, pages, seen, at in columns}
