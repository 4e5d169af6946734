"""The content of a page at an instant, and all its versions, looked up by URL."""

from dataclasses import replace

import numpy as np

from evercrawl.ask.changes.versions import PageHistory, PageVersion, history
from evercrawl.ask.content import StoredPage
from evercrawl.errors import NotHeldError, StoreError
from evercrawl.model.stored.answers import answer_of, exchange_of, instant
from evercrawl.model.stored.derived.derived import Derived
from evercrawl.store.archive.archive import REMOVED
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.journal.events import Visit
from evercrawl.store.partition import Partition
from evercrawl.types import NO_SLOT


def slot_of(partition: Partition, url: str) -> int:
    """Return the slot of a normalised URL.

    Raises
    ------
    NotHeldError
        The crawl does not know the URL.
    """
    slot = partition.state.find_one(url)
    if slot == NO_SLOT:
        raise NotHeldError(f"{url} was never seen: no page read so far links to it.")
    return slot


def page_history(partition: Partition, derived: Derived, url: str) -> PageHistory:
    """Return the history of a page, the newest version first.

    Raises
    ------
    NotHeldError
        The crawl does not know the page.
    """
    found = history(derived.runs, slot_of(partition, url))
    visits = np.array([version.visit for version in found.versions], np.int64)
    held = [_is_held(partition, pointer) for pointer in derived.runs.take("pointer", visits).tolist()]
    return replace(found, versions=tuple(map(_with_held, found.versions, held)))


def _is_held(partition: Partition, pointer: int) -> bool:
    event = partition.journal.read(pointer)
    return isinstance(event, Visit) and event.archive is not None and partition.archive.holds(Pointer(*event.archive))


def _with_held(version: PageVersion, held: bool) -> PageVersion:
    return replace(version, held=held)


def content_at(partition: Partition, derived: Derived, url: str, at: float) -> StoredPage:
    """Return the content that the crawl held of a page at an instant, in seconds since the epoch.

    Redirects are not followed, because their targets may have had other content then.

    Raises
    ------
    NotHeldError
        No content of the page was held then.
    StoreError
        The archive or the journal is damaged.
    """
    slot = slot_of(partition, url)
    seen = history(derived.runs, slot, at)
    if not seen.versions:
        raise NotHeldError(_nothing(url, seen, history(derived.runs, slot), at), url)
    version = seen.versions[0]
    event = partition.journal.read(int(derived.runs.take("pointer", np.array([version.visit]))[0]))
    if not isinstance(event, Visit) or event.archive is None:
        raise NotHeldError(f"the content that {url} had at {instant(at)} is not in the archive.", url)
    try:
        held = exchange_of(event, answer_of(partition, event))
    except StoreError as error:
        if REMOVED not in str(error):
            raise
        raise NotHeldError(f"{url} had other content at {instant(at)}: {REMOVED}.", url) from error
    return StoredPage(
        url, url, version.outcome, version.status, event.title, event.mime, event.language, version.seen_at,
        version.at, event.visits, event.changes, held.headers, held.body, tuple(_notes(url, seen, version)), url,
    )  # fmt: skip


def _notes(url: str, seen: PageHistory, version: PageVersion) -> list[str]:
    """Return sentences that say when the content was seen, and the state of the page at the instant."""
    last = f", and seen last at {instant(version.seen_at)}" if version.seen_at > version.at else ""
    notes = [f"this content of {url} was first seen at {instant(version.at)}{last}."]
    if seen.away_at is not None:
        what = "redirected" if 300 <= seen.away_status < 400 else "was gone"
        notes.append(f"{url} {what} ({seen.away_status}) since {instant(seen.away_at)}.")
    return notes


def _nothing(url: str, seen: PageHistory, whole: PageHistory, at: float) -> str:
    if whole.versions:
        first = whole.versions[-1].at
        return f"no content of {url} was held at {instant(at)}; it was first read at {instant(first)}."
    if seen.away_at is not None:
        return f"{url} had no content at {instant(at)}: status {seen.away_status} since {instant(seen.away_at)}."
    return f"no content of {url} was held at {instant(at)}, nor was any later."
