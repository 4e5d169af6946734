"""What becomes of a belief about changes where pages vanish too, compiled; `Exposure.dying` has the same in numpy."""

from evercrawl.kernels.build import compiled
from evercrawl.schedule.clocks._exposure_kernel import Told


@compiled
def dying(told: Told, age_s: float, deaths: float) -> Told:
    """Return what is thought of a copy that is no good either once its page is gone: lam + d in place of lam.

    Where no page vanishes, nothing at all becomes another.
    """
    if deaths == 0.0:
        return told
    also = deaths * told.scale / told.shape
    both = 1.0 + also
    return Told(
        told.shape * both * both, told.scale * both, (told.exposure + also * age_s) / both,
        (told.speed + also) / both, told.level, told.slope, told.mates, told.jump / both,
    )  # fmt: skip
