"""The combined observations of several histories, and their split into groups of pages."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from evercrawl.lab.histories.evolution.changed import RecordedChanges
from evercrawl.lab.histories.evolution.linked import LinkSpans, links
from evercrawl.lab.histories.evolution.lives import Lives
from evercrawl.lab.histories.evolution.watched import watch
from evercrawl.lab.histories.history import History
from evercrawl.types import Floats, Ints

Rows = TypeVar("Rows", Lives, RecordedChanges, LinkSpans)


class EvolutionRecord(NamedTuple):
    """The observations of some pages.

    Attributes
    ----------
    pages
        The page numbers, ascending, shape (pages,); numbered consecutively over the histories.
    lives, changes, links
        Their lives, changes and links. The column `life` of the changes is the row in these lives.
    looks
        As in `Watched`, shape (pages,).
    """

    pages: Ints
    lives: Lives
    changes: RecordedChanges
    links: LinkSpans
    looks: Floats

    def place(self, page: Ints) -> Ints:
        """Return the indices of pages among these."""
        return np.searchsorted(self.pages, page)

    def changes_of(self) -> Floats:
        """Return the number of changes of each page, shape (pages,)."""
        return np.bincount(self.place(self.changes.page), minlength=len(self.pages)).astype(np.float64)

    def watched_s(self) -> Floats:
        """Return the length of observation of each page in seconds, shape (pages,)."""
        lives = self.lives
        lasted_s = lives.ended_at - lives.began_at
        return np.asarray(np.bincount(self.place(lives.page), lasted_s, len(self.pages)), np.float64)


def recorded(histories: Sequence[History], since: float, until: float) -> EvolutionRecord:
    """Return the observations of the pages of histories in a period."""
    parts: list[EvolutionRecord] = []
    first = lives = 0
    for history in histories:
        seen = watch(history, since, until)
        numbers = np.arange(first, first + len(history))
        changes = seen.changes._replace(page=seen.changes.page + first, life=seen.changes.life + lives)
        linked = links(history, seen)
        parts.append(EvolutionRecord(numbers, seen.lives._replace(page=seen.lives.page + first), changes,
                            linked._replace(page=linked.page + first), seen.looks))  # fmt: skip
        first, lives = first + len(history), lives + len(seen.lives.page)
    return _one(parts)


def _one(parts: Sequence[EvolutionRecord]) -> EvolutionRecord:
    return EvolutionRecord(
        np.concatenate([part.pages for part in parts]),
        _chained(Lives, [part.lives for part in parts]),
        _chained(RecordedChanges, [part.changes for part in parts]),
        _chained(LinkSpans, [part.links for part in parts]),
        np.concatenate([part.looks for part in parts]),
    )


def _chained(kind: type[Rows], tables: Sequence[Rows]) -> Rows:
    columns: Any = zip(*tables, strict=True)
    return kind(*(np.concatenate(column) for column in columns))


def split(record: EvolutionRecord, group: Ints, groups: int) -> list[EvolutionRecord]:
    """Return the record of each group.

    Parameters
    ----------
    record
        The record of all pages.
    group
        The group of each page, shape (pages,); -1 for pages that are left out.
    groups
        Number of groups.
    """
    lives, changes, linked = (
        _rows(group[table.page], groups) for table in (record.lives, record.changes, record.links)
    )
    pages = _rows(group, groups)
    found: list[EvolutionRecord] = []
    for i in range(groups):
        mine = _taken(record.changes, changes[i])
        local = mine._replace(life=np.searchsorted(lives[i], mine.life))
        found.append(EvolutionRecord(record.pages[pages[i]], _taken(record.lives, lives[i]), local,
                            _taken(record.links, linked[i]), record.looks[pages[i]]))  # fmt: skip
    return found


def _rows(group: Ints, groups: int) -> list[Ints]:
    """Return the rows of each group, ascending."""
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(groups + 1))
    return [order[bounds[i] : bounds[i + 1]] for i in range(groups)]


def _taken(table: Rows, rows: Ints) -> Rows:
    columns: Any = table
    kind: type[Rows] = type(table)
    return kind(*(column[rows] for column in columns))
