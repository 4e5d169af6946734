"""The effect of vanishing pages on posteriors, compiled; `Exposure.dying` is the same in numpy.

Also compiled: the worth of a page that was found gone, for the time after its return.
"""

import math
from typing import Final

from evercrawl.kernels.build import compiled
from evercrawl.schedule.clocks._chances import log1p
from evercrawl.schedule.clocks._exposure_kernel import CopyBelief
from evercrawl.schedule.policies.price._worth import due_after

BACK_SHAPE: Final = 0.5
"""Shape of the posterior of the rate at which a page comes back, as in `change.comebacks`."""


@compiled
def weight_back(
    w: float, a: float, b: float, c0: float, c1: float, price: float, theta: float, longing: float, never: float,
    close: float, rho: float,
) -> float:  # fmt: skip
    """Return the worth of seeing a returned page one second sooner: w S(t), with the age t at which it falls due.

    From the visit that finds it back, the page is kept fresh at the usual price: in the optimum, each second of that
    earns as much as the last second before a visit. Without a price t is unknown, and the result is the whole weight.
    A page that is not worth another visit at any age is not worth a check whether it is back.
    """
    if not price > 0.0:
        return w
    age = due_after(w, a, b, c0, c1, price, theta, longing, never, close, rho, 0.0)
    return w * math.exp(-a * log1p(age / b)) if age < never else 0.0


@compiled
def dying(told: CopyBelief, age_s: float, deaths: float) -> CopyBelief:
    """Return the state of a copy that also becomes invalid when its page vanishes: lam + d in place of lam.

    If no pages vanish, the state is unchanged.
    """
    if deaths == 0.0:
        return told
    also = deaths * told.scale / told.shape
    both = 1.0 + also
    return CopyBelief(
        told.shape * both * both, told.scale * both, (told.exposure + also * age_s) / both,
        (told.speed + also) / both, told.level, told.slope, told.mates, told.jump / both,
    )  # fmt: skip
