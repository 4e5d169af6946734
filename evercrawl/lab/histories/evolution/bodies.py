"""Archived HTML versions of pages: their content, structure and presentation."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from evercrawl.lab.histories.evolution.aspects import PageAspects
from evercrawl.model.stored.answers import answer_of, exchange_of
from evercrawl.model.stored.reader import events, opened
from evercrawl.parse.reading.aspects import Aspects, aspects
from evercrawl.store.archive.warc import EntryKind
from evercrawl.store.journal.events import UNCHANGED, Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Outcome


def aspects_of_crawl(
    directory: Path, urls: Sequence[str], since: float, until: float
) -> Iterator[tuple[int, PageAspects]]:
    """Yield the aspects of the given HTML pages that have two or more archived versions, page by page.

    Parameters
    ----------
    directory
        The directory of a crawl, which may be running; its journal is read once, and its archive as far as needed.
    urls
        URLs of pages of the crawl.
    since, until
        The period of the visits that count, in seconds since the epoch.

    Yields
    ------
    int, PageAspects
        The index of a page in `urls`, and its archived versions.

    Raises
    ------
    ConfigError
        There is no crawl.
    StoreError
        The crawl is damaged.
    """
    crawl = opened(directory)
    try:
        slots = crawl.state.find(urls).tolist()
        looks: dict[int, list[tuple[int, int]]] = {slot: [] for slot in slots}
        for pointer, _, event in events(crawl, crawl.journal.sequence):
            if isinstance(event, Visit) and event.slot in looks and since <= event.at <= until and _is_other(event):
                of_page = looks[event.slot]
                if not of_page or of_page[-1][1] != event.digest:
                    of_page.append((pointer, event.digest))
        for row, slot in enumerate(slots):
            if len(looks[slot]) > 1 and (found := _page(crawl, [pointer for pointer, _ in looks[slot]])) is not None:
                yield row, found
    finally:
        crawl.close()


def _is_other(event: Visit) -> bool:
    """Return whether a visit brought a changed HTML page."""
    html = event.mime in ("", "text/html", "application/xhtml+xml")
    return event.outcome == Outcome.OK and html and bool(event.digest) and not event.flags & UNCHANGED


def _page(crawl: Partition, pointers: Sequence[int]) -> PageAspects | None:
    versions, words = list[Aspects](), list[str]()
    for pointer in pointers:
        event = crawl.journal.read(pointer)
        if not isinstance(event, Visit) or event.archive is None:
            continue
        answer = answer_of(crawl, event)
        if answer.kind is not EntryKind.RESPONSE:
            continue
        held = exchange_of(event, answer)
        told, text = aspects(held.body, held.headers.get("content-type", ""))
        versions.append(told)
        words.append(text)
    if len(versions) < 2:
        return None
    return PageAspects(versions, _words(words[0]), _words(words[-1]))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().split())
