"""Rates of change by any estimator of `evercrawl.change`, for policies configured with one.

This module is the only connection of the two packages: an estimator is chosen by the name of its file, like a policy,
and does not depend on policies.
"""

from typing import Final

import numpy as np

from evercrawl import catalog, change
from evercrawl.change.estimators.base import Estimator
from evercrawl.errors import ConfigError
from evercrawl.schedule.pages import Visits
from evercrawl.schedule.shared.checked import checks_among
from evercrawl.types import Floats, Slots

_LEAST_S: Final = 1e-3  # minimum of an interval, because a clock may have been set back
_ROWS: Final = 1024  # initial number of rows


class Estimated:
    """An estimator, and its state for each page: a fold over visits.

    Parameters
    ----------
    name
        Name of a file in `evercrawl.change`, or `package.module:Class`.

    Raises
    ------
    ConfigError
        There is no estimator of that name.

    Examples
    --------
    The page has no visits yet, so the given rate is returned:

    >>> Estimated("irregular").rates(np.array([7], np.uint32), np.array([0.25]))
    array([0.25])
    """

    def __init__(self, name: str) -> None:
        kind: type[Estimator] = catalog.pick(change.estimators, Estimator, name)  # type: ignore[type-abstract]
        self._estimator = kind(_ROWS)

    def learn(self, visits: Visits) -> None:
        """Learn from the visits that showed whether their page had changed."""
        told = checks_among(visits)
        if not told.any():
            return
        rows = visits.slot[told].astype(np.int64)
        held, asked = self._estimator.pages, int(rows.max()) + 1
        if asked > held:
            self._estimator.grow(max(asked, 2 * held))
        interval_s = np.maximum(visits.interval_s[told], _LEAST_S)
        self._estimator.learn(rows, interval_s, visits.changed[told], visits.age_s[told])

    def rates(self, slots: Slots, believed: Floats) -> Floats:
        """Return the estimates, changes per second, shape (n,); the posterior mean where there is no estimate.

        An estimate of infinity or 0 also counts as none: a page with rate 0 would never be visited again.
        """
        found = self._estimator.rates()
        rows = np.minimum(slots, len(found) - 1)
        known = slots < len(found)
        each = np.where(known, found[rows], np.nan)
        return np.where(np.isfinite(each) & (each > 0), each, believed)


def estimator_of(source: str, name: str, others: tuple[str, ...]) -> Estimated | None:
    """Return the estimator of that name; None for one of `others`, which need none.

    Examples
    --------
    >>> estimator_of("optimal: estimator", "median", ("typical",))
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: optimal: estimator must be one of typical, classes, irregular, last_modified, log,
    log_corrected, log_exact, naive, online_counts, online_momentum, online_steps, posterior, not 'median'
    """
    if name in others:
        return None
    try:
        return Estimated(name)
    except ConfigError as error:
        if ":" in name:
            raise
        known = [*others, *(each for each in names() if each not in others)]
        raise ConfigError(f"{source} must be one of {', '.join(known)}, not {name!r}") from error


def names() -> list[str]:
    """Return the names of all estimators, sorted.

    >>> {"irregular", "online_counts"} < set(names())
    True
    """
    return sorted(catalog.find(change.estimators, Estimator))  # type: ignore[type-abstract]
