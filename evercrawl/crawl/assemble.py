"""The one place where a crawl is put together, for the real world and for every made-up one."""

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

# The default policy: whoever imports this module has its inner loops compiled before a run begins.
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
        Its settings.
    memory
        What it remembers: partition, caches, search index.
    outside
        The world: network, names, clock, threads, guard, and who reads bodies.
    watch
        Told of the progress now and then.
    policy, importance
        Which page next, and how much a page matters; by default as the settings, and the partition, have it.

    Raises
    ------
    ConfigError
        There is no such policy, or it does not take the options that the settings give it.
    """
    scheme = importance or scheme_of(memory.partition.scheme, memory.partition.state)
    assert scheme.handout == memory.partition.state.accounts.handout, "the crawl was begun with another kind of scheme"
    return Crawl(config, memory, outside, watch, policy or policy_of(config.policy, config.policy_options), scheme)


def only_named(config: Config) -> Config:
    """Return the settings of a run that visits known pages that somebody names, and nothing else."""
    return replace(config, policy="breadth_first", policy_options=(), weight=IMPORTANCE, sitemaps=False)
