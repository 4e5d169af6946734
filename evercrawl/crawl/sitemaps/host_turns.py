"""When each host may next be asked for a sitemap."""

from __future__ import annotations

from typing import Final

LEAST: Final = 1 << 12
"""Number of hosts that are remembered even if their turn has come."""


class HostTurns:
    """The instants from which on hosts may be asked again; those that are past are forgotten now and then.

    Examples
    --------
    >>> turns = HostTurns()
    >>> turns.put_off(7, until=5.0, now=1.0)
    >>> turns.wait_s(7, 2.0), turns.wait_s(8, 2.0), turns.wait_s(7, 6.0)
    (3.0, 0.0, 0.0)
    """

    def __init__(self) -> None:
        self._until: dict[int, float] = {}
        self._most = LEAST

    def __len__(self) -> int:
        """Return how many hosts are remembered."""
        return len(self._until)

    def put_off(self, host: int, until: float, now: float) -> None:
        """Let a host, by its number, not be asked before an instant."""
        if len(self._until) >= self._most:
            self._until = {other: at for other, at in self._until.items() if at > now}
            self._most = max(2 * len(self._until), LEAST)
        self._until[host] = until

    def wait_s(self, host: int, now: float) -> float:
        """Return how long a host may not be asked yet, in seconds."""
        return max(self._until.get(host, 0.0) - now, 0.0)
