"""Lists of the most important pages and sites."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.rank.site_states import site_states
from evercrawl.ask.rank.top import top_pages
from evercrawl.ask.rank.top_sites import top_sites
from evercrawl.model.view import View
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica
from evercrawl.serve.cursors import CURSOR, NEXT, ListCursors

MOST: Final = 5000
"""Lines of an answer."""
_MORE: Final = 4  # growth of the ranking when a list continues, so that few rankings serve all of its parts


@on_replica
def pages(parts: ServerParts, request: Request) -> Response:
    """Return the most important pages."""
    given = Parameters(request, "limit", CURSOR)
    most, cursors = given.whole("limit", 50, 1, MOST), ListCursors(parts.replica, given, "pages")
    behind = cursors.number
    found, slot = parts.replica.once(f"top pages {most} {behind}", lambda view: _pages(view, most, behind))
    following = cursors.behind(len(found), float(found[-1]["importance"]), slot) if len(found) == most else None
    return answer({"pages": found, NEXT: following}, parts.replica.token)


def _pages(view: View, most: int, behind: tuple[float, int] | None) -> tuple[list[dict[str, Any]], int]:
    """Return the most important pages after one, and the slot of the last."""
    found = [asdict(each) for each in top_pages(view, most, behind=behind)]
    return found, view.state.find_one(found[-1]["url"]) if found else 0


async def sites(request: Request) -> Response:
    """Return the most important sites; 202 and `pending` while a process reads a long journal for them."""
    parts: ServerParts = request.app.state.context
    given = Parameters(request, "limit", CURSOR)
    limit, cursors = given.whole("limit", 100, 1, MOST), ListCursors(parts.replica, given, "sites")
    most = limit if cursors.text is None else _ranked(cursors.told + limit)
    sequence = parts.replica.sequence
    if parts.replica.is_long:
        told = await parts.heavy.ask(sequence, "top", str(most), "--sites")
        if told is None:
            return answer({"pending": True, "sites": [], NEXT: None}, parts.replica.token, 202)
        found = [{name: value for name, value in row.items() if name != "event"} for row in told["rows"]]
    else:
        found = await run_in_threadpool(
            parts.replica.once, f"top sites {most}", lambda view: [asdict(each) for each in top_sites(view, most)]
        )
    states = await run_in_threadpool(parts.replica.slowly, "sites", site_states)
    found = _behind(found, cursors.text)[:limit]
    rows = [each | (asdict(states[each["site"]]) if each["site"] in states else {}) for each in found]
    last = found[-1] if len(found) == limit else None
    following = cursors.behind(len(rows), last["importance"], last["site"]) if last is not None else None
    return answer({"pending": False, "sites": rows, NEXT: following}, parts.replica.token)


def _ranked(lines: int) -> int:
    """Return the number of sites to rank, with a margin for sites that new events reorder."""
    most = MOST
    while most < lines + MOST // 2:
        most *= _MORE
    return most


def _behind(rows: list[dict[str, Any]], line: tuple[float, str] | None) -> list[dict[str, Any]]:
    """Return the sites after one, whose rank may have changed."""
    if line is None:
        return rows
    key, site = line
    place = next((place for place, row in enumerate(rows, 1) if row["site"] == site and row["importance"] == key), None)
    return rows[place:] if place is not None else [row for row in rows if row["importance"] < key]
