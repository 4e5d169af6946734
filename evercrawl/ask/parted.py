"""Interface for queries about a partitioned crawl as a whole, independent of how it runs."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from evercrawl.ask.parts_line import PartState
from evercrawl.ask.rank.top import TopPage
from evercrawl.ask.search.search import Narrow, SearchAnswer


class PartStates(NamedTuple):
    """The states of all partitions.

    Attributes
    ----------
    running
        Whether the crawl runs; if not, figures of this run and of processes are zero.
    parts
        States of the known partitions.
    note
        How many partitions answered, if not all did; otherwise "".
    """

    running: bool
    parts: list[PartState]
    note: str


class PartedQuestions(Protocol):
    """Queries to all partitions; each answer comes with a note on how many answered, if not all did."""

    def states(self) -> PartStates:
        """Return the states of the partitions."""
        ...

    def top(self, most: int) -> tuple[list[TopPage], str]:
        """Return the most important pages."""
        ...

    def search(self, words: str, narrow: Narrow, limit: int) -> tuple[SearchAnswer, str]:
        """Return the search hits, the best first."""
        ...
