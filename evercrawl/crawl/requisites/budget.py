"""The share of requests and bytes for requisites while pages wait."""

from __future__ import annotations

from typing import Final

MOST_REQUESTS: Final = 256.0
"""The highest number of requests saved up while nothing is owed."""
MOST_BYTES: Final = float(64 << 20)


class RequisiteBudget:
    """Counts the requests and bytes that visits leave for requisites.

    Parameters
    ----------
    share
        The share of all requests, and of all bytes, for requisites while pages wait.

    Examples
    --------
    >>> budget = RequisiteBudget(0.75)
    >>> budget.visited(1_000)
    >>> for _ in range(3):
    ...     budget.began()
    >>> budget.left
    False
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self._times = share / (1.0 - share) if share < 1.0 else float("inf")
        self._requests = self._bytes = 0.0

    @property
    def left(self) -> bool:
        """Whether another request may be made although pages wait."""
        return self.share >= 1.0 or (self._requests >= 1.0 and self._bytes > 0.0)

    def visited(self, received: int) -> None:
        """Count a page request and the bytes received."""
        if 0.0 < self.share < 1.0:
            self._requests = min(self._requests + self._times, max(MOST_REQUESTS, self._times))
            self._bytes = min(self._bytes + self._times * received, MOST_BYTES)

    def began(self) -> None:
        """Count a request for a requisite."""
        self._requests = max(self._requests - 1.0, 0.0)

    def received(self, received: int) -> None:
        """Count received bytes of a requisite."""
        if self.share < 1.0:
            self._bytes -= received
