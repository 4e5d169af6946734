"""The base of policies published with visits at random moments: even or random intervals."""

from typing import Final

import numpy as np

from evercrawl.schedule.base import Context
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.parameters import Annotated, bounded, choice
from evercrawl.schedule.shared.planned import PlannedRates
from evercrawl.types import Floats, Slots

SPACINGS: Final = ("even", "random")
_SOON: Final = 1e-300


class Spaced(PlannedRates):
    """Visit pages at their rates, evenly, or at random moments (Poisson) as published.

    Random numbers are derived from the page's number and the time of its last visit, so that a restart repeats them.
    With random moments, the page whose moment is longest past comes first, then the one whose moment is nearest, so the
    whole budget is used.

    Parameters
    ----------
    spacing
        even or random.
    new_share, estimator, replan
        See `PlannedRates`.
    """

    @bounded
    def __init__(
        self,
        spacing: Annotated[str, choice(*SPACINGS)] = "even",
        new_share: float = 0.5,
        estimator: str = "gamma",
        replan: float = 0.125,
    ) -> None:
        super().__init__(new_share, estimator, replan)
        self.spacing = spacing

    @property
    def at_random(self) -> bool:
        """Whether visits come at random moments."""
        return self.spacing == "random"

    def lateness(self, pages: Pages, per_s: Floats, waited_s: Floats, now: float) -> Floats:
        """Return waited intervals; with random moments, a number that grows with the time since the moment."""
        if self.spacing == "even":
            return super().lateness(pages, per_s, waited_s, now)
        late = waited_s * self._mean_per_s - self._lots(pages) * self._mean_per_s / np.where(per_s > 0, per_s, 1.0)
        return np.where(late > 0, 1.0 + late, np.exp(np.minimum(late, 0.0)))

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return the next moment; infinity for pages without visits in the plan."""
        if self.spacing == "even":
            return super().due(pages, context)
        per_s = self.rates(pages.slot)
        return pages.visited_at + np.where(per_s > 0, self._lots(pages) / np.where(per_s > 0, per_s, 1.0), np.inf)

    def _lots(self, pages: Pages) -> Floats:
        """Return intervals of a Poisson process with rate 1."""
        return -np.log(np.maximum(drawn(pages.slot, pages.visited_at), _SOON))


def drawn(slots: Slots, at: Floats, salt: int = 0) -> Floats:
    """Return random numbers from 0 to 1, shape (n,), each a function of a page and an instant.

    Examples
    --------
    >>> lots = drawn(np.arange(100_000, dtype=np.uint32), np.full(100_000, 1.7e9))
    >>> round(float(lots.mean()), 2), round(float((lots < 0.1).mean()), 2), len(np.unique(lots)) > 99_990
    (0.5, 0.1, True)

    References
    ----------
    Steele, Lea, Flood (2014). Fast splittable pseudorandom number generators: the finalizer of splitmix64.
    """
    bits = slots.astype(np.uint64) ^ np.uint64(salt)
    for word in (np.uint64(0), np.ascontiguousarray(at, np.float64).view(np.uint64)):
        bits = (bits ^ word) + np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits ^= bits >> np.uint64(31)
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
