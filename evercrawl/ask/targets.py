"""Freshness targets: how far they are met, and the crawl rate that would meet them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evercrawl.config.site_rules import Sites
from evercrawl.errors import ConfigError
from evercrawl.model.policy.policies import policy_of
from evercrawl.model.targets import Room
from evercrawl.schedule.abilities import Priced

if TYPE_CHECKING:
    from evercrawl.model.targets import Needed
    from evercrawl.model.view import View
    from evercrawl.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class TargetFreshness:
    """A freshness target, and how far it is met.

    Attributes
    ----------
    pattern, wanted, within_s
        The section of crawl.toml: pattern of the URLs, wanted share of fresh copies, and tolerance in seconds.
    copies
        Number of matching copies held.
    fresh
        Share of the copies expected to be fresh now, within the tolerance; None without copies.
    fresh_then
        Share in the long run, as far as hosts, `refresh_after_s` and the budget allow; None before the crawl has
        learned the price of a visit, or if its policy has no price.
    visits_per_s
        Visits per second to these copies that this takes; None likewise.
    met
        Whether the target is met now; true without copies.
    feasible
        Whether there is room for as many visits; None likewise.
    """

    pattern: str
    wanted: float
    within_s: float
    copies: int
    fresh: float | None
    fresh_then: float | None
    visits_per_s: float | None
    met: bool
    feasible: bool | None


@dataclass(frozen=True, slots=True)
class TargetRate:
    """The crawl rate that meets all targets.

    Attributes
    ----------
    targets
        The targets, each with the visits that it takes, whatever the budget.
    visits_per_s, budget_per_s
        Visits per second to all visited pages, and their cost in units of the budget per second, at which the targets
        are met and other pages stay as fresh as the present price keeps them.
    limit_per_s
        The rate limit of crawl.toml, in units of the budget; None if there is none.
    unit
        What the budget counts: "fetches" or "bytes".
    """

    targets: tuple[TargetFreshness, ...]
    visits_per_s: float
    budget_per_s: float
    limit_per_s: float | None
    unit: str


def met(view: View) -> tuple[TargetFreshness, ...]:
    """Return how far each target is met within the configured budget, in the order of crawl.toml."""
    limit = _limit(view)
    return _asked(view, limit if limit else math.inf)


def rate(view: View) -> TargetRate:
    """Return the rate that would meet all targets.

    Raises
    ------
    ConfigError
        There are no targets, the policy has no price, or the price is not known yet.
    """
    if not view.config.targets:
        raise ConfigError('crawl.toml has no targets; add a section such as [target."/news/"] with fresh = 0.95')
    if not isinstance(view.policy, Priced):
        raise ConfigError(
            f"the policy {view.config.policy} has no price, so it cannot aim at targets; use the policy price"
        )
    if not view.price > 0:
        raise ConfigError("the crawl has not learned the price of a visit yet; crawl further, and ask again")
    from evercrawl.ask.plan.curve import BudgetCurve
    from evercrawl.ask.plan.outlook import held_pages

    found = _asked(view, math.inf)
    held = held_pages(view).sampled()
    if not (held.copies & (held.pages.importance > 0)).any():
        raise ConfigError("no copies are stored yet, so there is nothing to plan; crawl further, and ask again")
    plain = policy_of(view.config.policy, view.config.policy_options)
    assert isinstance(plain, Priced), "it is of the same kind"
    point = BudgetCurve(held, 0.0, plain).at(view.price)
    return TargetRate(
        found, point.visits_per_s, point.budget, _limit(view) or None, "bytes" if view.in_bytes else "fetches"
    )


def _limit(view: View) -> float:
    return float(view.config.rate_bytes_per_s if view.in_bytes else view.config.rate_per_s)


def _asked(view: View, per_s: float) -> tuple[TargetFreshness, ...]:
    targets, config = view.targets, view.config
    if not targets.targets:
        return ()
    targets.look(view.state.records.count)
    now = [targets.fresh_now(i, view.columns, view.context) for i in range(len(targets.targets))]
    plain = policy_of(config.policy, config.policy_options)
    if isinstance(plain, Priced) and view.price > 0:
        room = Room(per_s, lambda hosts: _rest_s(view, hosts), config.refresh_after_s)
        targets.turn(view.now, plain.at_price(view.price), view.candidates, room)
    wanted: tuple[Needed | None, ...] = targets.wanted or (None,) * len(targets.targets)
    return tuple(
        TargetFreshness(
            pattern=target.pattern,
            wanted=target.fresh,
            within_s=target.within,
            copies=len(fresh),
            fresh=float(fresh.mean()) if len(fresh) else None,
            fresh_then=one.fresh if one is not None else None,
            visits_per_s=one.visits_per_s if one is not None else None,
            met=not len(fresh) or float(fresh.mean()) >= target.fresh,
            feasible=one.met if one is not None else None,
        )
        for target, fresh, one in zip(targets.targets, now, wanted, strict=True)
    )


def _rest_s(view: View, hosts: Ints) -> Floats:
    """Return the configured delay of hosts between two visits, in seconds."""
    config, sites = view.config, Sites(view.config.sites)
    numbers: list[int] = hosts.tolist()
    own = [sites.of(view.state.hosts[number]) if sites else None for number in numbers]
    rests = [rules.rest_s(config.delay_s) if rules is not None else config.delay_s for rules in own]
    return np.array(rests) / config.connections_per_host
