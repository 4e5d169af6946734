"""Which model tells how a site's copies age: the clocks of its folders, or time alone."""

from typing import NamedTuple

from evercrawl.schedule.clocks._layout import ADVANTAGE, ALL_ADVANTAGE, ALL_VISITS, GAIN_MOST, GAINED, MARGIN
from evercrawl.types import Floats


class ClockTrust(NamedTuple):
    """How much clocks are ahead of time on a site.

    Attributes
    ----------
    nats
        By how much clocks made what was found likelier than time alone did, in the logarithm, over about the last 500
        visits and with what the whole crawl has seen.
    believed
        Whether that is enough for clocks to decide.
    """

    nats: float
    believed: bool


def trust(site: Floats, settings: Floats) -> ClockTrust:
    """Return it for the columns of a site and the numbers of the crawl, as the kernels work it out (`clocked`).

    Examples
    --------
    A site that was hardly seen has what the whole crawl has, which alone is not enough.

    >>> import numpy as np
    >>> from evercrawl.schedule.clocks._layout import SETTINGS, SITE_COLUMNS
    >>> site, crawl = np.zeros(SITE_COLUMNS), np.zeros(SETTINGS)
    >>> crawl[ALL_ADVANTAGE], crawl[ALL_VISITS] = 900.0, 1000.0
    >>> trust(site, crawl)
    ClockTrust(nats=10.0, believed=False)
    >>> site[ADVANTAGE] = 8.0
    >>> trust(site, crawl)
    ClockTrust(nats=18.0, believed=True)
    """
    everywhere = GAINED * settings[ALL_ADVANTAGE] / max(settings[ALL_VISITS], GAINED)
    nats = float(site[ADVANTAGE] + min(max(everywhere, -GAIN_MOST), GAIN_MOST))
    return ClockTrust(nats, nats > MARGIN)
