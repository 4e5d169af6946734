"""Learning from visits how fast pages vanish and come back, in crawls, replays and simulations alike."""

import math

import numpy as np

from evercrawl.change.comebacks import Comebacks
from evercrawl.change.deaths import Deaths
from evercrawl.types import Flags, Floats, Ints


class VanishingRates:
    """Learns how fast pages vanish, and how fast pages that were found gone come back.

    Parameters
    ----------
    deaths, comebacks
        Rates learned earlier; the priors by default.

    Attributes
    ----------
    deaths, comebacks
        The rates at which pages vanish, and at which gone pages come back.

    Examples
    --------
    A page that was read a day ago is gone. A day later it is back:

    >>> rates, day = VanishingRates(), 86_400.0
    >>> rates.learn(0, day, math.nan, math.nan, read=False, gone=True, back=False)
    >>> rates.learn(0, 2 * day, day, day, read=True, gone=False, back=True)
    >>> rates.deaths.gone, rates.deaths.watched_s / day, rates.comebacks.back
    (1, 1.0, 1)
    """

    def __init__(self, deaths: Deaths | None = None, comebacks: Comebacks | None = None) -> None:
        self.deaths = Deaths() if deaths is None else deaths
        self.comebacks = Comebacks() if comebacks is None else comebacks

    def learn(
        self, site: int, since_s: float, missing_s: float, interval_s: float, *, read: bool, gone: bool, back: bool
    ) -> None:
        """Learn from a visit that showed whether its page exists.

        Parameters
        ----------
        site
            Number of the site, whose influence is limited.
        since_s
            Time since the page was last read; nan if it never was.
        missing_s
            If the previous visit found the page gone: the time from the last read, or the discovery, to that visit;
            nan otherwise. A page that was gone can only come back, not vanish.
        interval_s
            Time since the previous visit; used only if `missing_s` is not nan.
        read, gone, back
            Whether the visit read the page, whether it found the page gone, and whether a page that was gone is back.
        """
        if not math.isnan(missing_s):
            self.comebacks.learn_of_site(site, missing_s, interval_s, back=back)
        elif (read or gone) and not math.isnan(since_s):
            self.deaths.learn_of_site(site, since_s, gone=gone)

    def learn_many(self, site: Ints, since_s: Floats, missing_s: Floats, interval_s: Floats, gone: Flags) -> None:
        """Learn from many visits like `learn`; each read its page or found it gone. All arrays have shape (n,)."""
        usual = ~gone & np.isnan(missing_s)  # the other visits are rare
        watched = usual & ~np.isnan(since_s)
        for number, seconds in enumerate(np.bincount(site[watched], since_s[watched]).tolist()):
            if seconds:
                self.deaths.learn_of_site(number, seconds, gone=False)
        for i in np.flatnonzero(~usual).tolist():
            lost = bool(gone[i])
            self.learn(
                int(site[i]), float(since_s[i]), float(missing_s[i]), float(interval_s[i]),
                read=not lost, gone=lost, back=not lost,
            )  # fmt: skip
