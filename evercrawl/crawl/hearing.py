"""Signals of publishers about changed pages, read while the crawl runs and treated like entries of a sitemap."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from evercrawl.parse.urls import normalise
from evercrawl.store.signals import PIECE_BYTES, Signal, signals_in

if TYPE_CHECKING:
    from evercrawl.store.signals import SignalSource

LOOK_S: Final = 1.0


class Hearing:
    """Reads signals, and passes the pages that they name to a listener.

    Parameters
    ----------
    source
        The source of signals; None if there is none.
    listener
        Called with distinct URLs, the instants at which they are said to have changed, and the time:
        `Learner.admit_listing`. The listener applies scope, budgets and the trust in a site.

    Attributes
    ----------
    heard
        Number of pages passed on in this run.
    """

    def __init__(
        self, source: SignalSource | None, listener: Callable[[Sequence[str], Sequence[float | None], float], bool]
    ) -> None:
        self._source, self._listener = source, listener
        self._file = self._offset = 0
        self._looked_at = -math.inf
        self.heard = 0

    def turn(self, now: float) -> None:
        """Read new signals, up to one piece of the file."""
        if self._source is None or now - self._looked_at < LOOK_S:
            return
        self._looked_at = now
        file, size = self._source.look()
        if file != self._file or size < self._offset:
            self._file, self._offset = file, 0
        if size == self._offset:
            return
        data = self._source.read(self._offset, PIECE_BYTES)
        signals, used = signals_in(data)
        self._offset += used or (len(data) if len(data) >= PIECE_BYTES else 0)  # no line is that long
        if used and self._offset < size:
            self._looked_at = -math.inf  # there is more
        self._tell(signals, now)

    def _tell(self, signals: Sequence[Signal], now: float) -> None:
        dates: dict[str, float] = {}
        for signal in signals:
            if 0.0 < signal.at < math.inf:
                dates |= {url: min(signal.at, now) for url in signal.urls if normalise(url) == url}
        if dates:
            self.heard += len(dates)
            self._listener(list(dates), list(dates.values()), now)
