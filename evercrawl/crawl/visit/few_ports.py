"""Few ports of a host are asked for what belongs to pages: pictures, files of scripts, a robots.txt that has moved."""

from __future__ import annotations

from typing import Final

from evercrawl.model.rules.named_by_others import OTHERS_PORTS

MOST_HOSTS: Final = 1 << 12


class FewPorts:
    """The ports of hosts, besides the usual ones, that were asked in this run though no page of theirs is crawled.

    Examples
    --------
    >>> ports = FewPorts()
    >>> [ports.allows("a.example", port) for port in ("81", "82", "83", "81")]
    [True, True, False, True]
    """

    def __init__(self) -> None:
        self._of = dict[str, set[str]]()

    def allows(self, host: str, port: str) -> bool:
        """Return whether a port of a host may be asked, and count it if so."""
        ports = self._of.pop(host, set())
        self._of[host] = ports  # the hosts asked last are kept
        if len(self._of) > MOST_HOSTS:
            del self._of[next(iter(self._of))]
        if port not in ports and len(ports) >= OTHERS_PORTS:
            return False
        ports.add(port)
        return True
