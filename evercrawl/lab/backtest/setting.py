"""Conditions of a replay, and the policies replayed with their parameters.

Parameter values come from the command line's options.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from evercrawl import catalog, schedule
from evercrawl.errors import ConfigError
from evercrawl.model.policy.policies import parameters, values_of
from evercrawl.schedule.base import Policy


def choices(names: Sequence[str], options: Sequence[str] = ()) -> dict[str, dict[str, float | str]]:
    """Return the parameter values of each policy by the options, in the order of the names, without repetitions.

    Parameters
    ----------
    names
        Names of policies, with `-` or `_`; policies that no crawl can follow, such as `notices`, are allowed.
    options
        POLICY.NAME=VALUE; or NAME=VALUE, for every policy with a parameter of that name.

    Raises
    ------
    ConfigError
        There is no such policy, no policy is named, or an option fits none of them or has an invalid value.

    Examples
    --------
    >>> choices(["xyleme", "uniform"], ["cycle=0.1"])
    {'xyleme': {'cycle': 0.1}, 'uniform': {}}
    >>> choices(["uniform"], ["xyleme.cycle=0.1"])
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: 'xyleme.cycle=0.1' is for none of the policies replayed: uniform
    """
    kinds = {name if ":" in name else name.replace("-", "_"): _kind(name) for name in names}
    if not kinds:
        raise ConfigError(f"name at least one policy: {', '.join(_names())}")
    for option in options:
        if not any(_is_for(option, name, kind) for name, kind in kinds.items()):
            raise ConfigError(_nobody(option, kinds))
    chosen = {
        name: values_of(name, kind, [option for option in options if _is_for(option, name, kind)])
        for name, kind in kinds.items()
    }
    for name, given in chosen.items():
        kinds[name](**given)  # raises now, rather than hours later, if a value is invalid
    return chosen


def _names() -> list[str]:
    base: type[Any] = Policy
    return list(catalog.find(schedule.policies, base))


def _kind(name: str) -> type[Any]:
    return catalog.pick(schedule.policies, Policy, name)


def _is_for(option: str, policy: str, kind: type[Policy]) -> bool:
    """Return whether an option names the policy, or names no policy but one of its parameters."""
    owner, _, key = option.partition("=")[0].strip().replace("-", "_").rpartition(".")
    return owner == policy if owner else key in parameters(kind)


def _nobody(option: str, kinds: dict[str, type[Any]]) -> str:
    if "." in option.partition("=")[0]:
        return f"{option!r} is for none of the policies replayed: {', '.join(kinds)}"
    known = (f"{name} has {', '.join(parameters(kind)) or 'none'}" for name, kind in kinds.items())
    return f"{option!r} is not a parameter of the policies replayed: {'; '.join(known)}; write NAME=VALUE"


DAY_S: Final = 86_400.0
Discovery: TypeAlias = Literal["born", "links"]


@dataclass(frozen=True, slots=True)
class ReplaySetting:
    """The conditions of a replay: budget, information for the policy, and part of the history.

    Attributes
    ----------
    budget
        Polls per live page per day, spent at a constant rate.
    validators
        Whether pages send their last change (Last-Modified).
    discovery
        How pages become known: `born`, at their birth; or `links`, when a page that links to them is polled. In either
        case, pages that exist at the start, and pages without links to them, are known as soon as they exist.
    lastmod
        Share of the changes that a sitemap announces at once, from 0 to 1.
    sample
        Number of pages sampled from each site; None for all.
    seed
        The random seed.
    years
        Length of the replayed part, up to the end of the history; 90 % of a shorter history.
    since, until
        Start and end of the replayed part, instead of `years`, in seconds since the epoch; None to use `years`.
    lasting_days
        Maximum absence of a state that counts as lasting: if the state returns within that time, its copies count as
        fresh in between, and so do copies of the states in between. With 0, a copy is fresh only while it equals the
        page.
    warming
        Share of the replayed part that is not measured, from 0 to 1.

    Raises
    ------
    ConfigError
        A value is out of range.
    """

    budget: float
    validators: bool = True
    discovery: Discovery = "born"
    lastmod: float = 0.0
    sample: int | None = None
    seed: int = 1
    years: float = 3.0
    since: float | None = None
    until: float | None = None
    warming: float = 1 / 3
    lasting_days: float = 0.0

    def __post_init__(self) -> None:
        """Reject invalid values."""
        if not 0 <= self.lastmod <= 1:
            raise ConfigError(f"lastmod must be a share of the changes, from 0 to 1, not {self.lastmod:g}")
        if not 0 <= self.warming < 1:
            raise ConfigError(f"warming must be a share of the time, from 0 to less than 1, not {self.warming:g}")
        if self.sample is not None and self.sample < 1:
            raise ConfigError(f"sample must be at least 1 page per site, not {self.sample}")
        if not self.years > 0:
            raise ConfigError(f"years must be more than 0, not {self.years:g}")
        if not self.lasting_days >= 0:
            raise ConfigError(f"lasting_days must be 0 or more, not {self.lasting_days:g}")
        if self.discovery not in ("born", "links"):
            raise ConfigError(f"discovery must be born or links, not {self.discovery}")
