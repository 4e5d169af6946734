"""What a crawl has been told of how it is used."""

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
"""Pages and words that are named."""


@dataclass(frozen=True, slots=True)
class UsedPage:
    """One page that people used: how often it was shown, and how often it was opened."""

    url: str
    shown: int
    clicked: int


@dataclass(frozen=True, slots=True)
class UsageReport:
    """What there is.

    Attributes
    ----------
    questions, with_words
        How many there were; and those of them that had words, not only pages.
    shown, clicked
        Pages that were shown and opened, each as often as it was.
    pages, known
        Different pages among these, and those of them that the crawl knows.
    first_at, last_at
        Instants of the first question and of the last, in seconds since the epoch; None where there is none.
    size_bytes, damaged
        Of the file, and lines of it that are no questions.
    words
        What people ask about most, of late: word -> its share of all.
    most_used
        The pages that were opened most, then those shown most.
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
    """First and last instant of the questions, and how many had words."""

    def __init__(self) -> None:
        self.first_at, self.last_at, self.with_words = np.inf, -np.inf, 0

    def learn(self, question: Question) -> None:
        self.first_at, self.last_at = min(self.first_at, question.at), max(self.last_at, question.at)
        self.with_words += bool(question.query)


def usage_report(view: View) -> UsageReport:
    """Return what the crawl has been told.

    Parameters
    ----------
    view
        The crawl; it may run meanwhile.
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
