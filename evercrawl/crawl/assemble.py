"""The assembly of a crawl, the same for the web and for every simulated world."""

from collections.abc import Callable
from dataclasses import replace

from evercrawl.config import Config
from evercrawl.crawl.loop import Crawl
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.ports import Outside
from evercrawl.importance.base import Importance
from evercrawl.model.policy.policies import policy_of
from evercrawl.model.policy.schemes import scheme_of
from evercrawl.model.worth.weights import IMPORTANCE
from evercrawl.progress import Progress
from evercrawl.schedule.base import Policy

# The default policy: importing this module compiles its inner loops before a run begins.
from evercrawl.schedule.policies.price import price as _default  # noqa: F401  # pyright: ignore[reportUnusedImport]


def assemble(
    config: Config,
    memory: Memory,
    outside: Outside,
    watch: Callable[[Progress], None] = lambda _: None,
    *,
    policy: Policy | None = None,
    importance: Importance | None = None,
) -> Crawl:
    """Return a crawl that is ready to run.

    Parameters
    ----------
    config
        The settings of the crawl.
    memory
        What the crawl keeps from run to run: partition, caches, search index.
    outside
        Everything beyond the process: network, names, clock, threads, guard, and the parsers of bodies.
    watch
        Called with the progress now and then.
    policy, importance
        The order of visits, and the scheme of importance; by default those of the settings and of the partition.

    Raises
    ------
    ConfigError
        There is no such policy, or it does not accept the options in the settings.
    """
    scheme = importance or scheme_of(memory.partition.scheme, memory.partition.state)
    assert scheme.handout == memory.partition.state.accounts.handout, "the crawl was begun with another kind of scheme"
    return Crawl(config, memory, outside, watch, policy or policy_of(config.policy, config.policy_options), scheme)


def only_named(config: Config) -> Config:
    """Return the settings of a run that visits only known pages named by a person."""
    return replace(config, policy="breadth_first", policy_options=(), weight=IMPORTANCE, sitemaps=False)
