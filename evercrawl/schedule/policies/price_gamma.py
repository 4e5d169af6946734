"""The plain Gamma index: freshness only; pages not worth a visit are not visited."""

from typing import ClassVar

from evercrawl.schedule.shared.by_price import ByPrice


class PriceGamma(ByPrice):
    """Visit the page whose visit adds most to freshness per unit of the budget, by the Gamma posterior of its rate.

    This is `price` without its own additions, the clocks of folders and the harmonic part. Each page is assumed to
    change independently at its own rate, and no visits go to pages that are certain to change too often to be worth
    one. As long as that is uncertain, the index grows without bound.

    Examples
    --------
    Values by both policies of a page that certainly changes once a second, after an hour and after a year:

    >>> import numpy as np
    >>> from evercrawl.schedule import Context, Pages, Price
    >>> one, none = np.ones(1), np.zeros(1)
    >>> page = Pages(np.zeros(1, np.uint32), none, one, none, 1e12 * one, 1e12 * one, one, none, none)
    >>> [float(round(PriceGamma().value(page, Context(now))[0], 6)) for now in (3600.0, 31_536_000.0)]
    [1.0, 1.0]
    >>> [float(round(Price().value(page, Context(now))[0])) for now in (3600.0, 31_536_000.0)]
    [12.0, 94609.0]

    References
    ----------
    Olston, Pandey (2008). Recrawl scheduling based on information longevity. Azar et al. (2018). Tractable near-optimal
    policies for crawling. Both assume a known rate; this policy averages over the posterior.
    """

    _given: ClassVar[float] = 0.0  # ages count, and rates follow the crawl's posterior

    def __init__(self) -> None:
        super().__init__(harmonic=0.0)
