"""IP addresses that served the pages of crawls, from the archive: one look-up per host."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.model.stored.reader import events, opened
from evercrawl.parse.urls import hostname
from evercrawl.store.birth import is_crawl
from evercrawl.store.journal.events import Visit

if TYPE_CHECKING:
    from evercrawl.lab.histories.history import History


def addresses_of_crawls(paths: Sequence[Path], histories: Sequence["History"]) -> list[str]:
    """Return the address that last answered for the host of each page; "" if unknown.

    Raises
    ------
    StoreError
        A crawl is damaged.
    """
    found = list[str]()
    for path, history in zip(paths, histories, strict=True):
        known = _by_host(path) if is_crawl(path) else {}
        found += [known.get(hostname(url), "") if known else "" for url in history.paths]
    return found


def _by_host(directory: Path) -> dict[str, str]:
    crawl = opened(directory)
    try:
        last = {
            event.host: event.archive
            for _, _, event in events(crawl, crawl.journal.sequence)
            if isinstance(event, Visit) and event.archive is not None
        }
        return {crawl.state.hosts[host]: crawl.archive.read(pointer).ip for host, pointer in last.items()}
    finally:
        crawl.close()
