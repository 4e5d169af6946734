"""What became of one world."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Result:
    """What became of one world.

    Attributes
    ----------
    seed, hash, lines
        The world, and its log.
    virtual_s, real_s
        How long it lasted, and how long that took.
    lives, visits, requests
        Runs, events of visits, requests for anything.
    revisited
        Pages of which the last life was held to have visited them again.
    ends, faults
        How the lives ended; what befell them, by kind.
    broken
        What was promised and not kept, "law: how"; empty where all is well.
    """

    seed: int
    hash: str = ""
    lines: int = 0
    virtual_s: float = 0.0
    real_s: float = 0.0
    lives: int = 0
    visits: int = 0
    requests: int = 0
    revisited: int = 0
    ends: Counter[str] = field(default_factory=Counter[str])
    faults: Counter[str] = field(default_factory=Counter[str])
    broken: list[str] = field(default_factory=list[str])

    @property
    def speed(self) -> float:
        """Return how many times faster than real time it was.

        Examples
        --------
        >>> Result(7, virtual_s=7200.0, real_s=2.0).speed
        3600.0
        """
        return self.virtual_s / max(self.real_s, 1e-9)
