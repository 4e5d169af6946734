"""Valid values of the parameters of policies, declared once, together with their names, types and defaults.

A `bounded` constructor, or a dataclass that calls `hold`, checks each value against the kind in its annotation:
`share: Annotated[float, number(0, 1)]`. Settings use the same kinds, and the pages about policies print them.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ParamSpec

from evercrawl.config.values import ValueKind, choice, duration, number, several
from evercrawl.errors import ConfigError
from evercrawl.types import RETIRED

P = ParamSpec("P")


def _bit(raw: object) -> int:
    if raw not in (0, 1):
        raise ValueError
    return int(raw == 1)


Share = Annotated[float, number(0, 1)]
Switch = Annotated[int, ValueKind("N", "0 or 1", _bit)]
Duration = Annotated[str, duration(1e-3)]
Misses = Annotated[int, number(1, RETIRED, f"at {RETIRED} the crawl itself gives a page up")]
"""Number of consecutive visits that find a page gone, after which a policy retires it; at `RETIRED` the crawl does."""

__all__ = [
    "Annotated", "Duration", "Misses", "Share", "Switch", "bounded", "choice", "duration", "hold", "kinds", "kinds_of",
    "number", "seconds", "several",
]  # fmt: skip


@functools.cache
def kinds(declared: Callable[..., object]) -> dict[str, ValueKind]:
    """Return the kinds in the annotations of a constructor or dataclass, by parameter.

    >>> def made(share: Share = 0.5, name: str = "") -> None: ...
    >>> {name: kind.form for name, kind in kinds(made).items()}
    {'share': 'from 0 to 1'}
    """
    taken = inspect.signature(declared, eval_str=True).parameters.items()
    found = {name: getattr(each.annotation, "__metadata__", ()) for name, each in taken}
    return {name: told[0] for name, told in found.items() if told and isinstance(told[0], ValueKind)}


def kinds_of(policy: type[object]) -> dict[str, ValueKind]:
    """Return the kinds of a policy's parameters, including those that it passes to its base class."""
    own = inspect.signature(policy).parameters
    above = [each for each in reversed(policy.__mro__) if {"__init__", "__signature__"} & vars(each).keys()]
    found = {name: kind for each in above if each is not object for name, kind in kinds(each).items()}
    return {name: found[name] for name in own if name in found}


def hold(called: str, declared: Callable[..., object], values: Mapping[str, object]) -> None:
    """Check values against the kinds of their parameters.

    Raises
    ------
    ConfigError
        A value is not valid; the message names the parameter and its valid values.

    Examples
    --------
    >>> def made(retire_after: Misses = 3) -> None: ...
    >>> hold("rpuc", made, {"retire_after": 9})
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: rpuc: retire_after must be from 1 to 6, not 9: at 6 the crawl itself gives a page up
    """
    for name, kind in kinds(declared).items():
        try:
            kind.read(values[name])
        except ValueError as error:
            why = f": {error}" if str(error) else ""
            raise ConfigError(f"{called}: {name} must be {kind.form}, not {values[name]!r}{why}") from error


def bounded(made: Callable[P, None]) -> Callable[P, None]:
    """Check the arguments of a policy's constructor against the kinds in its annotations before each call."""
    signature = inspect.signature(made)

    @functools.wraps(made)
    def holding(*args: P.args, **named: P.kwargs) -> None:
        given = signature.bind(*args, **named)
        given.apply_defaults()
        hold(type(args[0]).__module__.rpartition(".")[2], made, given.arguments)
        made(*args, **named)

    return holding


def seconds(duration_s: Any) -> float:
    """Return the length of a duration such as 1d or 90, in seconds.

    >>> seconds("1d"), seconds(90)
    (86400.0, 90.0)
    """
    return float(str(duration().read(duration_s)))
