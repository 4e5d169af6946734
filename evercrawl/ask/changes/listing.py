"""Which pages changed: one entry for each, the most important first, or every change in the order of the journal."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.ask.changes.news import NewPages
from evercrawl.ask.changes.noises import Noises
from evercrawl.ask.changes.page_change import KINDS, ChangeList, PageChange
from evercrawl.ask.changes.question import ChangeQuestion
from evercrawl.change.extent import extents
from evercrawl.model.stored.derived.kinds import NONE, ChangeKind, brings_version
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.model.view import View
from evercrawl.parse.sites import site as site_of
from evercrawl.types import Flags, Floats, Ints, Outcome

LEAST_EXTENT: Final = 0.02
"""What the smallest change counts beside one of the whole page."""
_PIECE: Final = 1 << 20
_URLS: Final = 4096


class FoundChanges(NamedTuple):
    """Changes of pages, shape (n,) each: visits that found the last and the first of each, and how many there were."""

    last: Ints
    first: Ints
    times: Ints
    slot: Ints


class ToldChanges(NamedTuple):
    """What is told of changes, shape (n,) each: kind, versions after and before (NONE for none), extent."""

    kind: NDArray[np.uint8]
    version: Ints
    before: Ints
    extent: Floats


def changes(view: View, runs: Runs, question: ChangeQuestion, upto: int) -> ChangeList:
    """Return what changed, one entry for each page, by importance times extent.

    Parameters
    ----------
    view, runs
        The crawl, and what is derived from its journal.
    question
        What is asked.
    upto
        Sequence of the last event that `runs` know.

    Raises
    ------
    ConfigError
        The pattern is no regular expression.
    """
    expression = question.expression
    found = _grouped(runs, _wanted(view, runs, question))
    if expression is not None:
        urls = _matching(view, found.slot, expression)
        found = FoundChanges(*(column[urls] for column in found))
    told = _told(runs, found)
    kinds, counts = np.unique(told.kind, return_counts=True)
    pages = {KINDS[ChangeKind(kind)]: count for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)}
    weight = view.importance[found.slot] * np.maximum(told.extent, LEAST_EXTENT)
    order = np.lexsort((-found.last, -weight))
    noises, chosen, noise = Noises(view.partition, runs), list[PageChange](), 0
    for place in order.tolist():
        if question.limit is not None and len(chosen) >= question.limit:
            break
        change = _change(view, runs, found, told, place, noises)
        if change.noise and not question.all:
            noise += 1
        else:
            chosen.append(change)
    return ChangeList(tuple(chosen), pages, noise, upto)


def stream(view: View, runs: Runs, question: ChangeQuestion) -> Iterator[PageChange]:
    """Yield every change by itself, in the order of the journal; `limit` is not heeded.

    Raises
    ------
    ConfigError
        The pattern is no regular expression.
    """
    expression, noises = question.expression, Noises(view.partition, runs)
    visits = _wanted(view, runs, question)
    found = FoundChanges(visits, visits, np.ones(len(visits), np.int64), runs.take("slot", visits).astype(np.int64))
    told = _told(runs, found)
    for place in range(len(visits)):
        if expression is not None and not expression.search(view.state.urls.get(int(found.slot[place]))):
            continue
        change = _change(view, runs, found, told, place, noises)
        if question.all or not change.noise:
            yield change


def _wanted(view: View, runs: Runs, question: ChangeQuestion) -> Ints:
    """Return the visits that found changes which are asked for, in order."""
    found, newcomers = [np.zeros(0, np.int64)], NewPages(view, runs)
    known = view.state.known.count
    first_visit = runs.after(question.after)
    for run in runs.runs:
        first = run.header.first_visit
        start, stop = max(first_visit - first, 0), min(runs.visits - first, run.header.visits)
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
    """Whether visits that began in these minutes may be among those that are asked for."""
    return len(minute) > 0 and (int(minute[-1]) + 1) * 60.0 > question.since and int(minute[0]) * 60.0 < question.until


def _own_content(runs: Runs, visits: Ints, kind: NDArray[np.uint8]) -> Flags:
    """Return which changes are a page's own: a copy's are its original's, and parts of a page tell of no change."""
    outcome = runs.take("outcome", visits)
    own = ~((kind == ChangeKind.FIRST) & (outcome == Outcome.DUPLICATE))
    changed = np.flatnonzero(kind == ChangeKind.CHANGED)
    before = runs.take("outcome", runs.take("before", visits[changed]).astype(np.int64))
    both = (outcome[changed] == Outcome.DUPLICATE) & (before == Outcome.DUPLICATE)
    own[changed] = ~both & ((outcome[changed] == Outcome.TRUNCATED) == (before == Outcome.TRUNCATED))
    found: Flags = own
    return found


def _of_site(view: View, runs: Runs, visits: Ints, name: str) -> Flags:
    """Return which visits are of pages of a site or host."""
    wanted = name.strip().lower().rstrip(".")
    hosts = [host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host for host in view.state.hosts]
    of_site = np.array([wanted in (host, site_of(host)) for host in hosts], np.bool_)
    slots = runs.take("slot", visits).astype(np.int64)
    found: Flags = of_site[known_rows(view, slots)["host"]] if len(slots) else np.zeros(0, np.bool_)
    return found


def known_rows(view: View, slots: Ints) -> NDArray[Any]:
    """Return the rows of known URLs by slots, shape (n,); the file is read in pieces."""
    log = view.state.known
    rows = np.zeros(len(slots), log.rows(0, 0).dtype)
    for piece in np.unique(slots // _PIECE).tolist():
        here = slots // _PIECE == piece
        rows[here] = log.rows(piece * _PIECE, (piece + 1) * _PIECE)[slots[here] - piece * _PIECE]
    return rows


def _grouped(runs: Runs, visits: Ints) -> FoundChanges:
    """Return one entry for each page."""
    slots = runs.take("slot", visits).astype(np.int64)
    order = np.argsort(slots, kind="stable")
    begins = np.flatnonzero(np.diff(slots[order], prepend=-1))
    times = np.diff(begins, append=len(order))
    return FoundChanges(visits[order[begins + times - 1]], visits[order[begins]], times, slots[order[begins]])


def _told(runs: Runs, found: FoundChanges) -> ToldChanges:
    """Return what is told of changes: of several of a page, what they come to."""
    kind, first = runs.take("kind", found.last), runs.take("kind", found.first)
    here = np.isin(kind, (ChangeKind.FIRST, ChangeKind.CHANGED, ChangeKind.RETURNED))
    kind = np.where(here & (first == ChangeKind.FIRST), np.uint8(ChangeKind.FIRST), kind).astype(np.uint8)
    before = runs.take("before", found.first).astype(np.int64)
    own = brings_version(runs.take("outcome", found.last), runs.take("flags", found.last))
    version = np.where(own, found.last, runs.take("before", found.last).astype(np.int64))
    version[~here] = NONE
    extent = np.ones(len(kind))
    both = np.flatnonzero(here & (before != NONE) & (version != NONE))
    extent[both] = _extents(runs, version[both], before[both])
    return ToldChanges(kind, version, before, extent)


def _extents(runs: Runs, version: Ints, before: Ints) -> Floats:
    found = extents(runs.take("simhash", version), runs.take("simhash", before))
    words = runs.take("words", version)
    found[(words == runs.take("words", before)) & (words != 0)] = 0.0
    return found


def _matching(view: View, slots: Ints, expression: re.Pattern[str]) -> Ints:
    found = list[int]()
    for start in range(0, len(slots), _URLS):
        urls = view.state.urls.get_many(slots[start : start + _URLS].tolist())
        found += [start + place for place, url in enumerate(urls) if expression.search(url)]
    return np.array(found, np.int64)


def _change(view: View, runs: Runs, found: FoundChanges, told: ToldChanges, place: int, noises: Noises) -> PageChange:
    """Return one change as it is told."""
    visit, slot = int(found.last[place]), int(found.slot[place])
    version, before = (None if which[place] == NONE else int(which[place]) for which in (told.version, told.before))
    kind = ChangeKind(int(told.kind[place]))
    titled = noises.texts.event(visit if version is None else version) if version or before else None
    one = np.array([visit])
    before_at = float(runs.take("at", np.array([before]))[0]) if before is not None else None
    both = kind == ChangeKind.CHANGED and version is not None and before is not None
    noise = both and noises.is_noise(slot, version or 0, before or 0)
    return PageChange(
        int(runs.take("number", one)[0]) + 1, view.state.urls.get(slot), titled.title if titled else "", KINDS[kind],
        float(runs.take("at", one)[0]), before_at if kind != ChangeKind.FIRST else None, float(told.extent[place]),
        int(found.times[place]), float(view.importance[slot]) if slot < len(view.importance) else 0.0,
        int(runs.take("status", one)[0]), noise, version,
        before if kind != ChangeKind.FIRST else None, slot,
    )  # fmt: skip
