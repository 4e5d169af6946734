"""Everything that a crawl keeps from run to run: its partition, its caches and the search index."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from evercrawl.config import Config
from evercrawl.crawl.probes.soft404_book import SOFT404_FILE, Soft404Book
from evercrawl.crawl.sitemaps.cache import SITEMAPS_FILE, SitemapCache
from evercrawl.fetch.names import NAMES_FILE, NameCache
from evercrawl.model.rules.robots import RobotsKeeper
from evercrawl.model.rules.robots_file import ROBOTS_FILE
from evercrawl.search.index import Index
from evercrawl.store.partition import Partition
from evercrawl.store.quarantine import Quarantine
from evercrawl.store.requisites.book import REQUISITES_FILE, RequisiteBook


@dataclass(frozen=True, slots=True)
class Memory:
    """The partition, caches and index that a crawl keeps from run to run.

    Attributes
    ----------
    partition
        The open crawl directory.
    robots, sitemaps, soft404
        Caches of robots.txt rules, of known sitemaps, and of answers of hosts to dead paths; losing them costs
        requests.
    index
        The search index; None if there is none.
    quarantine
        URLs on which evercrawl's own code failed; by default every such error is raised again.
    names
        Cache of the addresses of host names; losing it costs look-ups.
    requisites
        The requisites of pages; None if the crawl does not fetch requisites.
    """

    partition: Partition
    robots: RobotsKeeper
    sitemaps: SitemapCache
    soft404: Soft404Book
    index: Index | None = None
    quarantine: Quarantine = field(default_factory=Quarantine)
    names: NameCache = field(default_factory=NameCache)
    requisites: RequisiteBook | None = None

    @classmethod
    def beside(
        cls,
        partition: Partition,
        config: Config,
        folder: Path | None,
        index: Index | None = None,
        quarantine: Quarantine | None = None,
    ) -> Memory:
        """Return a memory whose caches are files in `folder`; if it is None, they last as long as the process."""

        def place(name: str) -> str:
            return ":memory:" if folder is None else str(folder / name)

        robots = RobotsKeeper(place(ROBOTS_FILE), config.product_token, config.exchange_deadline_s, config.robots_bytes)
        sitemaps, soft404 = SitemapCache(place(SITEMAPS_FILE)), Soft404Book(place(SOFT404_FILE))
        names = NameCache(None if folder is None else folder / NAMES_FILE)
        requisites = RequisiteBook.opened(place(REQUISITES_FILE)) if config.requisites else None
        if requisites is not None:
            requisites.follow(partition.journal)
        return cls(partition, robots, sitemaps, soft404, index, quarantine or Quarantine(), names, requisites)

    def close(self) -> None:
        """Close the caches; partition and index are closed by the code that opened them."""
        for cache in (self.robots, self.sitemaps, self.soft404, self.names):
            cache.close()
        if self.requisites is not None:
            self.requisites.close()
