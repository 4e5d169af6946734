"""A limit on the ports of a host that are asked for files other than pages: requisites, robots.txt that has moved."""

from __future__ import annotations

from typing import Final

from evercrawl.model.rules.named_by_others import OTHERS_PORTS

MOST_HOSTS: Final = 1 << 12
"""Number of hosts that are remembered: those asked last."""


class PortLimit:
    """Limits the ports of each host, besides the usual ones, that are asked in this run to `OTHERS_PORTS`.

    Examples
    --------
    >>> ports = PortLimit()
    >>> [ports.allows("a.example", port) for port in ("81", "82", "83", "81")]
    [True, True, False, True]
    """

    def __init__(self) -> None:
        self._of = dict[str, set[str]]()

    def allows(self, host: str, port: str) -> bool:
        """Return whether a port of a host may be asked, and count it if so."""
        ports = self._of.pop(host, set())
        self._of[host] = ports  # moves the host to the end, so that hosts asked long ago are dropped first
        if len(self._of) > MOST_HOSTS:
            del self._of[next(iter(self._of))]
        if port not in ports and len(ports) >= OTHERS_PORTS:
            return False
        ports.add(port)
        return True
