"""Settings that change while the crawl runs, and the parts that are notified of each."""

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
    """Return a function from a host to the rest of its site's section (s); None if that is the usual rest."""
    sites = Sites(config.sites)

    def delay_s(host: str) -> float | None:
        rules = sites.of(host)
        own_s = rules.rest_s(config.delay_s) if rules is not None else config.delay_s
        return own_s if own_s != config.delay_s else None

    return delay_s


class Adopts(Protocol):
    """A part that adjusts when settings change."""

    def adopt(self, config: Config) -> None:
        """Use other settings from now on."""
        ...


class Tuning:
    """The present settings of the run.

    Parameters
    ----------
    config
        The settings with which the run began.
    scope, pace, frontier, policy
        The rules, the ceilings, the hosts' rests, and the policy.
    others
        Other parts that use the settings.
    sessions
        Identifies the crawler to sites; None if no site needs that.

    Attributes
    ----------
    config, scope
        The present settings, and the rules.
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
        """Whether the policy uses the weights of pages."""
        return self._policy.weighs

    def check(self, config: Config) -> None:
        """Check that settings could be adopted; raise ConfigError if a secret of a section is not available."""
        if self._sessions is not None:
            self._sessions.check(config)

    def adopt(self, config: Config, now: float) -> None:
        """Use other settings from now on, as far as they may change while the crawl runs.

        Raises
        ------
        ConfigError
            A secret of a section is not available; all stays as it was.
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
