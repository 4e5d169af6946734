"""Which policies are replayed, and with which values for their parameters."""

from collections.abc import Sequence
from typing import Any

from evercrawl import catalog, schedule
from evercrawl.errors import ConfigError
from evercrawl.model.policy.policies import parameters, values_of
from evercrawl.schedule.base import Policy


def choices(names: Sequence[str], options: Sequence[str] = ()) -> dict[str, dict[str, float | str]]:
    """Return for each policy the values that options give to its parameters, in the order of the names, each once.

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
