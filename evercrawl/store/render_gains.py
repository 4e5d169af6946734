"""What rendering has brought for the pages of each site, as a fold over visits."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from evercrawl.store.journal.events import RENDER_FAILED, RENDER_GAINED, RENDER_VAIN

TRIED: Final = 3
"""Number of useless renderings of a site, for each useful one and one more, after which rendering does not pay."""
MOST_GAINED: Final = 8
"""Maximum count of useful renderings, so that a change of the site is soon noticed."""
MOST_SITES: Final = 10_000
"""Maximum number of sites; beyond it, those without news for longest are forgotten."""
VERDICTS: Final = RENDER_GAINED | RENDER_VAIN | RENDER_FAILED
_VAIN: Final = 4  # in quarters; a failed page counts one, because it tells more about the page than about its site
_ROW: Final = np.dtype([("site", "<u4"), ("gained", "u1"), ("vain", "u1")])


class SiteGain(NamedTuple):
    """Number of useful renderings of a site, and of useless ones in quarters.

    Examples
    --------
    >>> SiteGain(0, 11).pays, SiteGain(0, 12).pays, SiteGain(1, 12).pays
    (True, False, True)
    """

    gained: int = 0
    vain: int = 0

    @property
    def pays(self) -> bool:
        """Return whether the next rendering is likely to be useful, judged by those before."""
        return self.vain < _VAIN * TRIED * (1 + self.gained)

    def after(self, flags: int) -> SiteGain:
        """Return the counts after one more visit, from the flags of its event.

        Both are bounded: a site where rendering never paid needs two useful renderings to recover; one where it
        always did needs dozens of useless ones in a row. Beyond the bound, a useful rendering offsets `TRIED` useless
        ones.

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
    """The counts of all sites with rendered pages.

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
        """Return the number of sites with counts."""
        return len(self._sites)

    def of(self, site: int) -> SiteGain:
        """Return the counts of a site, by its index."""
        return self._sites.get(site, _NOTHING)

    def learn(self, site: int, flags: int) -> None:
        """Count a visit that reports a rendering."""
        gain = self._sites.pop(site, _NOTHING)
        self._sites[site] = gain.after(flags)
        if len(self._sites) > MOST_SITES:
            del self._sites[next(iter(self._sites))]

    def save(self) -> bytes:
        """Return all counts, beginning with the sites without news for longest."""
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
