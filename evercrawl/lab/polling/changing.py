"""Pages that change while a policy visits them, and how fresh its copies are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evercrawl.types import Floats, Ints


class SeenChanges(NamedTuple):
    """What visits find; row i is a visit.

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
    """What was announced of pages since the last time: how often, rightly or not, shape (n,) each."""

    right: Ints
    wrong: Ints


class ChangingWorld(ABC):
    """Pages that change, and what copies of them are worth. Made-up ones change at random; others as was recorded.

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
        """Take copies of some pages, each at most once a call, and say what was found."""

    @abstractmethod
    def pass_to(self, now: float) -> AnnouncedSignals | None:
        """Let time go on; return what was announced meanwhile, None where nobody announces anything."""

    @abstractmethod
    def stale(self, now: float) -> NDArray[np.bool_]:
        """Return of which pages the copy is not the page any more, shape (n,): what clairvoyants are told."""

    @abstractmethod
    def earned(self, now: float) -> float:
        """Return the integral so far of the weight of what is fresh, over all that there is, in seconds."""

    @abstractmethod
    def best(self, budget: float) -> float:
        """Return what the best schedule keeps fresh, by weight, who knows what there is to know; nan if unknown."""
