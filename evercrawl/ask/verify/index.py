"""Checks that the search index agrees with the journal and the archive."""

from typing import Final

from evercrawl.ask.verify.findings import Findings
from evercrawl.errors import StoreError
from evercrawl.model.stored.indexed import difference
from evercrawl.search.index import FOLDER, Index
from evercrawl.store.partition import Partition
from evercrawl.store.repair.damage import Part

_REMEDY: Final = "rebuild it with: evercrawl reindex --dir {}"


def inspect_index(partition: Partition, found: Findings) -> None:
    """Check the index in a crawl directory; a crawl without an index is fine."""
    folder = partition.directory / FOLDER
    if not folder.is_dir():
        return
    try:
        index = Index(folder, writable=False)
    except StoreError as error:
        found.blame(f"{error}; {_REMEDY.format(partition.directory)}", part=Part.SEARCH_INDEX)
        return
    try:
        check_index(partition, index, found)
    except StoreError as error:
        found.blame(f"{error}; {_REMEDY.format(partition.directory)}", part=Part.SEARCH_INDEX)
    finally:
        index.close()


def check_index(partition: Partition, index: Index, found: Findings) -> None:
    """Compare slots and digests; differences are not errors while the index is behind the journal."""
    sequence = partition.journal.sequence
    missing, extra = difference(partition.state, index)
    found.count("pages in the search index", len(index.held()[0]))
    if index.at != sequence:
        if len(missing) or len(extra):
            found.mends.append(
                f"the search index lacks {len(missing)} pages and has {len(extra)} superfluous ones; the next run of "
                f"the crawl, or evercrawl reindex, updates it"
            )
        return
    remedy = _REMEDY.format(partition.directory)
    for slots, what in ((missing, "lacks the newest content of"), (extra, "has a superfluous entry for")):
        for slot in slots.tolist():
            url = partition.state.urls.get(slot) if slot < partition.state.known.count else f"page {slot}"
            found.blame(f"the search index {what} {url}; {remedy}", kind="search index", part=Part.SEARCH_INDEX)
