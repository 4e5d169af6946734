"""Changes that sites announce, in a sitemap's lastmod."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evercrawl.lab.polling.changing import Signals

if TYPE_CHECKING:
    from evercrawl.lab.backtest.truth import Truth


class Announced:
    """Tells of part of the changes at once, and of nothing else.

    Parameters
    ----------
    pages
        What they were, and when.
    part
        How many of the changes are told of, from 0 to 1.
    seed
        Decides of which.
    """

    def __init__(self, pages: Truth, part: float, seed: int) -> None:
        page = np.repeat(np.arange(len(pages)), np.diff(pages.first))
        before = np.r_[-1, pages.state[:-1]]
        before[pages.first[:-1]] = -1
        changes = np.flatnonzero((before >= 0) & (pages.state >= 0) & (pages.state != before))
        told = changes[np.random.default_rng([seed, 3]).random(len(changes)) < part]
        told = told[np.argsort(pages.at[told], kind="stable")]
        self._at, self._page = pages.at[told], page[told]
        self._pages, self._passed = len(pages), 0

    def pass_to(self, now: float) -> Signals | None:
        """Return what was announced up to `now` and not returned yet; None for nothing."""
        before, self._passed = self._passed, int(np.searchsorted(self._at, now, "right"))
        if before == self._passed:
            return None
        right = np.bincount(self._page[before : self._passed], minlength=self._pages)
        return Signals(right, np.zeros(self._pages, np.int64))
