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
    """Return for each policy the parameter values that options give, in the order of the names, without repetitions.

    Parameters
    ----------
    names
        Of policies, `-` and `_` being equal; also those that no crawl can follow, such as `notices`.
    options
        POLICY.NAME=VALUE; or NAME=VALUE, for every policy that has a parameter of that name.

    Raises
    ------
    ConfigError
        Where there is no such policy, nothing to choose, an option is for none of them, or no value for its parameter.

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
        raise ConfigError(f"name a policy or more: {', '.join(_names())}")
    for option in options:
        if not any(_is_for(option, name, kind) for name, kind in kinds.items()):
            raise ConfigError(_nobody(option, kinds))
    chosen = {
        name: values_of(name, kind, [option for option in options if _is_for(option, name, kind)])
        for name, kind in kinds.items()
    }
    for name, given in chosen.items():
        kinds[name](**given)  # which may refuse a value, and does so now rather than hours later
    return chosen


def _names() -> list[str]:
    base: type[Any] = Policy
    return list(catalog.find(schedule.policies, base))


def _kind(name: str) -> type[Any]:
    return catalog.pick(schedule.policies, Policy, name)


def _is_for(option: str, policy: str, kind: type[Policy]) -> bool:
    """Whether an option names the policy, or no policy and one of its parameters."""
    owner, _, key = option.partition("=")[0].strip().replace("-", "_").rpartition(".")
    return owner == policy if owner else key in parameters(kind)


def _nobody(option: str, kinds: dict[str, type[Any]]) -> str:
    if "." in option.partition("=")[0]:
        return f"{option!r} is for none of the policies replayed: {', '.join(kinds)}"
    known = (f"{name} has {', '.join(parameters(kind)) or 'none'}" for name, kind in kinds.items())
    return f"{option!r} is no parameter of the policies replayed: {'; '.join(known)}; write NAME=VALUE"


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
        How pages become known: `born`, each as soon as there is one; or `links`, when a page that links to it is
        polled. Those that there are at the start, and those to which nothing ever links, are known as soon as there
        are any in either case.
    lastmod
        Part of the changes of which a sitemap tells at once, from 0 to 1.
    sample
        Number of pages sampled from each site; None for all.
    seed
        Of what is drawn.
    years
        Length of the measured part, from the end of the history; 90 % of a shorter history.
    since, until
        Instants in place of `years`, in seconds since the epoch; None for those.
    lasting_days
        How long what a page was may be away: if it comes back within that time, a copy of it counts as fresh meanwhile,
        and so does one of what there was instead. 0 for no such time: a copy is fresh while it is what the page is.
    warming
        Part of that time which does not count yet, from 0 to 1.

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
            raise ConfigError(f"lastmod is a part of the changes, from 0 to 1, not {self.lastmod:g}")
        if not 0 <= self.warming < 1:
            raise ConfigError(f"warming is a part of the time, from 0 to less than 1, not {self.warming:g}")
        if self.sample is not None and self.sample < 1:
            raise ConfigError(f"a sample has 1 page of each site at least, not {self.sample}")
        if not self.years > 0:
            raise ConfigError(f"years are more than 0, not {self.years:g}")
        if not self.lasting_days >= 0:
            raise ConfigError(f"lasting_days are 0 or more, not {self.lasting_days:g}")
        if self.discovery not in ("born", "links"):
            raise ConfigError(f"discovery is born or links, not {self.discovery}")
