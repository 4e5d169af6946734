"""The interface of pages that change while a policy visits them, and the freshness of copies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evercrawl.types import Floats, Ints


class SeenChanges(NamedTuple):
    """The results of visits, one per row.

    Attributes
    ----------
    changed
        Whether the page has changed since the last visit.
    age_s
        Time since its last change; the polling code decides which pages disclose it.
    gone
        Whether the page no longer exists.
    """

    changed: NDArray[np.bool_]
    age_s: Floats
    gone: NDArray[np.bool_]


class AnnouncedSignals(NamedTuple):
    """Numbers of correct and wrong announcements per page since the last call, shape (n,) each."""

    right: Ints
    wrong: Ints


class ChangingWorld(ABC):
    """Changing pages, and the value of copies of them; simulated ones change at random, others as recorded.

    Attributes
    ----------
    weight
        The present importance of each page, shape (n,).
    host
        Number of its host, shape (n,).
    announces
        Whether changes are announced; visits are then made only after time has advanced.
    """

    announces: bool = False
    weight: Floats
    host: Ints

    @abstractmethod
    def visit(self, rows: Ints, now: float) -> SeenChanges:
        """Copy some pages, each at most once per call, and return the results."""

    @abstractmethod
    def pass_to(self, now: float) -> AnnouncedSignals | None:
        """Advance the time; return the announcements, None if nothing is ever announced."""

    @abstractmethod
    def stale(self, now: float) -> NDArray[np.bool_]:
        """Return which copies differ from their pages, shape (n,); only clairvoyant policies see it."""

    @abstractmethod
    def earned(self, now: float) -> float:
        """Return the integral over time of the fresh share of all weight, in seconds."""

    @abstractmethod
    def best(self, budget: float) -> float:
        """Return the weighted freshness of the best schedule with full knowledge; nan if unknown."""
