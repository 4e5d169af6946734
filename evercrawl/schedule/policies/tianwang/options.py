"""The parameters of Tianwang and their valid values."""

from dataclasses import asdict, dataclass

from evercrawl.schedule.parameters import Annotated, Misses, Share, Switch, duration, hold, number, seconds


@dataclass(frozen=True, slots=True)
class TianwangOptions:
    """The parameters described in `tianwang.Tianwang`.

    Raises
    ------
    ConfigError
        A value is out of range.
    """

    new_percent: Annotated[float, number(0, 100)] = 20.0
    capacity: Annotated[int, number()] = 0
    cycle: Annotated[str, duration(1e-3, "")] = ""
    work_conserving: Switch = 0
    direct_after: Annotated[int, number(0, 8)] = 3
    retire_after: Misses = 6
    longest: Annotated[float, number(1)] = 2.0
    locality: Share = 0.0
    index_links: Annotated[int, number(1)] = 30
    index_bytes: Annotated[float, number()] = 300.0

    def __post_init__(self) -> None:
        hold("tianwang", TianwangOptions, asdict(self))

    @property
    def cycle_s(self) -> float:
        """The length of a cycle, in seconds; 0 if it is not set."""
        return seconds(self.cycle) if self.cycle else 0.0
