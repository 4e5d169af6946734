"""The graph columns that some orders need: in-degree, PageRank, unread pages of each site or host.

Each is a fold over the journal: replayed at a start, and updated with each visit. So an interrupted crawl continues
in the same order as an uninterrupted one.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from evercrawl.model.stored.remembered import Remembered
from evercrawl.model.web.link_counts import Backlog, InLinks, KnownColumn, PageSites
from evercrawl.store.journal.events import Discovery
from evercrawl.store.partition import Partition
from evercrawl.types import Slots


class KnownGraph:
    """Keeps the columns that a policy needs, and no others.

    Parameters
    ----------
    partition
        The crawl. Its journal is read once from end to end if links are needed.
    needs
        The columns needed.
    """

    def __init__(self, partition: Partition, needs: Iterable[str]) -> None:
        self._columns: dict[str, KnownColumn] = {name: KEPT_BY[name](partition) for name in sorted(needs)}

    @property
    def words(self) -> bool:
        """Whether the length of link texts is needed."""
        return "facts" in self._columns

    def learned(self, visit: Remembered) -> None:
        """Take in a visit, and the pages that it made known."""
        event, held = visit.event, visit.reading.before.held
        if event.found is not None:
            self.found(event.found)
        for column in self._columns.values():
            column.learned(event, held)

    def found(self, found: Discovery) -> None:
        """Take in newly known pages."""
        for column in self._columns.values():
            column.found(found)

    def of(self, slots: Slots) -> dict[str, Any]:
        """Return the columns of `slots` by name, shape (n,) each."""
        return {name: column.of(slots) for name, column in self._columns.items()}


def _ranks(partition: Partition) -> KnownColumn:
    from evercrawl.model.web.known_ranks import Ranks  # imported late, with kernels that other crawls do not use

    return Ranks(partition)


def _facts(partition: Partition) -> KnownColumn:
    from evercrawl.model.web.page_facts import PageFacts

    return PageFacts(partition)


def _used(partition: Partition, *, clicks: bool) -> KnownColumn:
    from evercrawl.model.worth.usage_counts import UsageColumns

    return UsageColumns(partition, clicks=clicks)


KEPT_BY: Final[dict[str, Callable[[Partition], KnownColumn]]] = {
    "in_links": InLinks,
    "rank": _ranks,
    "backlog": Backlog,
    "site": PageSites,
    "retrieved": partial(_used, clicks=False),
    "clicked": partial(_used, clicks=True),
    "facts": _facts,
    "host": partial(PageSites, hosts=True),
    "host_backlog": partial(Backlog, hosts=True),
}
"""Who keeps each column that `Pages` has on demand."""
