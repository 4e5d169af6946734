"""The parameters of Tianwang's, and what they may be."""

from dataclasses import dataclass

from evercrawl.schedule.parameters import misses, seconds, within


@dataclass(frozen=True, slots=True)
class Options:
    """As `tianwang.Tianwang` says.

    Raises
    ------
    ConfigError
        Where one of them is out of bounds.
    """

    new_percent: float
    capacity: float
    cycle: str
    work_conserving: float
    direct_after: int
    retire_after: float
    longest: float
    locality: float
    index_links: float
    index_bytes: float

    def __post_init__(self) -> None:
        bounds = {
            "new_percent": (0, 100), "capacity": (0,), "work_conserving": (0, 1), "direct_after": (0, 8),
            "longest": (1,), "locality": (0, 1), "index_links": (1,), "index_bytes": (0,),
        }  # fmt: skip
        for name, (least, *most) in bounds.items():
            within(f"tianwang: {name}", getattr(self, name), least, *most)
        misses("tianwang: retire_after", self.retire_after)
        if self.cycle:
            seconds("tianwang: cycle", self.cycle)

    @property
    def cycle_s(self) -> float:
        """How long a cycle is, in seconds; 0 where nobody says."""
        return seconds("tianwang: cycle", self.cycle) if self.cycle else 0.0
