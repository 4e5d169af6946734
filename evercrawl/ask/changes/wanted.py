"""Visits that found the changes a query asks for."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.ask.changes.news import NewPages
from evercrawl.ask.changes.question import ChangeQuestion
from evercrawl.model.importance_view import ImportanceView
from evercrawl.model.stored.derived.column_file import grouped
from evercrawl.model.stored.derived.kinds import ChangeKind
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.parse.sites import site as site_of
from evercrawl.types import Flags, Ints, Outcome

_PIECE: Final = 1 << 20


def wanted_visits(view: ImportanceView, runs: Runs, question: ChangeQuestion, upto: int | None = None) -> Ints:
    """Return the numbers of the visits that found the changes a query asks for, in order.

    Parameters
    ----------
    view, runs
        The crawl, and the runs derived from its journal.
    question
        The query; its pattern is ignored.
    upto
        Only visits with smaller numbers count.
    """
    end = runs.visits if upto is None else min(upto, runs.visits)
    found, newcomers = [np.zeros(0, np.int64)], NewPages(view, runs)
    known = view.state.known.count
    first_visit = runs.after(question.after)
    for run in runs.runs:
        first = run.header.first_visit
        start, stop = max(first_visit - first, 0), min(end - first, run.header.visits)
        if start >= stop or not _spans(run.slice("minute"), question):
            continue
        kind, at = run.slice("kind", start, stop), run.slice("at", start, stop)
        rows = np.flatnonzero((kind != ChangeKind.NOTHING) & (at >= question.since) & (at < question.until))
        slots = run.slice("slot", start, stop)[rows]
        keep = slots < known
        sights = keep & (kind[rows] == ChangeKind.FIRST)
        keep[sights] = newcomers.news(slots[sights])
        visits = (first + start + rows)[keep]
        found.append(visits[_own_content(runs, visits, kind[rows][keep])])
    visits = np.concatenate(found)
    return visits[_of_site(view, runs, visits, question.site)] if question.site else visits


def _spans(minute: NDArray[np.uint32], question: ChangeQuestion) -> bool:
    """Return whether visits that began in these minutes may match the query."""
    return len(minute) > 0 and (int(minute[-1]) + 1) * 60.0 > question.since and int(minute[0]) * 60.0 < question.until


def _own_content(runs: Runs, visits: Ints, kind: NDArray[np.uint8]) -> Flags:
    """Return which changes are a page's own: a copy's belong to its original, and truncated content shows no change."""
    outcome = runs.take("outcome", visits)
    own = ~((kind == ChangeKind.FIRST) & (outcome == Outcome.DUPLICATE))
    changed = np.flatnonzero(kind == ChangeKind.CHANGED)
    before = runs.take("outcome", runs.take("before", visits[changed]).astype(np.int64))
    both = (outcome[changed] == Outcome.DUPLICATE) & (before == Outcome.DUPLICATE)
    own[changed] = ~both & ((outcome[changed] == Outcome.TRUNCATED) == (before == Outcome.TRUNCATED))
    found: Flags = own
    return found


def _of_site(view: ImportanceView, runs: Runs, visits: Ints, name: str) -> Flags:
    """Return which visits are of pages of a site or host."""
    wanted, slots = name.strip().lower().rstrip("."), runs.take("slot", visits).astype(np.int64)
    hosts, where = np.unique(_known_rows(view, slots)["host"], return_inverse=True)
    names = [_without_port(view.state.hosts[int(host)]) for host in hosts]
    of_site = np.array([wanted in (host, site_of(host)) for host in names], np.bool_)
    found: Flags = of_site[where] if len(visits) else np.zeros(0, np.bool_)
    return found


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name if port.isdigit() and name else host


def _known_rows(view: ImportanceView, slots: Ints) -> NDArray[Any]:
    """Return the rows of known URLs by slots, shape (n,); the file is read in pieces."""
    log = view.state.known
    rows = np.zeros(len(slots), log.rows(0, 0).dtype)
    for piece, here in grouped(slots // _PIECE):
        rows[here] = log.rows(piece * _PIECE, (piece + 1) * _PIECE)[slots[here] - piece * _PIECE]
    return rows
