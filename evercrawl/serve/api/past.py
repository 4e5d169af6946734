"""History: changes, versions of a page, links to it, and the crawl minute by minute."""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from typing import Any, Final

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.changes.listing import changes, rank_of
from evercrawl.ask.changes.past import page_history, slot_of
from evercrawl.ask.changes.question import ChangeQuestion, moment
from evercrawl.ask.changes.texts import VersionTexts, WordDiff, diff_of
from evercrawl.ask.changes.versions import version_visits
from evercrawl.ask.rank.site_states import of_site
from evercrawl.ask.why.inlinks import inlinks
from evercrawl.errors import NotHeldError
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.model.view import View
from evercrawl.serve.api.crawl import VISIT_COLUMNS, visit_fields
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica, wanted_url
from evercrawl.serve.cursors import CURSOR, NEXT, ListCursors
from evercrawl.serve.problems import RequestError
from evercrawl.types import Ints

_DIFFS = 50
_PIECE: Final = 1 << 16


@on_replica
def changed(parts: ServerParts, request: Request) -> Response:
    """Return the changes, the most important first, with the words of the first few if `diff` is 1."""
    given = Parameters(request, "since", "site", "pattern", "limit", "all", "diff", CURSOR)
    question = ChangeQuestion(
        since=moment(given.text("since", "1d", 40), time.time(), "since"),
        site=given.text("site", most=253),
        pattern=given.text("pattern", most=1000),
        limit=given.whole("limit", 50, 1, 1000),
        all=bool(given.whole("all", 0, 0, 1)),
    )
    with_diff = bool(given.whole("diff", 0, 0, 1))
    asked = given.text("since", "1d", 40), question.site, question.pattern, question.all
    cursors = ListCursors(parts.replica, given, "changes", *asked)
    with parts.replica.derived() as (view, derived):
        found = changes(view, derived.runs, question, derived.events, behind=cursors.number)
        texts = VersionTexts(view.partition, derived.runs)
        diffs = [diff_of(texts, each) if with_diff and i < _DIFFS else None for i, each in enumerate(found.changes)]
    rows: list[dict[str, Any]] = [
        asdict(change) | {"diff": _diff(diff)} for change, diff in zip(found.changes, diffs, strict=True)
    ]
    told: dict[str, Any] = {"changes": rows, "pages": found.pages, "noise": found.noise, "unjudged": found.unjudged}
    told[NEXT] = cursors.behind(len(rows), *rank_of(found.changes[-1])) if len(rows) == question.limit else None
    return answer(told, parts.replica.token)


@on_replica
def versions(parts: ServerParts, request: Request) -> Response:
    """Return the versions of a page, the newest first, and the word-level diff of the newest."""
    given = Parameters(request, "url", "limit", CURSOR)
    url, most = wanted_url(given.text("url", most=8000)), given.whole("limit", 1000, 1, 1000)
    cursors = ListCursors(parts.replica, given, "versions", url)
    behind = cursors.number
    with parts.replica.derived() as (view, derived):
        try:
            found = page_history(view.partition, derived, url)
        except NotHeldError as error:
            raise RequestError(404, str(error)) from error
        brought = version_visits(derived.runs, slot_of(view.partition, url))[-2:]
        texts = VersionTexts(view.partition, derived.runs)
        diff = texts.diff(brought[0], brought[1]) if len(brought) == 2 else None
    chosen = [each for each in found.versions if behind is None or each.visit < behind[1]][:most]
    rows = [asdict(each) | {"outcome": each.outcome.label, "digest": f"{each.digest:x}"} for each in chosen]
    away: dict[str, Any] = {"away_at": found.away_at, "away_status": found.away_status, "visits": found.visits}
    away[NEXT] = cursors.behind(len(rows), chosen[-1].at, chosen[-1].visit) if len(rows) == most else None
    return answer({"url": url, "versions": rows, "diff": _diff(diff), **away}, parts.replica.token)


@on_replica
def linking(parts: ServerParts, request: Request) -> Response:
    """Return the pages that link to a page."""
    given = Parameters(request, "url", "limit", CURSOR)
    url, most = wanted_url(given.text("url", most=8000)), given.whole("limit", 100, 1, 1000)
    cursors = ListCursors(parts.replica, given, "inlinks", url)
    with parts.replica.derived() as (view, derived):
        try:
            slot = slot_of(view.partition, url)
        except NotHeldError as error:
            raise RequestError(404, str(error)) from error
        sources = inlinks(view.state, derived.runs, slot).source
        ranked = sorted((-float(view.importance[each]), each) for each in sources.tolist())
        behind = cursors.number
        best = [each for each in ranked if behind is None or each > (-behind[0], behind[1])][:most]
        rows = [{"url": view.state.urls.get(each), "importance": -minus} for minus, each in best]
    following = cursors.behind(len(rows), -best[-1][0], best[-1][1]) if len(rows) == most else None
    return answer({"url": url, "count": len(sources), "pages": rows, NEXT: following}, parts.replica.token)


@on_replica
def history(parts: ServerParts, request: Request) -> Response:
    """Return all visits, the newest first: of a period, of a site, or of one page."""
    given = Parameters(request, "since", "until", "site", "url", "limit", CURSOR)
    now, most = time.time(), given.whole("limit", 100, 1, 1000)
    since, until = given.text("since", most=40), given.text("until", most=40)
    span = (moment(since, now, "since") if since else -math.inf, moment(until, now, "until") if until else math.inf)
    site, raw = given.text("site", most=253).strip().lower(), given.text("url", most=8000)
    url = wanted_url(raw) if raw else ""
    cursors = ListCursors(parts.replica, given, "history", since, until, site, url)
    before = cursors.number
    with parts.replica.derived() as (view, derived):
        try:
            visits = visits_before(
                view, derived.runs, before[1] if before else derived.runs.visits, span, site, url, most
            )
        except NotHeldError as error:
            raise RequestError(404, str(error)) from error
        columns = {name: derived.runs.take(name, visits).tolist() for name in (*VISIT_COLUMNS, "slot")}
        urls = view.state.urls.get_many(columns.pop("slot"))
    fields = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    rows = [{"url": one} | visit_fields(each) for one, each in zip(urls, fields, strict=True)]
    following = cursors.behind(len(rows), 0.0, int(visits[-1])) if len(rows) == most else None
    return answer({"visits": rows, NEXT: following}, parts.replica.token)


def visits_before(view: View, runs: Runs, stop: int, span: tuple[float, float], site: str, url: str, most: int) -> Ints:
    """Return the last visits before one, the newest first, shape (at most `most`,), by their numbers.

    Parameters
    ----------
    view, runs
        The crawl, and its derived files.
    stop
        Number of the visit to stop before.
    span
        Only visits that began in [since, until), s since the epoch.
    site, url
        A registrable domain or host, and a page; "" for all.

    Raises
    ------
    NotHeldError
        The page is not known.
    """
    if url:
        numbers = runs.of_page(slot_of(view.partition, url))
        numbers = numbers[numbers < stop]
        at = runs.take("at", numbers)
        return numbers[(at >= span[0]) & (at < span[1])][::-1][:most]
    found = list[Ints]()
    left = most
    wanted = of_site(view.state, np.arange(len(view.state.hosts), dtype=np.uint32), site) if site else None
    while stop > 0 and left > 0:
        start = max(stop - _PIECE, 0)
        at = runs.slice("at", start, stop)
        here = (at >= span[0]) & (at < span[1])
        if wanted is not None:
            here &= wanted[view.state.known.hosts_of(runs.slice("slot", start, stop))]
        found.append((start + np.flatnonzero(here)[::-1][:left]).astype(np.int64))
        left -= len(found[-1])
        if len(at) and float(at.max()) < span[0]:
            break
        stop = start
    return np.concatenate(found) if found else np.zeros(0, np.int64)


@on_replica
def minutes(parts: ServerParts, request: Request) -> Response:
    """Return visits, changes, errors and bytes by minute."""
    given = Parameters(request, "since")
    now = time.time()
    since = moment(given.text("since", "1h", 40), now, "since")
    with parts.replica.derived() as (_, derived):
        found = derived.minutes(since, now + 60.0)
    columns = {name: values.tolist() for name, values in found.items()}
    rows = [dict(zip(columns, each, strict=True)) for each in zip(*columns.values(), strict=True)]
    return answer({"minutes": [{"at": row.pop("minute") * 60, **row} for row in rows]}, parts.replica.token)


def _diff(diff: WordDiff | None) -> dict[str, Any] | None:
    return None if diff is None else asdict(diff)
