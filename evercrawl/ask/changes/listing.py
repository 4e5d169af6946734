"""Lists of changes: one entry per changed page, the most important first; or one entry per visit."""

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.ask.changes.noise_book import UNKNOWN, change_keys
from evercrawl.ask.changes.noises import Noises
from evercrawl.ask.changes.page_change import KINDS, ChangeList, PageChange
from evercrawl.ask.changes.question import ChangeQuestion
from evercrawl.ask.changes.wanted import wanted_visits
from evercrawl.ask.named_site import known_site
from evercrawl.change.extent import extents
from evercrawl.config.patterns import UrlPattern
from evercrawl.model.importance_view import ImportanceView
from evercrawl.model.stored.derived.kinds import NONE, ChangeKind, brings_version
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.model.stored.reader import Tell
from evercrawl.types import Floats, Ints

_TOLD_EVERY: Final = 16
LEAST_EXTENT: Final = 0.02
"""Least extent by which a change counts in the ranking, where a change of the whole page counts 1."""
JUDGED_S: Final = 0.25
"""Time limit for comparing changes not yet classified as noise with earlier ones, unless all are requested."""
_AHEAD: Final = 4096
_URLS: Final = 4096


class FoundChanges(NamedTuple):
    """Changes by page, shape (n,) each: visits that found its last and its first change, and the number of changes."""

    last: Ints
    first: Ints
    times: Ints
    slot: Ints


class ToldChanges(NamedTuple):
    """Details of changes, shape (n,) each: kind, versions after and before (NONE for none), extent."""

    kind: NDArray[np.uint8]
    version: Ints
    before: Ints
    extent: Floats


def changes(
    view: ImportanceView,
    runs: Runs,
    question: ChangeQuestion,
    upto: int,
    tell: Tell | None = None,
    behind: tuple[float, int] | None = None,
) -> ChangeList:
    """Return the changes, one entry per page, in descending order of importance times extent.

    Parameters
    ----------
    view, runs
        The crawl, and the runs derived from its journal.
    question
        The query.
    upto
        Sequence number of the last event in `runs`.
    tell
        Progress callback; comparing a page that changed often takes some milliseconds.
    behind
        `rank_of` a change: the list begins after it.

    Raises
    ------
    ConfigError
        The pattern is not a regular expression, or the crawl does not know the site.
    """
    expression = question.expression
    if question.site:
        question = replace(question, site=known_site(view.state, question.site))
    found = _grouped(runs, wanted_visits(view, runs, question))
    if expression is not None:
        urls = _matching(view, found.slot, expression)
        found = FoundChanges(*(column[urls] for column in found))
    told = _told(runs, found)
    kinds, counts = np.unique(told.kind, return_counts=True)
    pages = {KINDS[ChangeKind(kind)]: count for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)}
    weight = view.importance[found.slot] * np.maximum(told.extent, LEAST_EXTENT)
    order = np.lexsort((-found.last, -weight))
    if behind is not None:
        weights, sequences = weight[order], runs.take("number", found.last[order]).astype(np.int64) + 1
        order = order[(weights < behind[0]) | ((weights == behind[0]) & (sequences < behind[1]))]
    judge = _Judge(view, runs, question, found, told)
    chosen, noise = list[PageChange](), 0
    wanted = min(question.limit or len(order), len(order))
    for number, place in enumerate(order.tolist(), 1):
        if tell is not None and number % _TOLD_EVERY == 0:
            tell("changed pages compared with their versions before", len(chosen), wanted)
        if question.limit is not None and len(chosen) >= question.limit:
            break
        is_noise = judge.is_noise(place, order[number - 1 : number - 1 + _AHEAD])
        if is_noise and not question.all:
            noise += 1
        else:
            chosen.append(_change(view, runs, found, told, place, judge.noises, noise=is_noise))
    judge.noises.book.save()
    return ChangeList(tuple(chosen), pages, noise, upto, judge.unjudged)


def rank_of(change: PageChange) -> tuple[float, int]:
    """Return the sort key of a change: changes that count more, and of equal ones the later ones, come first."""
    return change.importance * max(change.extent, LEAST_EXTENT), change.sequence


class _Judge:
    """A classifier of changes as noise: known results are read in bulk, others are computed as time allows.

    Attributes
    ----------
    unjudged
        Number of changes that count as content because the time limit was reached.
    """

    def __init__(
        self, view: ImportanceView, runs: Runs, question: ChangeQuestion, found: FoundChanges, told: ToldChanges
    ) -> None:
        self.noises, self.unjudged = Noises(view.partition, runs), 0
        self._runs, self._found, self._told = runs, found, told
        self._known = np.full(len(told.kind), UNKNOWN, np.uint8)
        self._looked = np.zeros(len(told.kind), np.bool_)
        self._last = math.isinf(question.until)  # then no later version of a page is known
        self._until = math.inf if question.limit is None else time.perf_counter() + JUDGED_S

    def is_noise(self, place: int, ahead: Ints) -> bool:
        """Return whether a change is noise; `ahead` are this one and those that may be queried next."""
        told = self._told
        if told.kind[place] != ChangeKind.CHANGED or NONE in (told.version[place], told.before[place]):
            return False
        if not self._looked[place] and self._last:
            self._look(ahead)
        if self._known[place] != UNKNOWN:
            return bool(self._known[place])
        slot, version, before = int(self._found.slot[place]), int(told.version[place]), int(told.before[place])
        if time.perf_counter() > self._until:
            self.unjudged += 1
            return False
        return self.noises.is_noise(slot, version, before)

    def _look(self, ahead: Ints) -> None:
        """Look up the known results of several changes."""
        told = self._told
        both = (told.kind[ahead] == ChangeKind.CHANGED) & (told.version[ahead] != NONE) & (told.before[ahead] != NONE)
        places = ahead[both]
        keys = change_keys(self._runs, self._found.slot[places], told.version[places], told.before[places])
        self._known[places] = self.noises.book.known_many(keys, 0)
        self._looked[ahead] = True


def told_one_by_one(view: ImportanceView, runs: Runs, visits: Ints, noises: Noises) -> Iterator[PageChange]:
    """Yield the change that each visit found, in the given order."""
    found = FoundChanges(visits, visits, np.ones(len(visits), np.int64), runs.take("slot", visits).astype(np.int64))
    told = _told(runs, found)
    for place in range(len(visits)):
        version, before = int(told.version[place]), int(told.before[place])
        both = told.kind[place] == ChangeKind.CHANGED and NONE not in (version, before)
        noise = bool(both) and noises.is_noise(int(found.slot[place]), version, before)
        yield _change(view, runs, found, told, place, noises, noise=noise)
    noises.book.save()


def _grouped(runs: Runs, visits: Ints) -> FoundChanges:
    """Return one entry per page."""
    slots = runs.take("slot", visits).astype(np.int64)
    order = np.argsort(slots, kind="stable")
    begins = np.flatnonzero(np.diff(slots[order], prepend=-1))
    times = np.diff(begins, append=len(order))
    return FoundChanges(visits[order[begins + times - 1]], visits[order[begins]], times, slots[order[begins]])


def _told(runs: Runs, found: FoundChanges) -> ToldChanges:
    """Return the details of changes; several changes of a page are combined."""
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


def _matching(view: ImportanceView, slots: Ints, expression: UrlPattern) -> Ints:
    found = list[int]()
    for start in range(0, len(slots), _URLS):
        urls = view.state.urls.get_many(slots[start : start + _URLS].tolist())
        found += [start + place for place, url in enumerate(urls) if expression.search(url)]
    return np.array(found, np.int64)


def _change(
    view: ImportanceView, runs: Runs, found: FoundChanges, told: ToldChanges, place: int, noises: Noises, *, noise: bool
) -> PageChange:
    """Return the `PageChange` of one entry."""
    visit, slot = int(found.last[place]), int(found.slot[place])
    version, before = (None if which[place] == NONE else int(which[place]) for which in (told.version, told.before))
    kind = ChangeKind(int(told.kind[place]))
    source = before if version is None else version
    titled = None if source is None else noises.texts.event(source)
    one = np.array([visit])
    before_at = float(runs.take("at", np.array([before]))[0]) if before is not None else None
    return PageChange(
        int(runs.take("number", one)[0]) + 1, view.state.urls.get(slot), titled.title if titled else "", KINDS[kind],
        float(runs.take("at", one)[0]), before_at if kind != ChangeKind.FIRST else None, float(told.extent[place]),
        int(found.times[place]), float(view.importance[slot]) if slot < len(view.importance) else 0.0,
        int(runs.take("status", one)[0]), noise, version,
        before if kind != ChangeKind.FIRST else None, slot,
    )  # fmt: skip
