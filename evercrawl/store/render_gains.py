"""What rendering the pages of each site has brought, as a fold over the visits that say so."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from evercrawl.store.journal.events import RENDER_FAILED, RENDER_GAINED, RENDER_VAIN

TRIED: Final = 3
"""Renderings of a site that brought nothing, for each that brought something and one more, until it does not pay."""
MOST_GAINED: Final = 8
"""Renderings that brought something are counted up to here, so that a site which is another one now is soon known."""
MOST_SITES: Final = 10_000
"""Of sites beyond, those are forgotten of which nothing was learned for longest."""
VERDICTS: Final = RENDER_GAINED | RENDER_VAIN | RENDER_FAILED
_VAIN: Final = 4  # quarters, of which a page that fails counts one: that says more of the page than of its site
_ROW: Final = np.dtype([("site", "<u4"), ("gained", "u1"), ("vain", "u1")])


class SiteGain(NamedTuple):
    """How many renderings of a site brought something, and how many nothing, in quarters.

    Examples
    --------
    >>> SiteGain(0, 11).pays, SiteGain(0, 12).pays, SiteGain(1, 12).pays
    (True, False, True)
    """

    gained: int = 0
    vain: int = 0

    @property
    def pays(self) -> bool:
        """Whether the next rendering is likely to bring something, as far as those before it say."""
        return self.vain < _VAIN * TRIED * (1 + self.gained)

    def after(self, flags: int) -> SiteGain:
        """Return the counts after one more visit, by the flags of its event.

        Both are bounded: a site where rendering never paid needs two gains until it does, one where it always did some
        dozens of failures in a row until it does not. Beyond that bound a gain takes back what `TRIED` failures did.

        >>> gain = SiteGain()
        >>> for number in range(1000):
        ...     gain = gain.after(RENDER_VAIN if number % 10 == 9 else RENDER_GAINED)
        >>> gain.pays
        True
        """
        if flags & RENDER_GAINED and self.gained == MOST_GAINED:
            return SiteGain(self.gained, max(self.vain - _VAIN * TRIED, 0))
        if flags & RENDER_GAINED:
            return SiteGain(self.gained + 1, self.vain)
        vain = self.vain + (_VAIN if flags & RENDER_VAIN else 1)
        if vain <= _VAIN * TRIED * (2 + self.gained):
            return SiteGain(self.gained, vain)
        return SiteGain(self.gained // 2, _VAIN * TRIED * (2 + self.gained // 2))


class RenderGains:
    """What was learned of the sites of which a page was rendered.

    Examples
    --------
    >>> gains = RenderGains()
    >>> gains.learn(7, RENDER_GAINED)
    >>> gains.of(7), gains.of(8)
    (SiteGain(gained=1, vain=0), SiteGain(gained=0, vain=0))
    """

    def __init__(self) -> None:
        self._sites: dict[int, SiteGain] = {}

    def __len__(self) -> int:
        """Return of how many sites something is known."""
        return len(self._sites)

    def of(self, site: int) -> SiteGain:
        """Return the counts of a site, by its index."""
        return self._sites.get(site, _NOTHING)

    def learn(self, site: int, flags: int) -> None:
        """Take in a visit that tells of a rendering."""
        gain = self._sites.pop(site, _NOTHING)
        self._sites[site] = gain.after(flags)
        if len(self._sites) > MOST_SITES:
            del self._sites[next(iter(self._sites))]

    def save(self) -> bytes:
        """Return all of it, those first of which nothing was learned for longest."""
        rows = [(site, *gain) for site, gain in self._sites.items()]
        return np.array(rows, _ROW).tobytes()

    @staticmethod
    def restored(data: bytes) -> RenderGains:
        """Return what `save` returned.

        Raises
        ------
        ValueError
            It is damaged.
        """
        gains = RenderGains()
        gains._sites = {site: SiteGain(*counts) for site, *counts in np.frombuffer(data, _ROW).tolist()}
        return gains


_NOTHING: Final = SiteGain()
