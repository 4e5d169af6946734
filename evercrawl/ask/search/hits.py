"""One page that answers a question: what is shown of it, its text read from the archive."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from evercrawl.ask.rank.top import known
from evercrawl.model.stored.answers import answer_of, exchange_of, is_html
from evercrawl.model.view import View
from evercrawl.parse.encoding import utf8
from evercrawl.parse.html import read_text
from evercrawl.parse.scan import scan
from evercrawl.search.forms import Words
from evercrawl.search.snippet import Mark, Snippet, marked, snippet
from evercrawl.store.journal.events import Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Floats, Slots

READ_BYTES: Final = 1 << 17
"""Of a page's body that are looked through for the part that is shown; more than nine pages in ten are shorter."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One page that answers.

    Attributes
    ----------
    rank, url, title
        From 1; the title is "" where the page has none.
    score
        What it is ranked by; comparable within one answer only.
    importance, times_mean
        Its share of all importance there is, and the same in units of the mean page.
    fetched_at, changed_at
        When its content was last seen at its site, and when that last changed as far as is known; seconds since the
        epoch.
    fresh
        Probability that the copy held is the page as it is now; None where nothing is believed of it.
    site, language
        Registrable domain, and BCP 47 tag or "".
    snippet
        The part of its text that answers best; read from the archive.
    title_marks, snippet_marks
        Where the words of the query stand in title and snippet: start and end, in characters.
    """

    rank: int
    url: str
    title: str
    score: float
    importance: float
    times_mean: float
    fetched_at: float
    changed_at: float
    fresh: float | None
    site: str
    language: str
    snippet: str
    title_marks: tuple[Mark, ...]
    snippet_marks: tuple[Mark, ...]


def hits(view: View, slots: Slots, scores: Floats, forms: Words, rank: int = 1) -> Iterator[Hit]:
    """Yield what is shown of pages.

    Parameters
    ----------
    view
        What is believed of them, at the instant of the question.
    slots, scores
        The pages, the best first, and what they are ranked by; shape (n,).
    forms
        The words of the query, to be marked.
    rank
        Of the first.

    Raises
    ------
    StoreError
        The archive or the journal is damaged.
    """
    if not len(slots):
        return
    state, fresh = view.state, view.fresh(view.columns(slots))
    rows: Any = view.records(slots)[1]
    for i, slot in enumerate(slots.tolist()):
        row, share = rows[i], float(view.importance[slot])
        title, language, part, changed_at = _shown(view.partition, row, forms)
        seen_at = state.instant(int(row["seen"]))
        yield Hit(
            rank + i,
            state.urls.get(slot),
            title.text,
            float(scores[i]),
            share,
            share * view.counted,
            seen_at,
            state.instant(int(row["changed"])) if row["changed"] else min(changed_at or seen_at, seen_at),
            known(fresh[i]),
            state.sites[int(state.site_of[row["host"]])],
            language,
            part.text,
            title.marks,
            part.marks,
        )


def _shown(partition: Partition, row: Any, forms: Words) -> tuple[Snippet, str, Snippet, float]:
    """Return title, language and snippet of a page, the words marked, and when that content was first seen, or 0."""
    event = partition.journal.read(int(row["event"])) if row["event"] else None
    if not isinstance(event, Visit) or event.archive is None:
        return Snippet("", ()), "", Snippet("", ()), 0.0
    held = exchange_of(event, answer_of(partition, event), READ_BYTES)
    text = _text(held.body, held.headers.get("content-type", ""), html=is_html(event.mime, held.body))
    return marked(event.title, forms), event.language, snippet(text, forms), event.at


def text_of(partition: Partition, event: Visit) -> str:
    """Return the visible text of what a visit brought, from the archive; its event names where that lies.

    Raises
    ------
    StoreError
        The archive is damaged.
    """
    held = exchange_of(event, answer_of(partition, event))
    return _text(held.body, held.headers.get("content-type", ""), html=is_html(event.mime, held.body))


def _text(body: bytes, content_type: str, *, html: bool) -> str:
    """Return the visible text of a page; its links, of which nothing is to be shown, are not looked at."""
    if not html:
        return read_text(body, content_type).text
    source, _ = utf8(body, content_type)
    xml = content_type.lower().startswith("application/xhtml+xml")
    return scan(source, 0, xml=xml).text.decode("utf-8", "replace")
