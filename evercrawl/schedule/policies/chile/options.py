"""What the parameters of `chile` may be."""

import math
from typing import Final, TypeAlias

from evercrawl.errors import ConfigError
from evercrawl.schedule.parameters import one_of, seconds
from evercrawl.schedule.policies.chile.batch import ORDERS

Options: TypeAlias = "dict[str, float | str]"
MOST: Final = 10.0
"""Of a, b and c."""
RATES: Final = ("counts", "posterior")
_ABOVE_0: Final = {
    "b": ", and above 0, else no page that was never read would be worth a visit",
    "c": ", and above 0, else no page would be worth a visit again",
}


def checked(options: Options) -> Options:
    """Return the options as they are.

    Raises
    ------
    ConfigError
        One of them cannot be so; the message says what it can be.
    """
    for name in ("a", "b", "c"):
        if not 0 <= float(options[name]) <= MOST or (name in _ABOVE_0 and float(options[name]) == 0):
            why = _ABOVE_0.get(name, "")
            raise ConfigError(f"chile: {name} must be from 0 to {MOST:g}{why}; write 1, not {options[name]}")
    for name in ("links", "queries", "visits", "url"):
        if not 0 <= float(options[name]) < math.inf:
            raise ConfigError(f"chile: {name} is a weight, 0 or more, such as 1, not {options[name]}")
    for name in ("batch_pages", "site_pages"):
        if not 1 <= float(options[name]) < math.inf:
            raise ConfigError(f"chile: {name} must be 1 at least, such as 500, not {options[name]}")
    seconds("chile: soonest", options["soonest"])
    for name, choices in (("host_order", ORDERS), ("rates", RATES)):
        one_of(f"chile: {name}", str(options[name]), choices)
    return options
