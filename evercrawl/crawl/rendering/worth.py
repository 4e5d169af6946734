"""Whether a page is to be read in a browser: where its text without scripts is poor, as long as that pays."""

from __future__ import annotations

import re
from typing import Final

import msgspec

ALWAYS: Final = "always"
AUTO: Final = "auto"
NEVER: Final = "never"
POOR_BYTES: Final = 1_000
"""A page with scripts and less text than that may say more in a browser."""
TRIED: Final = 3
"""Renderings of a host that brought nothing, after which one in `ONE_IN` of its poor pages is tried."""
ONE_IN: Final = 16
FAILED: Final = 0.25
"""Of a rendering that brought nothing, which a page that fails counts as."""
MOST_HOSTS: Final = 10_000
_GAIN_BYTES: Final = 100  # of text
_GAIN_LINKS: Final = 2
_SCRIPT: Final = re.compile(rb"<script\b", re.IGNORECASE)


class HostGain(msgspec.Struct):
    """How many renderings of a host brought something, how many nothing; poor pages left out since."""

    gained: int = 0
    vain: float = 0
    left_out: int = 0


class RenderWorth:
    """Learns for each host whether rendering pays.

    Parameters
    ----------
    mode
        `AUTO` or `ALWAYS`.

    Examples
    --------
    >>> worth = RenderWorth(AUTO)
    >>> [worth.wanted("a.example", b"<script src=a></script>", size) for size in (40, 5000)]
    [True, False]
    >>> for _ in range(TRIED):
    ...     worth.learn("a.example", text_bytes=40, links=1, rendered_bytes=45, rendered_links=1)
    >>> [worth.wanted("a.example", b"<script>", 40) for _ in range(ONE_IN)].count(True)
    1
    """

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._hosts: dict[str, HostGain] = {}

    def wanted(self, host: str, body: bytes, text_bytes: int) -> bool:
        """Whether a page is to be rendered, whose body has so much text without scripts."""
        if self._mode == ALWAYS:
            return True
        if text_bytes >= POOR_BYTES or _SCRIPT.search(body) is None:
            return False
        gain = self._hosts.get(host)
        if gain is None or gain.vain < TRIED * (1 + gain.gained):
            return True
        gain.left_out += 1
        return gain.left_out % ONE_IN == 0

    def pays(self, host: str) -> bool:
        """Whether renderings of a host have brought something: what its server sends says little of its pages."""
        gain = self._hosts.get(host)
        return gain is not None and gain.gained > 0

    def learn(self, host: str, *, text_bytes: int, links: int, rendered_bytes: int, rendered_links: int) -> None:
        """Take note of what one rendering brought."""
        gain = self._gain_of(host)
        if rendered_bytes >= text_bytes + _GAIN_BYTES or rendered_links >= links + _GAIN_LINKS:
            gain.gained += 1
        else:
            gain.vain += 1

    def failed(self, host: str) -> None:
        """Take note of a page that failed in the browser: that says more of the page than of its host."""
        self._gain_of(host).vain += FAILED

    def _gain_of(self, host: str) -> HostGain:
        gain = self._hosts.pop(host, None) or HostGain()
        self._hosts[host] = gain
        if len(self._hosts) > MOST_HOSTS:
            del self._hosts[next(iter(self._hosts))]
        return gain
