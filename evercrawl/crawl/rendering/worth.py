"""Decides whether a page is rendered: its text without scripts is short, and rendering pays on its site."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.store.journal.events import RENDER_GAINED, RENDER_VAIN

if TYPE_CHECKING:
    from evercrawl.store.render_gains import SiteGain
    from evercrawl.store.state import State

ALWAYS: Final = "always"
AUTO: Final = "auto"
NEVER: Final = "never"
POOR_BYTES: Final = 1_000
"""A page with scripts and less text than this may have more in a browser."""
ONE_IN: Final = 16
"""On a site where rendering does not pay, one page with little text in this many is rendered as a trial."""
_GAIN_BYTES: Final = 100  # of text
_GAIN_LINKS: Final = 2
_SCRIPT: Final = re.compile(rb"<script\b", re.IGNORECASE)
_GOLDEN: Final = 0x9E37_79B1  # 2^32 over the golden ratio: multiples of consecutive numbers lie far apart


class Plain(NamedTuple):
    """A page without scripts: bytes of text, links, and whether it is so little that scripts may add more."""

    text_bytes: int
    links: int
    poor: bool

    @staticmethod
    def of(body: bytes, text_bytes: int, links: int) -> Plain:
        """Return the `Plain` of a page with this body.

        >>> [Plain.of(b"<script src=a></script>", size, 0).poor for size in (40, 5000)]
        [True, False]
        """
        return Plain(text_bytes, links, text_bytes < POOR_BYTES and _SCRIPT.search(body) is not None)

    def verdict(self, text_bytes: int, links: int) -> int:
        """Return the flag for a visit whose rendering found this much; 0 if it says nothing about the site.

        >>> poor, rich = Plain(40, 1, poor=True), Plain(5000, 1, poor=False)
        >>> [page.verdict(page.text_bytes + 5, 1) == RENDER_VAIN for page in (poor, rich)]
        [True, False]
        """
        if text_bytes >= self.text_bytes + _GAIN_BYTES or links >= self.links + _GAIN_LINKS:
            return RENDER_GAINED
        return RENDER_VAIN if self.poor else 0  # no more was expected of a page with enough text


class RenderWorth:
    """Decides which pages are rendered, by what visits have shown of their sites in this run and earlier ones.

    Parameters
    ----------
    mode
        `AUTO` or `ALWAYS`.
    state
        The state of the crawl.
    """

    def __init__(self, mode: str, state: State) -> None:
        self._mode, self._state = mode, state

    def considers(self, text_bytes: int) -> bool:
        """Whether a page with this much text without scripts may be rendered, whatever else it contains."""
        return self._mode == ALWAYS or text_bytes < POOR_BYTES

    def wanted(self, plain: Plain, host: int, slot: int, visits: int) -> bool:
        """Whether a page is to be rendered.

        Where rendering does not pay, one visit in `ONE_IN` is rendered, both of the site's pages and of each page.

        Parameters
        ----------
        plain
            The page without scripts.
        host, slot, visits
            The number of its host, its slot, and the number of earlier visits.
        """
        if self._mode == ALWAYS:
            return True
        return plain.poor and (self._gain(host).pays or due(slot, visits))

    def gained(self, host: int) -> bool:
        """Whether renderings on a host's site have found more: there, unrendered answers say little."""
        return self._gain(host).gained > 0

    def _gain(self, host: int) -> SiteGain:
        return self._state.render_gains.of(int(self._state.site_of[host]))


def due(slot: int, visits: int) -> bool:
    """Whether a page of a site where rendering does not pay is rendered at this visit as a trial.

    >>> {sum(due(slot, visits) for slot in range(first, first + 160)) for first in range(99) for visits in range(9)}
    {9, 10, 11}
    """
    return (slot + visits) * _GOLDEN % 2**32 < 2**32 // ONE_IN
