"""Single changes in journal order: those after a sequence number, or the latest ones."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from evercrawl.ask.changes.listing import told_one_by_one
from evercrawl.ask.changes.noises import Noises
from evercrawl.ask.changes.page_change import PageChange
from evercrawl.ask.changes.question import ChangeQuestion
from evercrawl.ask.changes.wanted import wanted_visits
from evercrawl.model.importance_view import ImportanceView
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.types import Ints

VISITS: Final = 1 << 14
"""Number of visits examined for one part."""


class StreamPart(NamedTuple):
    """Consecutive changes, and the sequence number up to which the stream is now complete."""

    changes: tuple[PageChange, ...]
    upto: int


def part_after(view: ImportanceView, runs: Runs, question: ChangeQuestion, known: int, most: int = 100) -> StreamPart:
    """Return the next changes after `question.after`.

    Parameters
    ----------
    view, runs
        The crawl, and the runs derived from its journal.
    question
        The query; its `limit` is ignored.
    known
        Sequence number of the last event in `runs`.
    most
        Maximum number of changes returned; there may be more after the part.

    Raises
    ------
    ConfigError
        The pattern is not a regular expression.
    """
    first = runs.after(question.after)
    end = min(first + VISITS, runs.visits)
    upto = known if end == runs.visits else int(runs.take("number", np.array([end]))[0])
    chosen = list[PageChange]()
    for change in _chosen(view, runs, question, wanted_visits(view, runs, question, end)):
        chosen.append(change)
        if len(chosen) == most:
            return StreamPart(tuple(chosen), change.sequence)
    return StreamPart(tuple(chosen), max(upto, question.after))


def latest(view: ImportanceView, runs: Runs, question: ChangeQuestion, known: int) -> list[PageChange]:
    """Return the latest changes, the newest first, up to `question.limit`."""
    chosen, end = list[PageChange](), runs.visits
    first = runs.after(question.after)
    while end > first and (question.limit is None or len(chosen) < question.limit):
        start = max(end - VISITS, first)
        at = int(runs.take("number", np.array([start]))[0])
        visits = wanted_visits(view, runs, replace(question, after=at), end)
        for change in _chosen(view, runs, question, visits[::-1]):
            chosen.append(change)
            if len(chosen) == question.limit:
                break
        end = start
    return chosen


def _chosen(view: ImportanceView, runs: Runs, question: ChangeQuestion, visits: Ints) -> Iterator[PageChange]:
    expression = question.expression
    if expression is not None and len(visits):
        urls = view.state.urls.get_many(runs.take("slot", visits).tolist())
        visits = visits[np.array([bool(expression.search(url)) for url in urls], np.bool_)]
    for change in told_one_by_one(view, runs, visits, Noises(view.partition, runs)):
        if question.all or not change.noise:
            yield change
