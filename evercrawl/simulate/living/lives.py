"""A crawl's life in a living web: the shipped loop on a virtual clock, and when it asked for which page."""

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
    """What a crawl of a living web asked for.

    Attributes
    ----------
    web
        The web, whose pages are counted by number.
    asked
        Page number -> instants at which it was fetched, or said to be unchanged.
    began_at, ended_at
        The run's.
    spent
        Requests for pages, by kind: the values of `UrlKind`, and "calendar".
    read
        Pages of endless calendars that were read, each once.
    """

    web: LivingWeb
    asked: dict[int, Floats]
    began_at: float
    ended_at: float
    spent: Counter[str]
    read: list[str]

    @property
    def fetches(self) -> int:
        """Return how many pages were asked for."""
        return self.spent.total()

    @property
    def calendar_share(self) -> float:
        """Return which part of them was of endless calendars."""
        return self.spent["calendar"] / max(self.fetches, 1)

    @property
    def fetches_per_s(self) -> float:
        """Return the budget that was used."""
        return self.fetches / (self.ended_at - self.began_at)

    def freshness(self, weights: Floats, start: float, end: float) -> float:
        """Return the mean freshness by weight between two instants."""
        none = np.zeros(0)
        pages = range(self.web.plan.count)
        asked = [self.asked.get(number, none) for number in pages]
        changes = [self.web.changes(number, end) for number in pages]
        return freshness.weighted(asked, changes, weights, start, end)


def life(web: LivingWeb, log: Iterable[tuple[float, str, int]], began_at: float, ended_at: float) -> LivingRequests:
    """Return the life that a log of requests tells: instant, URL and status of each, in order."""
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
        if number is None:  # a path that cannot exist: what a host answers to that tells its soft 404s
            spent["probe"] += 1
            continue
        spent[web.plan.pages[number].kind.value] += 1
        if status in (200, 304):
            times[number].append(at)
    asked = {number: np.sort(of) for number, of in times.items()}
    return LivingRequests(web, asked, began_at, ended_at, spent, list(read))


class _Hasty(RealDisk):
    """Files that need not survive a power cut."""

    def sync(self, name: str) -> None:
        pass


class LivedWeb(AnsweringWeb, Protocol):
    """A made-up web with all that a crawl of it has to be told."""

    @property
    def seed(self) -> int:
        """Draw what is left to chance."""
        ...

    @property
    def began_at(self) -> float:
        """Return when the crawl begins, in seconds since the epoch."""
        ...

    @property
    def origins(self) -> tuple[str, ...]:
        """Return where the hosts are."""
        ...

    @property
    def seeds(self) -> list[str]:
        """Return the URLs that the crawl starts from."""
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
        The budget, and for how long.
    policy, scheme
        Names of policy and importance.
    look
        Shown what was learned when the crawl has ended.
    usage
        What the crawl is told beforehand of how people use it.
    settings
        Others of the crawl's, such as `discovery`.
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
    """Crawl a made-up web on a virtual clock for so long; return all that was asked of it, in order."""
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
    """Return names of which each leads to an address of its own."""
    return StaticResolver({hostname(f"{origin}/"): [f"8.8.8.{1 + i}"] for i, origin in enumerate(origins)})
