"""Clocks of folders that are sure that they foretell better than time."""

from evercrawl.schedule.clocks._layout import ADVANTAGE
from evercrawl.schedule.clocks.clocks import Clocks


def sure(clocks: Clocks) -> Clocks:
    """Return the same clocks, believed on all sites."""
    memory = clocks.state()
    memory["sites"] = memory["sites"].copy()
    memory["sites"][:, ADVANTAGE] = 1e6
    other = Clocks()
    other.restore(memory)
    return other
