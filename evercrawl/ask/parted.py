"""What a crawl in several partitions is asked as a whole, as an interface: who shows it need not know how it runs."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from evercrawl.ask.parts_line import PartState
from evercrawl.ask.rank.top import TopPage
from evercrawl.ask.search.search import Narrow, SearchAnswer


class PartStates(NamedTuple):
    """How all partitions are.

    Attributes
    ----------
    running
        Whether the crawl runs; without it, figures of this run and of processes are zero.
    parts
        Those that are known of.
    note
        How many answered, where not all did; else "".
    """

    running: bool
    parts: list[PartState]
    note: str


class PartedQuestions(Protocol):
    """Answers questions about all partitions; each answer comes with how many answered, where not all did."""

    def states(self) -> PartStates:
        """Return how the partitions are."""
        ...

    def top(self, most: int) -> tuple[list[TopPage], str]:
        """Return the most important pages."""
        ...

    def search(self, words: str, narrow: Narrow, limit: int) -> tuple[SearchAnswer, str]:
        """Return what is found, the best first."""
        ...
