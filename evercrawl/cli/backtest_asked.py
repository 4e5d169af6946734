"""The arguments of `evercrawl lab backtest`, parsed and checked before anything is replayed."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from evercrawl.cli import arguments
from evercrawl.config import values
from evercrawl.errors import ConfigError
from evercrawl.lab.backtest.setting import ReplaySetting

if TYPE_CHECKING:
    from evercrawl.config.values import ValueKind

_POLICIES, _BUDGETS = ["price,uniform"], ["0.005,0.02,0.1"]


class ReplayRequest(NamedTuple):
    """The requested replays.

    Attributes
    ----------
    groups
        Paths of the histories: one per group, or all in one group.
    policies
        Names, with values of their parameters.
    budgets
        Polls per live page and day, ascending.
    setting
        All other conditions; its budget is the first one.
    jobs
        Number of processes.
    """

    groups: list[tuple[Path, ...]]
    policies: dict[str, dict[str, float | str]]
    budgets: list[float]
    setting: ReplaySetting
    jobs: int


def asked(args: argparse.Namespace) -> ReplayRequest:
    """Return the requested replays.

    Raises
    ------
    ConfigError
        A flag is invalid; the message says what to write instead.
    """
    from evercrawl.lab.backtest.setting import choices
    from evercrawl.lab.histories import find

    policies = choices(_listed(args.policy or _POLICIES), args.policy_option)
    budgets = sorted({_budget(each) for each in _listed(args.budget or _BUDGETS)})
    if not budgets:
        raise ConfigError("--budget must be polls per page and day, such as 0.02, or several: 0.005,0.02")
    setting = _setting(args, budgets[0])
    jobs = _whole(args.jobs, "--jobs")
    paths = find(*args.history)
    return ReplayRequest(
        [tuple(paths)] if args.pooled else [(path,) for path in paths], policies, budgets, setting, jobs
    )


def _setting(args: argparse.Namespace, budget: float) -> ReplaySetting:
    since, until = (_instant(raw, flag) for raw, flag in ((args.since, "--since"), (args.until, "--until")))
    if since is not None and until is not None and since >= until:
        raise ConfigError(f"--since must be before --until, and {args.since} is not before {args.until}")
    return ReplaySetting(
        budget=budget,
        validators=not args.no_validators,
        discovery=cast("Any", _read(values.choice("born", "links"), args.discovery, "--discovery")),
        lastmod=_share(args.lastmod),
        sample=None if args.sample is None else _whole(args.sample, "--sample"),
        seed=_whole(args.seed, "--seed", 0),
        years=_positive(args.years, "--years", "years, such as 3 or 0.5"),
        since=since,
        until=until,
        lasting_days=0.0 if args.lasting == "0" else _positive(args.lasting, "--lasting", "days, such as 7, or 0"),
    )


def _listed(given: list[str]) -> list[str]:
    return [word.strip() for each in given for word in each.split(",") if word.strip()]


def _budget(raw: str) -> float:
    return _positive(raw, "--budget", "polls per page and day, such as 0.02, or several: 0.005,0.02")


def _positive(raw: str, flag: str, form: str) -> float:
    kind = values.number()
    try:
        if (number := float(cast("float", kind.read(raw)))) > 0:
            return number
    except ValueError:
        pass
    raise ConfigError(f"{flag} must be {form}, not {raw!r}")


def _share(raw: str) -> float:
    switched = {"on": 1.0, "off": 0.0}.get(raw.lower())
    if switched is not None:
        return switched
    try:
        return float(cast("float", values.share().read(raw)))
    except ValueError:
        raise ConfigError(f"--lastmod must be on, off, or a share such as 0.25, not {raw!r}") from None


def _whole(raw: str, flag: str, least: int = 1) -> int:
    return cast("int", _read(values.whole(least), raw, flag))


def _read(kind: ValueKind, raw: str, flag: str) -> object:
    return arguments.value(kind, raw, flag)


def _instant(raw: str | None, flag: str) -> float | None:
    """Return a time in seconds since the epoch; a date is its first moment, in UTC unless a time zone is given."""
    if raw is None:
        return None
    try:
        at = datetime.fromisoformat(raw)
    except ValueError:
        raise ConfigError(f"{flag} must be a date such as 2020-01-31 or 2020-01-31T12:00, not {raw!r}") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
