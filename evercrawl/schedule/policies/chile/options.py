"""The parameters of `chile` and their valid values."""

from dataclasses import asdict, dataclass

from evercrawl.schedule.parameters import Annotated, Duration, choice, hold, number
from evercrawl.schedule.policies.chile.batch import ORDERS

MOST = 10.0
"""Maximum of the exponents a, b and c."""


@dataclass(frozen=True, slots=True)
class Options:
    """The parameters described in `chile.Chile`.

    Raises
    ------
    ConfigError
        A value is not valid; the message states the valid values.
    """

    a: Annotated[float, number(0, MOST)] = 1.0
    b: Annotated[float, number(0, MOST, "otherwise no unread page would be worth a visit", but=0)] = 1.0
    c: Annotated[float, number(0, MOST, "otherwise no page would be worth a second visit", but=0)] = 1.0
    links: Annotated[float, number()] = 1.0
    queries: Annotated[float, number()] = 1.0
    visits: Annotated[float, number()] = 1.0
    url: Annotated[float, number()] = 0.1
    batch_pages: Annotated[int, number(1)] = 10_000
    site_pages: Annotated[int, number(1)] = 500
    host_order: Annotated[str, choice(*ORDERS)] = "largest"
    soonest: Duration = "2h"
    rates: Annotated[str, choice("counts", "posterior")] = "counts"

    def __post_init__(self) -> None:
        hold("chile", Options, asdict(self))
