"""Pages that change while a policy visits them, and the freshness of its copies."""

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
        Whether the page is another than at the last visit.
    age_s
        How long ago its last change was; whoever polls decides who is told.
    gone
        Whether there is no page any more.
    """

    changed: NDArray[np.bool_]
    age_s: Floats
    gone: NDArray[np.bool_]


class AnnouncedSignals(NamedTuple):
    """Announcements of pages since the last call, true or false, shape (n,) each."""

    right: Ints
    wrong: Ints


class ChangingWorld(ABC):
    """Changing pages, and the value of copies of them; simulated ones change at random, others as recorded.

    Attributes
    ----------
    weight
        How much each page matters now, shape (n,).
    host
        Number of its host.
    announces
        Whether changes are announced as time goes by: then visits are made only as time is let go on.
    """

    announces: bool = False
    weight: Floats
    host: Ints

    @abstractmethod
    def visit(self, rows: Ints, now: float) -> SeenChanges:
        """Take copies of some pages, each at most once a call, and return the results."""

    @abstractmethod
    def pass_to(self, now: float) -> AnnouncedSignals | None:
        """Advance the time; return the announcements, None if nothing is ever announced."""

    @abstractmethod
    def stale(self, now: float) -> NDArray[np.bool_]:
        """Return of which pages the copy is not the page any more, shape (n,): what clairvoyants are told."""

    @abstractmethod
    def earned(self, now: float) -> float:
        """Return the integral so far of the weight of what is fresh, over all that there is, in seconds."""

    @abstractmethod
    def best(self, budget: float) -> float:
        """Return what the best schedule keeps fresh, by weight, who knows what there is to know; nan if unknown."""
