"""Policies by name, with the parameters that settings give."""

import difflib
import inspect
import math
from collections.abc import Sequence
from typing import Any, Final

from evercrawl import catalog, schedule
from evercrawl.errors import ConfigError
from evercrawl.schedule.base import Policy
from evercrawl.schedule.pages import NEEDS

_ASKED: Final = ("value", "due")
_OLD_FLAGS: Final = {"learns": "Learns", "plans": "Plans"}
_NAMES: Final = "'{}' is no parameter of {}; {}"


def policy_of(name: str, options: Sequence[str] = (), source: str = "") -> Policy:
    """Return the policy of that name with the parameters in `options`: NAME=VALUE or POLICY.NAME=VALUE each.

    Options of other policies are checked and then ignored. `source` names the place of the options in messages.

    Raises
    ------
    ConfigError
        The policy, or one that an option names, does not exist or cannot be followed by a crawl; or an option is not
        one of its parameters or has an invalid value. The message lists what is possible.

    Examples
    --------
    >>> policy_of("xyleme", ["cycle=0.1"]).notes()
    {}
    >>> policy_of("xyleme", ["cycel=0.1"])
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: 'cycel' is no parameter of xyleme; did you mean cycle?
    """
    kind: type[Any] = kind_of(name)
    try:
        made: Policy = kind(**values_of(name, kind, options))
    except ConfigError as error:
        if not source:
            raise
        raise ConfigError(f"{source}: {error}") from error
    return made


def kind_of(name: str) -> type[Policy]:
    """Return the class of the policy of that name, one that a crawl can follow.

    Raises
    ------
    ConfigError
        There is none; the message lists those there are.
    """
    kind = catalog.pick(schedule.policies, Policy, name, _followed)  # type: ignore[type-abstract]
    _check_promise(name, kind)
    if kind.clairvoyant:
        raise ConfigError(
            f"{name} needs information that no crawl can have; it is a reference for backtests and the lab"
        )
    return kind


def _check_promise(name: str, kind: type[Policy]) -> None:
    """Check that a class implements the current protocol: it may have been written for an earlier version."""
    for method in _ASKED:
        taken = list(inspect.signature(getattr(kind, method)).parameters)
        if taken[2:] == ["now"]:
            raise ConfigError(
                f"{name}: {method}(self, pages, now) is of an earlier version; write {method}(self, pages, context), "
                "and context.now for the instant"
            )
    if strange := sorted(kind.needs - NEEDS):
        raise ConfigError(f"{name} needs {', '.join(strange)}; columns on demand are {', '.join(sorted(NEEDS))}")
    for flag, ability in _OLD_FLAGS.items():
        if getattr(kind, flag, False) is True:
            raise ConfigError(
                f"{name}: {flag} = True is of an earlier version; derive the class from "
                f"evercrawl.schedule.abilities.{ability} and Policy"
            )


def names() -> list[str]:
    """Return the names of the policies that a crawl can follow, sorted.

    >>> "price" in names()
    True
    """
    found = catalog.find(schedule.policies, Policy)  # type: ignore[type-abstract]
    return sorted(name for name, kind in found.items() if _followed(kind))


def _followed(kind: type[Policy]) -> bool:
    """Return whether a crawl can follow it."""
    return not kind.clairvoyant


def parameters(kind: type[Policy]) -> dict[str, float | str]:
    """Return the parameters of a policy with their defaults.

    >>> from evercrawl.schedule.policies.xyleme import Xyleme
    >>> parameters(Xyleme)
    {'cycle': 0.2}
    """
    found = inspect.signature(kind).parameters.values()
    return {each.name: each.default for each in found if isinstance(each.default, int | float | str)}


def values_of(name: str, kind: type[Policy], options: Sequence[str]) -> dict[str, float | str]:
    """Return the parameter values that options set; numbers where the defaults are numbers.

    Raises
    ------
    ConfigError
        As for `policy_of`.
    """
    possible, given, others = parameters(kind), dict[str, float | str](), dict[str, list[str]]()
    for option in options:
        key, _, written = option.partition("=")
        owner, _, key = key.strip().replace("-", "_").rpartition(".")
        if owner and owner != name.replace("-", "_"):
            others.setdefault(owner, []).append(option)
            continue
        if key not in possible:
            raise ConfigError(_NAMES.format(key, name, _nearest(key, list(possible))))
        given[key] = _value(f"{name}: {key}", possible[key], written.strip())
    for owner, said in others.items():
        _check(owner, said)
    return given


def _check(owner: str, options: Sequence[str]) -> None:
    """Check options of another policy by constructing it; a third-party one need not be importable."""
    if ":" in owner:
        return
    try:
        kind: type[Any] = catalog.pick(schedule.policies, Policy, owner, _followed)
    except ConfigError as error:
        raise ConfigError(f"{options[0]!r} is for no policy there is: {error}") from error
    kind(**values_of(owner, kind, options))


def _value(source: str, default: float | str, written: str) -> float | str:
    if isinstance(default, str):
        return written
    try:
        number = int(written) if isinstance(default, int) else float(written)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        form = "a whole number" if isinstance(default, int) else "a number"
        raise ConfigError(f"{source} must be {form} such as {default:g}, not {written!r}")
    return number


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if near:
        return f"did you mean {near[0]}?"
    return f"it has {', '.join(known)}" if known else "it has none"
