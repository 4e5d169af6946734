"""Settings that change while the crawl runs: the parts that go by each of them are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from evercrawl.config.site_rules import Sites

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.config import Config
    from evercrawl.crawl.pace import Pace
    from evercrawl.crawl.ports import Identifies
    from evercrawl.model.rules.scope import Scope
    from evercrawl.schedule.base import Policy
    from evercrawl.schedule.frontier.frontier import Frontier


def own_delay(config: Config) -> Callable[[str], float | None]:
    """Return what says how long hosts of sites with their own sections rest; it says None of others."""
    sites = Sites(config.sites)

    def delay_s(host: str) -> float | None:
        rules = sites.of(host)
        own_s = rules.rest_s(config.delay_s) if rules is not None else config.delay_s
        return own_s if own_s != config.delay_s else None

    return delay_s


class Adopts(Protocol):
    """Whoever reads settings again each time that it needs one."""

    def adopt(self, config: Config) -> None:
        """Go by other settings from now on."""
        ...


class Tuning:
    """The settings of the run as they are now.

    Parameters
    ----------
    config
        As the run began with them.
    scope, pace, frontier, policy
        The rules, the ceilings, the hosts' rest, and what values pages.
    others
        Who else goes by them.
    sessions
        Lets sites know who asks; None where nobody does.

    Attributes
    ----------
    config, scope
        The settings of now, and the rules.
    """

    def __init__(
        self,
        config: Config,
        scope: Scope,
        pace: Pace,
        frontier: Frontier,
        policy: Policy,
        others: tuple[Adopts, ...],
        sessions: Identifies | None = None,
    ) -> None:
        self.config, self.scope = config, scope
        self._pace, self._frontier, self._policy, self._others = pace, frontier, policy, others
        self._sessions = sessions

    @property
    def weighs(self) -> bool:
        """Whether the policy asks what pages are worth."""
        return self._policy.weighs

    def check(self, config: Config) -> None:
        """See that settings could be adopted; raises ConfigError where a secret of a section cannot be had."""
        if self._sessions is not None:
            self._sessions.check(config)

    def adopt(self, config: Config, now: float) -> None:
        """Go by other settings from now on, as far as they may change while the crawl runs.

        Raises
        ------
        ConfigError
            A secret of a section cannot be had; all stays as it was.
        """
        before = self.config
        if self._sessions is not None and (before.delay_s, before.sites) != (config.delay_s, config.sites):
            self._sessions.adopt(config)
        self.config = config
        rules = ("scope", "include", "exclude", "max_depth", "max_pages_per_host", "sites")
        if any(getattr(before, name) != getattr(config, name) for name in rules):
            self.scope.change(config)
        if (before.rate_per_s, before.rate_bytes_per_s) != (config.rate_per_s, config.rate_bytes_per_s):
            self._pace.change(config.rate_per_s, config.rate_bytes_per_s, now)
        if (before.delay_s, before.sites) != (config.delay_s, config.sites):
            own = own_delay(config) if before.sites != config.sites else None
            self._frontier.change_delay(config.delay_s, config.delay_s / config.connections_per_ip, own)
        for other in self._others:
            other.adopt(config)
