"""Seeds that redirect: how far a seed takes the scope of the crawl along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.types import NO_SLOT

if TYPE_CHECKING:
    from evercrawl.store.table.known import KnownColumns

MOVES: Final = 8
"""Most URLs that redirects of one seed add as seeds: enough for https, www, a language and a few moves of the site."""


class MovedSeeds:
    """Counts, for each seed, the URLs that its redirects made seeds (depth 0), also through several redirects.

    A redirect target of a seed is a seed itself: its host joins the scope, and no budget applies to it. A site that
    redirects to another URL at each visit would therefore have any number of hosts crawled. After `MOVES` URLs, further
    targets count as links.

    Parameters
    ----------
    known
        The columns of all known URLs, in the order of their slots.
    """

    def __init__(self, known: KnownColumns) -> None:
        self._seed_of: dict[int, int] = {}  # slot of a redirect target -> slot of its seed
        self._count: dict[int, int] = {}
        targets = np.flatnonzero((known.depth == 0) & (known.source != NO_SLOT))
        slots: list[int] = targets.tolist()
        sources: list[int] = known.source[targets].tolist()
        for slot, source in zip(slots, sources, strict=True):
            self._add(slot, self._seed_of.get(source, source))

    def _add(self, slot: int, seed: int) -> None:
        self._seed_of[slot] = seed
        self._count[seed] = self._count.get(seed, 0) + 1

    def room(self, source: int) -> bool:
        """Return whether the target of a redirect at `source`, a slot at depth 0, is still a seed."""
        return self._count.get(self._seed_of.get(source, source), 0) < MOVES

    def add(self, slot: int, source: int) -> None:
        """Count the redirect target with this slot, which the page at `source` made a seed."""
        self._add(slot, self._seed_of.get(source, source))
