"""Clocks of folders that are sure that they foretell better than time."""

from evercrawl.schedule.clocks._layout import ODDS
from evercrawl.schedule.clocks.clocks import Clocks
from evercrawl.schedule.policies.price_gamma import PriceGamma
from evercrawl.schedule.shared.by_price import ByPrice


class Exact(PriceGamma):
    """Finds the instants at which pages fall due to nine digits."""

    def __init__(self) -> None:
        ByPrice.__init__(self, harmonic=0.0, close=1e-9)


def sure(clocks: Clocks) -> Clocks:
    """Return the same clocks, believed on all sites."""
    memory = clocks.state()
    memory["sites"] = memory["sites"].copy()
    memory["sites"][:, ODDS] = 1e6
    other = Clocks()
    other.restore(memory)
    return other
