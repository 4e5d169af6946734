"""All that a crawl remembers: its partition, what may be lost, and the search index."""

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
    """What a crawl remembers from run to run.

    Attributes
    ----------
    partition
        The open crawl directory.
    robots, sitemaps, soft404
        What origins allow, which sitemaps there are, and what hosts answer to dead paths; to lose them costs requests.
    index
        The search index; None where there is none.
    quarantine
        URLs on which our own code failed; by default every such fault is raised again.
    names
        Where host names lead; to lose it costs look-ups.
    requisites
        What pages need to be shown; None where nobody fetches that.
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
        """Return a memory whose caches are files in `folder`; where there is None, they last as long as the process."""

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
        """Close the caches; partition and index are whoever's who opened them."""
        for cache in (self.robots, self.sitemaps, self.soft404, self.names):
            cache.close()
        if self.requisites is not None:
            self.requisites.close()
