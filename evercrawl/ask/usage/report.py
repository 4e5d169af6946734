"""A summary of the recorded usage of a crawl."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from evercrawl.ask.rank.top import largest
from evercrawl.model.view import View
from evercrawl.model.worth.query_words import QueryWords
from evercrawl.model.worth.usage import USAGE_FILE, Question, Tail
from evercrawl.model.worth.usage_counts import UsageCounts
from evercrawl.types import Slots

MOST: Final = 10
"""Number of pages and words that are listed."""


@dataclass(frozen=True, slots=True)
class UsedPage:
    """A used page: how often it was shown, and how often it was opened."""

    url: str
    shown: int
    clicked: int


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The summary.

    Attributes
    ----------
    questions, with_words
        Number of questions, and of those with words rather than pages only.
    shown, clicked
        Number of times that pages were shown, and opened.
    pages, known
        Number of distinct pages among these, and of those that the crawl knows.
    first_at, last_at
        Times of the first and the last question, in seconds since the epoch; None without questions.
    size_bytes, damaged
        Size of the file, and number of its invalid lines.
    words
        The most frequent words of recent questions: word -> its share of all.
    most_used
        The pages opened most often, then those shown most often.
    """

    questions: int
    with_words: int
    shown: int
    clicked: int
    pages: int
    known: int
    first_at: float | None
    last_at: float | None
    size_bytes: int
    damaged: int
    words: dict[str, float]
    most_used: tuple[UsedPage, ...]


class _Span:
    """Times of the first and the last question, and the number of questions with words."""

    def __init__(self) -> None:
        self.first_at, self.last_at, self.with_words = np.inf, -np.inf, 0

    def learn(self, question: Question) -> None:
        self.first_at, self.last_at = min(self.first_at, question.at), max(self.last_at, question.at)
        self.with_words += bool(question.query)


def usage_report(view: View) -> UsageReport:
    """Return the summary of the recorded usage.

    Parameters
    ----------
    view
        The crawl, which may be running.
    """
    tail, counts, words, span = (
        Tail(view.partition.directory / USAGE_FILE),
        UsageCounts(view.state),
        QueryWords(),
        _Span(),
    )
    for question in tail.all():
        counts.learn([question])
        words.learn([question])
        span.learn(question)
    weights = sorted(words.weights.items(), key=lambda pair: (-pair[1], pair[0]))
    slots = counts.slots()
    return UsageReport(
        questions=counts.questions,
        with_words=span.with_words,
        shown=int(counts.shown_at.sum()),
        clicked=int(counts.clicked.sum()),
        pages=len(counts.clicked),
        known=len(slots),
        first_at=span.first_at if counts.questions else None,
        last_at=span.last_at if counts.questions else None,
        size_bytes=tail.size,
        damaged=tail.damaged,
        words=dict(weights[:MOST]),
        most_used=_most_used(view, counts, slots),
    )


def _most_used(view: View, counts: UsageCounts, slots: Slots) -> tuple[UsedPage, ...]:
    shown, clicked = counts.of(counts.shown, slots), counts.of(counts.clicked, slots)
    best = largest(clicked + shown / (1.0 + shown), MOST).tolist()
    return tuple(UsedPage(view.state.urls.get(int(slots[i])), int(shown[i]), int(clicked[i])) for i in best)
