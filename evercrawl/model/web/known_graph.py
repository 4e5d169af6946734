"""What some orders ask of the links known so far: in-degree, PageRank, how many pages of each site or host wait.

Each is a fold over the journal, like everything that is known: made of it at a start, and kept up visit by visit. So a
crawl that was interrupted goes on in the same order as one that was not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from evercrawl.model.web.link_counts import Backlog, Column, InLinks, Sites

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.model.stored.remembered import Remembered
    from evercrawl.schedule.pages import Facts, Need
    from evercrawl.store.journal.events import Discovery
    from evercrawl.store.partition import Partition
    from evercrawl.types import Floats, Slots


class Asked(TypedDict, total=False):
    """Columns of `Pages` that only some policies need; those that nobody asks for are not there."""

    in_links: Floats
    rank: Floats
    backlog: Floats
    site: Slots
    retrieved: Floats
    clicked: Floats
    facts: Facts
    host: Slots
    host_backlog: Floats


class KnownGraph:
    """Keeps the columns that a policy needs, and nothing else.

    Parameters
    ----------
    partition
        The crawl. Its journal is read once from end to end, if links are asked for.
    needs
        Which columns.
    """

    def __init__(self, partition: Partition, needs: Iterable[Need]) -> None:
        self._columns: dict[Need, Column] = {name: _column(name, partition) for name in sorted(needs)}

    @property
    def words(self) -> bool:
        """Whether it matters how many words links have."""
        return "facts" in self._columns

    def learned(self, visit: Remembered) -> None:
        """Take note of a visit, and of the pages that it made known."""
        event, held = visit.event, visit.reading.before.held
        if event.found is not None:
            self.found(event.found)
        for column in self._columns.values():
            column.learned(event, held)

    def found(self, found: Discovery) -> None:
        """Take note of pages that became known."""
        for column in self._columns.values():
            column.found(found)

    def of(self, slots: Slots) -> Asked:
        """Return the columns of `slots`, shape (n,) each."""
        columns = Asked()
        for name, column in self._columns.items():
            columns[name] = column.of(slots)
        return columns


def _column(name: Need, partition: Partition) -> Column:
    if name == "rank":
        from evercrawl.model.web.known_ranks import Ranks  # with kernels that no other crawl has a use for

        return Ranks(partition)
    if name == "facts":
        from evercrawl.model.web.page_facts import PageFacts

        return PageFacts(partition)
    if name in ("site", "host"):
        return Sites(partition, hosts=name == "host")
    if name in ("retrieved", "clicked"):
        from evercrawl.model.worth.usage_counts import Used

        return Used(partition, clicks=name == "clicked")
    return InLinks(partition) if name == "in_links" else Backlog(partition, hosts=name == "host_backlog")
