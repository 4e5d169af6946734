"""Which sites have a vote of their own for what is believed of new sites, and which share one.

Names that cost nothing share one vote, unless a seed is on them: a hundred blogs below one suffix may be one person's.
So do sites without a source of importance: networks of addresses, sites outside the trusted ones if these are listed,
and capped link farms.
"""

import numpy as np

from evercrawl.parse.sites import costs_nothing
from evercrawl.store.state import State
from evercrawl.types import NO_SLOT


class SiteVotes:
    """Tells which sites share a vote.

    Parameters
    ----------
    state
        The state of the crawl.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._seeded: set[int] | None = None  # sites with seeds, as of the start; and names that cost nothing since

    def shares(self, site: int) -> bool:
        """Return whether a site shares a vote."""
        if not self._state.accounts.sites["trusted"][site]:
            return True
        return costs_nothing(self._state.sites[site]) and site not in self._seeds()

    def learns_seed(self, site: int, slot: int) -> bool:
        """Return whether a page of a site is a seed, for which the site gets a vote of its own."""
        if not self._state.accounts.sites["trusted"][site]:
            return False
        row = self._state.known.row(slot)
        if row["depth"] or row["hops"] or row["source"] != NO_SLOT:
            return False
        self._seeds().add(site)
        return True

    def _seeds(self) -> set[int]:
        """Return the sites of seeds."""
        if self._seeded is None:
            known = self._state.known.columns()
            seeds = np.flatnonzero((known.depth == 0) & (known.source == NO_SLOT))
            if self._state.post is not None:  # redirect targets of other partitions' seeds look like seeds
                seeds = seeds[[not self._state.known.row(slot)["hops"] for slot in seeds.tolist()]]
            self._seeded = set(np.unique(self._state.site_of[known.host[seeds]]).tolist())
        return self._seeded
