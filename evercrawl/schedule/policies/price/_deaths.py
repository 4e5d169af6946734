"""What becomes of a belief about changes where pages vanish too, compiled; `Exposure.dying` has the same in numpy.

What a page is worth that was found gone, for the time when it is back, compiled.
"""

import math
from typing import Final

from evercrawl.kernels.build import compiled
from evercrawl.schedule.clocks._chances import log1p
from evercrawl.schedule.clocks._exposure_kernel import CopyBelief
from evercrawl.schedule.policies.price._worth import due_after

BACK_SHAPE: Final = 0.5
"""Of the belief about the rate at which a page comes back, as `change.comebacks` has it."""


@compiled
def weight_back(
    w: float, a: float, b: float, c0: float, c1: float, price: float, theta: float, longing: float, never: float,
    close: float, rho: float,
) -> float:  # fmt: skip
    """Return what a second is worth by which a page that is back is seen sooner: w S(t), t the age at which it is due.

    From the visit that sees it back on it is kept fresh at the usual price: in the optimum a second of that earns what
    the last second before a visit does. Nobody knows t before there is a price: then all that the page weighs. A page
    that is not worth another visit at any age is worth none to see whether it is back.
    """
    if not price > 0.0:
        return w
    age = due_after(w, a, b, c0, c1, price, theta, longing, never, close, rho, 0.0)
    return w * math.exp(-a * log1p(age / b)) if age < never else 0.0


@compiled
def dying(told: CopyBelief, age_s: float, deaths: float) -> CopyBelief:
    """Return what is thought of a copy that is no good either once its page is gone: lam + d in place of lam.

    Where no page vanishes, nothing at all becomes another.
    """
    if deaths == 0.0:
        return told
    also = deaths * told.scale / told.shape
    both = 1.0 + also
    return CopyBelief(
        told.shape * both * both, told.scale * both, (told.exposure + also * age_s) / both,
        (told.speed + also) / both, told.level, told.slope, told.mates, told.jump / both,
    )  # fmt: skip
