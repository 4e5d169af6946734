"""A crawl's life in a living web: the shipped loop on a virtual clock, with the times of its requests."""

import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from evercrawl.config import Config
from evercrawl.crawl.assemble import assemble
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.ports import Outside
from evercrawl.fetch.guard import Guard
from evercrawl.fetch.names import StaticResolver
from evercrawl.model.policy.schemes import stored
from evercrawl.model.worth.usage import Question, UsageWriter
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.parse.urls import hostname
from evercrawl.progress import Limits
from evercrawl.simulate.living import freshness, truth
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual
from evercrawl.simulate.surroundings.network import AnsweringWeb, Asked, MadeNetwork, inline
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.partition import Partition
from evercrawl.types import Floats

LATENCY_S = 0.001


@dataclass(slots=True)
class LivingRequests:
    """The requests of a crawl of a living web.

    Attributes
    ----------
    web
        The web, whose pages are numbered.
    asked
        Page number -> instants at which it was fetched, or reported unchanged.
    began_at, ended_at
        Start and end of the run.
    spent
        Requests for pages, by kind: the values of `UrlKind`, and "calendar".
    read
        Distinct pages read in endless calendars.
    """

    web: LivingWeb
    asked: dict[int, Floats]
    began_at: float
    ended_at: float
    spent: Counter[str]
    read: list[str]

    @property
    def fetches(self) -> int:
        """Return the number of requests for pages."""
        return self.spent.total()

    @property
    def calendar_share(self) -> float:
        """Return the share of requests that went to endless calendars."""
        return self.spent["calendar"] / max(self.fetches, 1)

    @property
    def fetches_per_s(self) -> float:
        """Return the budget that was used."""
        return self.fetches / (self.ended_at - self.began_at)

    def freshness(self, weights: Floats, start: float, end: float) -> float:
        """Return the weighted mean freshness between two instants."""
        none = np.zeros(0)
        pages = range(self.web.plan.count)
        asked = [self.asked.get(number, none) for number in pages]
        changes = [self.web.changes(number, end) for number in pages]
        return freshness.weighted(asked, changes, weights, start, end)


def life(web: LivingWeb, log: Iterable[tuple[float, str, int]], began_at: float, ended_at: float) -> LivingRequests:
    """Return the life recorded in a log of requests: instant, URL and status of each, in order."""
    times: defaultdict[int, list[float]] = defaultdict(list)
    spent, read = Counter[str](), dict[str, None]()
    for at, url, status in log:
        if url.endswith("/robots.txt"):
            continue
        if truth.in_calendar(url):
            spent["calendar"] += 1
            if status in (200, 304):
                read[url] = None
            continue
        number = web.numbers.get(url)
        if number is None:  # a path that cannot exist, requested to detect soft 404s
            spent["probe"] += 1
            continue
        spent[web.plan.pages[number].kind.value] += 1
        if status in (200, 304):
            times[number].append(at)
    asked = {number: np.sort(of) for number, of in times.items()}
    return LivingRequests(web, asked, began_at, ended_at, spent, list(read))


class _Hasty(RealDisk):
    """Files that are not synced, because they need not survive a power cut."""

    def sync(self, name: str) -> None:
        pass


class LivedWeb(AnsweringWeb, Protocol):
    """A simulated web with everything that a crawl of it needs."""

    @property
    def seed(self) -> int:
        """The random seed of a run."""
        ...

    @property
    def began_at(self) -> float:
        """Return the start of the crawl, in seconds since the epoch."""
        ...

    @property
    def origins(self) -> tuple[str, ...]:
        """Return the origins of the hosts."""
        ...

    @property
    def seeds(self) -> list[str]:
        """Return the crawl's seed URLs."""
        ...


def relive(
    web: LivingWeb,
    fetches_per_s: float,
    seconds: float,
    *,
    policy: str = "price",
    scheme: str = "push",
    look: Callable[[Partition], None] = lambda _: None,
    usage: Sequence[Question] = (),
    **settings: Any,
) -> LivingRequests:
    """Crawl a living web on a virtual clock, from the instant at which it begins to change.

    Parameters
    ----------
    fetches_per_s, seconds
        The budget, and the duration.
    policy, scheme
        Names of the policy and the importance scheme.
    look
        Called with the learned state after the crawl.
    usage
        Usage that the crawl is given in advance.
    settings
        Further settings of the crawl, such as `discovery`.
    """
    config = Config(
        rate_per_s=fetches_per_s,
        delay_s=LATENCY_S,
        refresh_after_s=0.0,
        policy=policy,
        importance=scheme,
        **settings,
    )
    asked = explore(web, config, seconds, look, usage)
    log = ((one.at, one.url, one.status) for one in asked)
    return life(web, log, web.began_at, web.began_at + seconds)


def explore(
    web: LivedWeb,
    config: Config,
    seconds: float,
    look: Callable[[Partition], None] = lambda _: None,
    usage: Sequence[Question] = (),
) -> list[Asked]:
    """Crawl a simulated web on a virtual clock for the given time; return all requests, in order."""
    with tempfile.TemporaryDirectory(prefix="evercrawl-life-") as folder:
        if usage:
            UsageWriter(Path(folder)).add(usage)
        return run_virtual(_explored(web, Path(folder), config, seconds, look), start=web.began_at)


async def _explored(
    web: LivedWeb, folder: Path, config: Config, seconds: float, look: Callable[[Partition], None]
) -> list[Asked]:
    clock, guard, scheme = VirtualClock(), Guard(), stored(config.importance, truth.INTERNAL, config.window)
    network = MadeNetwork(web, clock, lambda _: LATENCY_S, judge=guard.judge)
    partition = Partition(
        folder, random.Random(web.seed).randbytes, now=clock.now(), disk=_Hasty(folder), site=found_site,
        site_rules=site_rules(), scheme=scheme,
    )  # fmt: skip
    memory = Memory.beside(partition, config, None)
    try:
        one = assemble(config, memory, Outside(network, [_names(web.origins)], clock, inline, guard))
        await one.run(web.seeds, Limits(seconds=seconds))
        look(partition)
    finally:
        await network.close()
        memory.close()
        partition.close()
    return network.log


def _names(origins: Sequence[str]) -> StaticResolver:
    """Return names, each of which resolves to its own address."""
    return StaticResolver({hostname(f"{origin}/"): [f"8.8.8.{1 + i}"] for i, origin in enumerate(origins)})
