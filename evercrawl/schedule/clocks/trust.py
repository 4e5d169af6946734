"""The choice of the model for the age of a site's copies: the clocks of its folders, or time alone."""

import math
from typing import NamedTuple

from evercrawl.schedule.clocks._layout import (
    ALL_BELIEVED,
    ALL_SITES,
    BELIEVED,
    BELIEVED_SITES,
    COUNTED,
    ODDS,
    SHARE,
)
from evercrawl.types import Floats

_MOST_ODDS = 700.0


class ClockTrust(NamedTuple):
    """The probability that clocks are right on a site.

    Attributes
    ----------
    nats
        The logarithm of the odds: from the likelihoods of results under clocks and under time alone, and from other
        sites.
    believed
        The probability.
    """

    nats: float
    believed: float


def trust(site: Floats, settings: Floats) -> ClockTrust:
    """Return the trust for the columns of a site and the numbers of the crawl, as computed by kernels (`believed`).

    Examples
    --------
    A site with few observations gets the mean of other sites: the prior at first.

    >>> import numpy as np
    >>> from evercrawl.schedule.clocks._layout import SETTINGS, SITE_COLUMNS
    >>> site, crawl = np.zeros(SITE_COLUMNS), np.zeros(SETTINGS)
    >>> round(trust(site, crawl).believed, 3)
    0.1
    >>> site[ODDS], crawl[ALL_BELIEVED], crawl[ALL_SITES] = 2.0, 7.8, 8.0
    >>> [round(number, 3) for number in trust(site, crawl)]
    [3.386, 0.967]
    """
    others = settings[ALL_SITES] - (site[COUNTED] > 0)
    usual = (settings[ALL_BELIEVED] - site[COUNTED] + BELIEVED * BELIEVED_SITES) / (others + BELIEVED_SITES)
    usual = min(max(float(usual), SHARE), 1.0 - SHARE)
    nats = float(site[ODDS]) + math.log(usual / (1.0 - usual))
    return ClockTrust(nats, 1.0 / (1.0 + math.exp(-min(max(nats, -_MOST_ODDS), _MOST_ODDS))))
