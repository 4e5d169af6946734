"""Requisites of a page, and why a URL that is not a page was fetched."""

from evercrawl.ask.why.explanation import PageRequisites
from evercrawl.model.stored.answers import instant
from evercrawl.model.view import View
from evercrawl.store.requisites.book import KnownRequisite, read_book

_MOST = 10


def needed(view: View, slot: int) -> PageRequisites | None:
    """Return the requisites of a page; None if they are not fetched."""
    with read_book(view.partition.directory) as book:
        if book is None:
            return None
        found = book.of(book.under(slot))
    missing = {one.url: _why(one) for one in found if not one.owed and one.url and _why(one)}
    held = sum(one.archive is not None for one in found)
    return PageRequisites(len(found), held, sum(one.owed for one in found), dict(list(missing.items())[:_MOST]))


def requisite(view: View, url: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the state of a URL that pages need as a requisite, and sentences about it; None if no page needs it."""
    with read_book(view.partition.directory) as book:
        number = book.numbers([url]).get(url) if book is not None else None
        if book is None or number is None:
            return None
        (one,) = book.of([number])
        slots, count = book.owners(number, 1)
    kept = [view.state.urls.get(slot) for slot in slots if not view.state.forgotten.has(slot)]
    pages = "1 page needs" if count == 1 else f"{count} pages need"
    sentences = [f"{pages} it to be shown, such as {kept[0]}"] if kept else []
    if one.archive is not None:
        sentences.append(f"its content came at {instant(one.body_at)} and is in the archive ({one.mime or 'no type'})")
    if one.at:
        what = _why(one) or f"status {one.status}"
        sentences.append(f"it was asked for last at {instant(one.at)}: {what}")
    again = f"after {instant(one.retry_at)}" if one.retry_at else "when its host has rested"
    later = f"not before {instant(one.stale_at)}, and if a page that is read still needs it"
    sentences.append(f"it is asked for {again if one.owed else later}")
    return "requisite", tuple(sentences)


def _why(one: KnownRequisite) -> str:
    """Return why a requisite has no content, or only that of an error; "" if all is well."""
    return one.error or (f"status {one.status}" if one.status >= 400 else "")
