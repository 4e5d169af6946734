"""What whoever polls pages believes of their rates of change, learned as a crawl learns it, many pages at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evercrawl.change import SitePriors, announcements, dates, gamma
from evercrawl.change.prior import DEFAULT_SCALE_S, SHAPE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.types import Floats, Ints

_SURE: Final = 1e12  # the shape of a belief that knows the rate
_FIT_FIRST: Final = 20  # intervals seen when the priors are fitted for the first time
_FIT_GROWTH: Final = 0.1  # of the intervals seen, after which they are fitted again
_FORGOTTEN: Final = 20.0  # cycles after which nothing more is forgotten


class Beliefs:
    """Gamma posteriors of the rates of pages, the prior learned host by host.

    Parameters
    ----------
    host
        Number of each page's host, shape (n,).
    known_per_s
        The rates, where they are known and nothing has to be learned.
    forget, cycle_s
        Evidence of one cycle ago counts e^-forget as much.
    by_host
        Whether hosts have priors of their own.

    Attributes
    ----------
    shape, scale_s
        The posterior, shape (n,); written in place.
    """

    def __init__(
        self, host: Ints, known_per_s: Floats | None, *, forget: float, cycle_s: float, by_host: bool = True
    ) -> None:
        n = len(host)
        self._host = host if by_host else np.zeros(n, np.int64)
        self._known = known_per_s
        self._fade, self._hosts = forget / cycle_s, int(self._host.max()) + 1
        self._most = forget * _FORGOTTEN
        self._priors = SitePriors(self._hosts)
        self._shape, self._scale_s = np.zeros(n), np.zeros(n)  # the evidence
        self._told = np.full(n, math.nan), np.full(n, math.nan)  # that the priors know of
        self._untold = list["Ints"]()
        self._intervals, self._fit_at = 0, _FIT_FIRST
        self.shape, self.scale_s = np.full(n, SHAPE), np.full(n, DEFAULT_SCALE_S)
        self.refresh()

    def refresh(self) -> None:
        """Bring priors up to date with the visits, and posteriors with the priors, or with rates that have drifted."""
        if self._known is None:
            self._tell()
            np.add(self._shape, SHAPE, out=self.shape)
            np.add(self._scale_s, self._priors.scales_s[self._host], out=self.scale_s)
        else:
            self.shape[:] = _SURE
            np.divide(_SURE, self._known, out=self.scale_s)

    def learn(
        self,
        rows: Ints,
        interval_s: Floats,
        changed: NDArray[np.bool_],
        age_s: Floats,
        quiet_s: Floats | None = None,
    ) -> None:
        """Learn from visits, each of another page; `interval_s` is nan at the first, `age_s` where nobody says.

        `quiet_s` is the part of the interval for which it is known that there was no change; none by default.
        """
        later = ~np.isnan(interval_s)
        if self._known is not None or not later.any():
            return
        quiet_s = np.zeros(int(later.sum())) if quiet_s is None else quiet_s[later]
        rows, interval_s, changed, age_s = rows[later], interval_s[later], changed[later], age_s[later]
        weight = np.exp(-np.minimum(self._fade * interval_s, self._most))
        held = self._shape[rows] * weight, self._scale_s[rows] * weight
        prior_s = self._priors.scales_at(self._host[rows])
        shape, scale_s = gamma.learn_many(
            held[0] + SHAPE, held[1] + prior_s + quiet_s, interval_s - quiet_s, changed, age_s
        )
        after = np.maximum(shape - SHAPE, 0.0), np.maximum(scale_s - prior_s, 0.0)
        self._untold.append(rows)
        self._shape[rows], self._scale_s[rows] = after
        self.shape[rows], self.scale_s[rows] = after[0] + SHAPE, after[1] + self._priors.scales_at(self._host[rows])
        self._intervals += len(rows)

    def _tell(self) -> None:
        """Let the priors take in what became of the evidence, or all of it anew when there is a good deal more."""
        if not self._untold:
            return
        rows = np.unique(np.concatenate(self._untold))
        self._untold.clear()
        before = self._told[0][rows], self._told[1][rows]
        self._told[0][rows], self._told[1][rows] = self._shape[rows], self._scale_s[rows]
        if self._intervals < self._fit_at:
            self._priors.learn_many(self._host[rows], before, (self._shape[rows], self._scale_s[rows]))
            return
        self._fit_at = self._intervals + max(int(_FIT_GROWTH * self._intervals), 1)
        self._priors.fit(self._host, self._shape, self._scale_s, ~np.isnan(self._told[0]), self._hosts)


class Trust:
    """How far announcements of changes are believed, host by host, and what they say of each page.

    Attributes
    ----------
    neg_log_unchanged
        -ln of the probability that what was announced of a page since its last visit is all false, shape (n,).
    """

    def __init__(self, host: Ints) -> None:
        hosts = int(host.max()) + 1
        self._host = host
        self._good, self._bad = np.zeros(hosts), np.zeros(hosts)
        self._recall = announcements.Recall(hosts)
        self._count = np.zeros(len(host))
        self._first_at = np.full(len(host), math.nan)
        self.neg_log_unchanged = np.zeros(len(host))

    def announce(self, count: Ints, now: float) -> None:
        """Take in how often each page was announced, shape (n,)."""
        self._first_at[(count > 0) & (self._count == 0)] = now
        self._count += count
        self.neg_log_unchanged[:] = (
            self._count * -np.log1p(-np.minimum(self._share(), dates.MOST_PRECISION))[self._host]
        )

    def announced(self, rows: Ints) -> NDArray[np.bool_]:
        """Return which of some pages were announced since their last visits, shape (n,)."""
        return np.asarray(self._count[rows] > 0)

    def announced_share(self, rows: Any) -> Floats | None:
        """Return which part of their changes the hosts of some pages announce; None where none ever did."""
        return self._recall.of(self._host[rows]) if self._recall.any else None

    def heard(self, rows: Ints) -> Floats:
        """Return which part of their changes the hosts of some pages announce, as far as was seen, shape (n,)."""
        return self._recall.of(self._host[rows])

    def age_s(self, rows: Ints, now: float) -> Floats:
        """Return how long ago a change of some pages was announced first; nan where it is likelier to be false."""
        return np.where(self._share()[self._host[rows]] >= dates.LIKELY, now - self._first_at[rows], math.nan)

    def learn(self, rows: Ints, changed: NDArray[np.bool_], beliefs: Beliefs, interval_s: Floats, now: float) -> None:
        """Compare with what visits found; it is all that was announced of these pages."""
        told = self.announced(rows)
        hosts = self._host[rows]
        if told.any() or self._recall.any:
            passed_s = np.where(told, interval_s - (now - self._first_at[rows]), np.nan_to_num(interval_s))
            past = beliefs.shape[rows], beliefs.scale_s[rows], np.maximum(passed_s, 0.0), self._recall.of(hosts)
            listened, looked = announcements.listening(*past), announcements.looking(*past)
            self._recall.learn(hosts, told, changed & ~np.isnan(interval_s), listened, looked)
        self._good += np.bincount(hosts[told & changed], minlength=len(self._good))
        self._bad += np.bincount(hosts[told & ~changed], minlength=len(self._bad))
        self._count[rows] = self.neg_log_unchanged[rows] = 0.0
        self._first_at[rows] = math.nan

    def _share(self) -> Floats:
        """Return which part of its announcements each host made rightly."""
        return (self._good + 1) / (self._good + self._bad + 2)
