"""Random: all pages with equal probability."""

from typing import ClassVar

import numpy as np

from evercrawl.schedule.abilities import Follows
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared.pacing import MeasuredPace
from evercrawl.types import Floats, Keys


class Random(Follows, Policy):
    """Visit pages in random order; the same seed gives the same order.

    Each choice draws again for every page. With one draw per visit, pages with a low draw would wait for ever, because
    only visited pages draw again.

    Parameters
    ----------
    seed
        Seed of the random order.

    Examples
    --------
    >>> from evercrawl.schedule import Context, Pages
    >>> none = np.zeros(4)
    >>> pages = Pages(np.arange(4, dtype=np.uint32), none, none, none, none, none, none, none, none)
    >>> bool((Random(1).value(pages, Context(9.0)) == Random(1).value(pages, Context(9.0))).all())
    True
    >>> bool((Random(1).value(pages, Context(9.0)) == Random(2).value(pages, Context(9.0))).any())
    False
    """

    weighs: ClassVar[bool] = False

    def __init__(self, seed: int = 0) -> None:
        self._seed = np.uint64(seed & 0xFFFFFFFFFFFFFFFF)
        self._pace, self._known = MeasuredPace(), 1

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return a number from 0 to 1 that depends only on seed, page and instant."""
        return self._lots(pages, np.float64(context.now).view(np.uint64))

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return an instant: the last visit plus a random waiting time whose mean is about the length of a cycle.

        The pages that a host offers are then random too, because such waiting times are memoryless.
        """
        last = np.ascontiguousarray(pages.visited_at).view(np.uint64)
        return pages.visited_at - np.log1p(-self._lots(pages, last)) * self._pace.cycle_s(self._known)

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Estimate the length of a cycle."""
        self._known = context.known
        self._pace.made(len(values), context.now)

    def _lots(self, pages: Pages, instants: Keys | np.uint64) -> Floats:
        bits = _mixed(_mixed(pages.slot.astype(np.uint64) ^ self._seed) ^ instants)
        return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mixed(bits: Keys) -> Keys:
    """Return well mixed bits (the finalizer of splitmix64)."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
