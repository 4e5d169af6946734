"""What is believed of how fast pages change, vanish and come back, by the evidence of all records."""

from typing import Any, Final

from evercrawl.change.comebacks import Comebacks
from evercrawl.change.deaths import Deaths
from evercrawl.change.prior import SitePriors
from evercrawl.store.state import State
from evercrawl.types import Outcome

NO_COPY: Final = (Outcome.REDIRECT, Outcome.GONE)
"""After a visit with one of these there is no copy of the page any more."""


def priors_of(state: State) -> SitePriors:
    """Return the priors that the evidence of all records makes."""
    priors = SitePriors(len(state.sites))
    fit(priors, state)
    return priors


def deaths_of(state: State) -> Deaths:
    """Return how fast pages vanish, by what an earlier run noted."""
    return Deaths(state.notes.get("gone_pages", 0), state.notes.get("watched_s", 0.0))


def comebacks_of(state: State) -> Comebacks:
    """Return how fast pages come back, by what an earlier run noted."""
    return Comebacks(state.notes.get("back_pages", 0), state.notes.get("gone_watched_s", 0.0))


def fit(priors: SitePriors, state: State) -> None:
    """Fit priors, site by site, to the evidence of all records."""
    rows: Any = state.records.rows[: state.records.count]
    shape, scale_s = rows["rate_shape"], rows["rate_scale_s"]
    seen = (shape != 0) | (scale_s != 0)
    priors.fit(state.site_of[rows["host"]].astype("int64"), shape, scale_s, seen, len(state.sites))
