"""Which sites have a vote of their own on what is expected of new sites, and which share one.

Sites whose names cost nothing share one vote, unless a seed is on them, because a hundred blogs below one suffix may
belong to one person. So do all sites without a source of importance: networks of addresses, sites that are not
`trusted` if some are, and capped link farms.
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
        self._seeded: set[int] | None = None  # sites with seeds at the start, and those learned since

    def shares(self, site: int) -> bool:
        """Return whether a site shares a vote."""
        if not self._state.accounts.sites["trusted"][site]:
            return True
        return costs_nothing(self._state.sites[site]) and site not in self._seeds()

    def gives_own_vote(self, site: int, slot: int) -> bool:
        """Return whether a page is a seed that gives its site a vote of its own; remember such a site."""
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
