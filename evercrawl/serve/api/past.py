"""What happened: changes, versions of a page, links to it, and the crawl minute by minute."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.changes.listing import changes
from evercrawl.ask.changes.past import page_history, slot_of
from evercrawl.ask.changes.question import ChangeQuestion, moment
from evercrawl.ask.changes.texts import VersionTexts, WordDiff, diff_of
from evercrawl.ask.changes.versions import version_visits
from evercrawl.ask.content import NotHeldError
from evercrawl.ask.why.inlinks import inlinks
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica, wanted_url
from evercrawl.serve.problems import RequestError

_DIFFS = 50


@on_replica
def changed(parts: ServerParts, request: Request) -> Response:
    """Answer with what changed, the most important first, with the words of the first few where `diff` is 1."""
    given = Parameters(request, "since", "site", "pattern", "limit", "all", "diff")
    question = ChangeQuestion(
        since=moment(given.text("since", "1d", 40), time.time(), "since"),
        site=given.text("site", most=253),
        pattern=given.text("pattern", most=1000),
        limit=given.whole("limit", 50, 1, 1000),
        all=bool(given.whole("all", 0, 0, 1)),
    )
    with_diff = bool(given.whole("diff", 0, 0, 1))
    with parts.replica.derived() as (view, derived):
        found = changes(view, derived.runs, question, derived.events)
        texts = VersionTexts(view.partition, derived.runs)
        diffs = [diff_of(texts, each) if with_diff and i < _DIFFS else None for i, each in enumerate(found.changes)]
    rows = [asdict(change) | {"diff": _diff(diff)} for change, diff in zip(found.changes, diffs, strict=True)]
    told = {"changes": rows, "pages": found.pages, "noise": found.noise, "unjudged": found.unjudged}
    return answer(told, parts.replica.token)


@on_replica
def versions(parts: ServerParts, request: Request) -> Response:
    """Answer with the versions of a page, the newest first, and how the newest came about word by word."""
    url = wanted_url(Parameters(request, "url").text("url", most=8000))
    with parts.replica.derived() as (view, derived):
        try:
            found = page_history(view.partition, derived, url)
        except NotHeldError as error:
            raise RequestError(404, str(error)) from error
        brought = version_visits(derived.runs, slot_of(view.partition, url))[-2:]
        texts = VersionTexts(view.partition, derived.runs)
        diff = texts.diff(brought[0], brought[1]) if len(brought) == 2 else None
    rows = [asdict(each) | {"outcome": each.outcome.label, "digest": f"{each.digest:x}"} for each in found.versions]
    away = {"away_at": found.away_at, "away_status": found.away_status, "visits": found.visits}
    return answer({"url": url, "versions": rows, "diff": _diff(diff), **away}, parts.replica.token)


@on_replica
def linking(parts: ServerParts, request: Request) -> Response:
    """Answer with the pages that link to a page."""
    given = Parameters(request, "url", "limit")
    url, most = wanted_url(given.text("url", most=8000)), given.whole("limit", 100, 1, 1000)
    with parts.replica.derived() as (view, derived):
        try:
            slot = slot_of(view.partition, url)
        except NotHeldError as error:
            raise RequestError(404, str(error)) from error
        sources = inlinks(view.state, derived.runs, slot).source
        best = sorted(sources.tolist(), key=lambda each: -float(view.importance[each]))[:most]
        rows = [{"url": view.state.urls.get(each), "importance": float(view.importance[each])} for each in best]
    return answer({"url": url, "count": len(sources), "pages": rows}, parts.replica.token)


@on_replica
def minutes(parts: ServerParts, request: Request) -> Response:
    """Answer with visits, changes, errors and bytes, minute by minute."""
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
