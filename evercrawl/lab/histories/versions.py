"""Archived versions of pages, as sets of word runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evercrawl.change.extent import changed
from evercrawl.change.shingles import shingles, word_keys
from evercrawl.model.stored.answers import answer_of
from evercrawl.model.stored.indexed import content_of
from evercrawl.model.stored.reader import events, opened
from evercrawl.store.archive.warc import EntryKind
from evercrawl.store.journal.events import UNCHANGED, Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Keys, Outcome

_READ = (Outcome.OK, Outcome.DUPLICATE)


class Version(NamedTuple):
    """A version of a page, first seen by a visit that found changed words.

    Attributes
    ----------
    at
        Time of that visit, in seconds since the epoch.
    runs
        Its runs of words (see `change.shingles`).
    """

    at: float
    runs: Keys


class _Look(NamedTuple):
    at: float
    pointer: int
    digest: int
    words: int


class _Looks:
    """The visits that found a page changed, and the time of the last visit that found it."""

    __slots__ = ("found", "until")

    def __init__(self) -> None:
        self.found: list[_Look] = []
        self.until = 0.0


def versions_of_crawl(
    directory: Path, urls: Sequence[str], since: float, until: float
) -> Iterator[tuple[int, list[Version]]]:
    """Yield the versions of the given pages that have two or more, page by page.

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
    int, list
        The index of a page in `urls`, and its versions; the last version is repeated at the last visit that found it. A
        version whose words are not archived ends the list.

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
        looks: dict[int, _Looks] = {slot: _Looks() for slot in slots}
        for pointer, _, event in events(crawl, crawl.journal.sequence):
            if isinstance(event, Visit) and event.slot in looks and since <= event.at <= until:
                _look(looks[event.slot], event, pointer)
        for row, slot in enumerate(slots):
            if len(looks[slot].found) > 1:
                yield row, _versions(crawl, looks[slot], urls[row])
    finally:
        crawl.close()


def _look(looks: _Looks, event: Visit, pointer: int) -> None:
    """Record a visit."""
    if event.outcome not in _READ or not event.digest:
        return
    last = looks.found[-1] if looks.found else None
    same = last is not None and event.flags & UNCHANGED
    if not same and (last is None or changed(event.digest, event.words, last.digest, last.words)):
        looks.found.append(_Look(event.at, pointer, event.digest, event.words))
    looks.until = event.at


def _versions(crawl: Partition, looks: _Looks, url: str) -> list[Version]:
    known: dict[int, Keys | None] = {}
    found: list[Version] = []
    for look in looks.found:
        if look.words not in known:
            known[look.words] = _runs(crawl, look, url)
        runs = known[look.words]
        if runs is None:
            return found
        found.append(Version(look.at, runs))
    return [*found, found[-1]._replace(at=looks.until)]


def _runs(crawl: Partition, look: _Look, url: str) -> Keys | None:
    """Return the runs of words that a visit found; None if they are not archived."""
    event = crawl.journal.read(look.pointer)
    if not look.words or not isinstance(event, Visit) or event.archive is None:
        return None
    if not event.content and answer_of(crawl, event).kind is not EntryKind.RESPONSE:
        return None
    return shingles(word_keys(content_of(crawl, event, url).text.decode("utf-8", "replace")))
