"""Beliefs about how fast pages change, vanish and come back, from the evidence of all records."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from evercrawl.change.comebacks import Comebacks
from evercrawl.change.deaths import Deaths
from evercrawl.change.levels import Levels
from evercrawl.change.prior import ROUNDS, SETTLED, SitePriors
from evercrawl.model.site_votes import SiteVotes
from evercrawl.store.state import State
from evercrawl.types import Outcome

NO_COPY: Final = (Outcome.REDIRECT, Outcome.GONE)
"""After a visit with one of these there is no copy of the page any more."""


AT_ONCE: Final = 1 << 14
"""Records to which priors are fitted at once."""
AT_A_VISIT: Final = 1 << 11
"""The same where there are more: with each visit, until all were gone through, as often as it takes."""

ELSEWHERE: Final = "elsewhere_"
"""How the notes begin of sums that other partitions have; the number of the partition follows, and the sum's name."""

Evidence = tuple[float, float] | None
"""What `SitePriors.learn` takes."""


class Refitting:
    """Refits priors to the evidence of all records, a few records per visit, while new evidence comes in.

    Parameters
    ----------
    priors, state
        The priors to fit, and the state with the records.
    """

    def __init__(self, priors: SitePriors, state: State) -> None:
        self._priors, self._state = priors, state
        self._basis = self._next = priors
        self._at = self._round = 0
        self._moved = 0.0
        self.busy = False

    def begin(self) -> None:
        """Begin with the first record; if there are few, fit all at once."""
        if self._state.records.count <= AT_ONCE:
            fit(self._priors, self._state)
            self.busy = False
            return
        self._round = 0
        self.busy = True
        self._begin_round(self._priors)

    def learn(self, site: int, record: int, before: Evidence, after: Evidence) -> None:
        """Continue, and account for the evidence that a visit adds to a record, which still has its old evidence."""
        if self.busy:
            self._go_on()
        self._priors.learn(site, before, after)
        if self.busy and record < self._at:
            self._next.grow(len(self._state.sites))
            self._next.refer(np.array([site]), self._basis)
            self._next.learn(site, before, after)

    def vote_alone(self, site: int) -> None:
        """Give a site a vote of its own from now on."""
        for each in {id(each): each for each in (self._priors, self._basis, self._next)}.values():
            each.grow(len(self._state.sites))
            each.vote_alone(site)

    def _begin_round(self, basis: SitePriors) -> None:
        self._basis, self._next = basis, SitePriors.unread(len(self._state.sites), like=self._priors)
        self._at, self._moved = 0, 0.0

    def _go_on(self) -> None:
        state, first = self._state, self._at
        self._at = last = min(first + AT_A_VISIT, state.records.count)
        rows: Any = state.records.rows[first:last]
        rows = rows[(rows["rate_shape"] != 0) | (rows["rate_scale_s"] != 0)]
        sites = state.site_of[rows["host"]].astype("int64")
        for each in (self._basis, self._next):
            each.grow(len(state.sites))
        self._moved = max(self._moved, self._next.refer(sites, self._basis))
        evidence = rows["rate_shape"].astype("f8"), rows["rate_scale_s"].astype("f8")
        self._next.learn_many(sites, None, evidence)
        if last == state.records.count:
            self._round += 1
            if self._round == ROUNDS or (self._round > 1 and self._moved < SETTLED):  # as the round before left them
                self._priors.become(self._next)
                self.busy = False
            else:
                self._begin_round(self._next)


def priors_of(state: State, votes: SiteVotes | None = None) -> SitePriors:
    """Return the priors fitted to the evidence of all records; `votes` tells which sites share a vote."""
    priors = SitePriors(len(state.sites), (votes or SiteVotes(state)).shares)
    priors.elsewhere = Levels.from_sums(total(elsewhere_of(state).values()))
    fit(priors, state)
    return priors


def deaths_of(state: State) -> Deaths:
    """Return the vanishing rates that an earlier run noted."""
    deaths = Deaths(state.notes.get("gone_pages", 0), state.notes.get("watched_s", 0.0))
    sums = total(elsewhere_of(state).values())
    deaths.elsewhere = sums["gone_pages"], sums["watched_s"]
    return deaths


def comebacks_of(state: State) -> Comebacks:
    """Return the comeback rates that an earlier run noted."""
    comebacks = Comebacks(state.notes.get("back_pages", 0), state.notes.get("gone_watched_s", 0.0))
    sums = total(elsewhere_of(state).values())
    comebacks.elsewhere = sums["back_pages"], sums["gone_watched_s"]
    return comebacks


def elsewhere_of(state: State) -> dict[int, dict[str, float]]:
    """Return the sums of each other partition, as an earlier run noted them."""
    found = dict[int, dict[str, float]]()
    for note, value in state.notes.items():
        sender, _, name = note.removeprefix(ELSEWHERE).partition("_")
        if note.startswith(ELSEWHERE) and sender.isdecimal():
            found.setdefault(int(sender), {})[name] = value
    return found


def total(every: Iterable[Mapping[str, float]]) -> defaultdict[str, float]:
    """Return the totals by name of several sets of sums; 0 for names that occur in none.

    >>> found = total([{"back": 1.0}, {"back": 2.0}])
    >>> found["back"], found["gone"]
    (3.0, 0.0)
    """
    found = defaultdict[str, float](float)
    for sums in every:
        for name, value in sums.items():
            found[name] += value
    return found


def fit(priors: SitePriors, state: State) -> None:
    """Fit priors, site by site, to the evidence of all records."""
    rows: Any = state.records.rows[: state.records.count]
    shape, scale_s = rows["rate_shape"], rows["rate_scale_s"]
    seen = (shape != 0) | (scale_s != 0)
    priors.fit(state.site_of[rows["host"]].astype("int64"), shape, scale_s, seen, len(state.sites))
