"""One estimate of importance for all newcomers: pages known for less than a whole window.

It applies only to schemes in which cash circulates; see `evercrawl.importance.newcomers` for the rules.
"""

from typing import Any, Final, cast

import numpy as np

from evercrawl.importance import newcomers
from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.base import Importance
from evercrawl.importance.newcomers import Rule
from evercrawl.store.records.records import MEMBER
from evercrawl.store.state import State
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import NO_SLOT, Floats, Slots

ALONE: Final = "alone"
"""No guess: each page is judged by itself."""
GROWN: Final = 1.02
"""The guess is made anew when so many times as many visits and known pages are there: it takes a look at every cell."""
MOST: Final = 10_000
"""Pages introduced last, whose mean is taken."""


class Guess:
    """Computes the newcomers' estimate, and renews it at intervals.

    Parameters
    ----------
    state, scheme
        The state of the pages, and the importance scheme.
    rule
        `ALONE`, or one of `evercrawl.importance.newcomers.RULES`.
    """

    def __init__(self, state: State, scheme: Importance, rule: str) -> None:
        self._state = state
        self._scheme = scheme if isinstance(scheme, AOPIC) and rule != ALONE else None
        self._rule: Rule = cast("Rule", rule)
        self._due, self._last = 0.0, 0.0

    def __call__(self) -> float | None:
        """Return the estimate p, as a share of all cash per unit of G; None if each page is estimated by itself."""
        if self._scheme is None:
            return None
        seen = self._state.known.count + self._state.visits
        if seen >= self._due:
            self._due, self._last = GROWN * seen, newcomers.guess(self._rule, self._known(), self._scheme.tax)
        return self._last

    def _known(self) -> newcomers.Newcomers:
        """Return the inputs of the rule, as far as this one needs them."""
        state, count = self._state, self._state.known.count
        if self._rule == "paper":
            return newcomers.Newcomers(introduced=self._introduced(), pages=max(count, 1))
        unread = (state.table.record[:count] & np.uint32(NO_RECORD)) != 0
        cash = np.maximum(state.table.cash[:count][unread], 0.0)
        ages = state.accounts.total - state.born[:count][unread].astype(np.float64)
        return newcomers.Newcomers(float(cash.sum()), float(np.maximum(ages, 0.0).sum()), pages=max(count, 1))

    def _introduced(self) -> float:
        """Return the mean importance, without an estimate, of the pages found within the last window."""
        state, scheme = self._state, self._scheme
        assert scheme is not None, "who makes no guess asks for nothing"
        total, length = state.accounts.total, scheme.window.length
        slots = np.flatnonzero(state.born[: state.known.count] >= total - length)[-MOST:].astype(np.uint32)
        return newcomers.introduced(self._alone(slots), state.born[slots].astype(np.float64), total, length)

    def _alone(self, slots: Slots) -> Floats:
        """Return the importance of pages, each estimated by itself, shape (n,)."""
        state, scheme = self._state, self._scheme
        assert scheme is not None, "who makes no guess asks for nothing"
        cells = state.table.record[slots]
        rows: Any = state.records.rows.take(np.minimum(cells, np.uint32(state.records.count)))
        own = (cells < NO_RECORD) & (rows["alias"] == NO_SLOT)
        part = np.where(own & ((rows["flags"] & MEMBER) != 0), state.accounts.shares(state.site_of[rows["host"]]), 0.0)
        kept = state.records.kept_at(cells)
        return scheme.importance(
            state.table.cash[slots] + part, rows["importance"] * own, rows["mark"] * own.astype(np.float64),
            state.accounts.total, kept * own[:, None] if kept is not None else None, state.born_of(slots),
        )  # fmt: skip
