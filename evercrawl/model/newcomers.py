"""What pages are thought to be worth that have not been known for a whole window: one guess for all of them.

Only where cash goes round is there anything to guess; see `evercrawl.importance.newcomers` for the rules.
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
    """Makes the guess, and makes it anew now and then.

    Parameters
    ----------
    state, scheme
        Who has what, and who judges.
    rule
        `ALONE`, or one of `evercrawl.importance.newcomers.RULES`.
    """

    def __init__(self, state: State, scheme: Importance, rule: str) -> None:
        self._state = state
        self._scheme = scheme if isinstance(scheme, AOPIC) and rule != ALONE else None
        self._rule: Rule = cast("Rule", rule)
        self._due, self._last = 0.0, 0.0

    def __call__(self) -> float | None:
        """Return p, as a share of all cash a unit of G; None where each page is judged by itself."""
        if self._scheme is None:
            return None
        seen = self._state.known.count + self._state.visits
        if seen >= self._due:
            self._due, self._last = GROWN * seen, newcomers.guess(self._rule, self._known(), self._scheme.tax)
        return self._last

    def _known(self) -> newcomers.Newcomers:
        """Return what a rule asks for, as far as this one does."""
        state, count = self._state, self._state.known.count
        if self._rule == "paper":
            return newcomers.Newcomers(introduced=self._introduced(), pages=max(count, 1))
        unread = (state.table.record[:count] & np.uint32(NO_RECORD)) != 0
        cash = np.maximum(state.table.cash[:count][unread], 0.0)
        ages = state.accounts.total - state.born[:count][unread].astype(np.float64)
        return newcomers.Newcomers(float(cash.sum()), float(np.maximum(ages, 0.0).sum()), pages=max(count, 1))

    def _introduced(self) -> float:
        """Return the mean importance of the pages that became known within the last window, those without a guess."""
        state, scheme = self._state, self._scheme
        assert scheme is not None, "who makes no guess asks for nothing"
        total, length = state.accounts.total, scheme.window.length
        slots = np.flatnonzero(state.born[: state.known.count] >= total - length)[-MOST:].astype(np.uint32)
        return newcomers.introduced(self._alone(slots), state.born[slots].astype(np.float64), total, length)

    def _alone(self, slots: Slots) -> Floats:
        """Return the importance of pages as each is judged by itself, shape (n,)."""
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
