"""Search hits: the details shown of each matching page, with a snippet from the archive."""

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
"""Length of a body that is searched for the snippet; more than nine pages in ten are shorter."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One search hit.

    Attributes
    ----------
    rank, url, title
        Rank, from 1; URL; title, "" if the page has none.
    score
        Score that hits are ranked by; comparable only within one answer.
    importance, times_mean
        Its share of all importance, and the same in units of the mean page.
    fetched_at, changed_at
        When its content was last confirmed by a visit, and when it last changed as far as is known; seconds since the
        epoch.
    fresh
        Probability that the copy is up to date; None if there is no estimate.
    site, language
        Registrable domain, and BCP 47 tag or "".
    snippet
        The part of its archived text that matches best.
    title_marks, snippet_marks
        Positions of the query's words in title and snippet: start and end, in characters.
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
    """Yield the hits of matching pages.

    Parameters
    ----------
    view
        View of the crawl at the instant of the query.
    slots, scores
        The pages, the best first, and their scores; shape (n,).
    forms
        The words of the query, to be marked.
    rank
        Rank of the first hit.

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
    """Return title, language and snippet of a page, with words marked, and when that content was first seen, or 0."""
    event = partition.journal.read(int(row["event"])) if row["event"] else None
    if not isinstance(event, Visit) or event.archive is None:
        return Snippet("", ()), "", Snippet("", ()), 0.0
    held = exchange_of(event, answer_of(partition, event), READ_BYTES)
    text = _text(held.body, held.headers.get("content-type", ""), html=is_html(event.mime, held.body))
    return marked(event.title, forms), event.language, snippet(text, forms), event.at


def text_of(partition: Partition, event: Visit) -> str:
    """Return the visible text of the content that a visit brought, from the archive.

    Raises
    ------
    StoreError
        The archive is damaged.
    """
    held = exchange_of(event, answer_of(partition, event))
    return _text(held.body, held.headers.get("content-type", ""), html=is_html(event.mime, held.body))


def _text(body: bytes, content_type: str, *, html: bool) -> str:
    """Return the visible text of a page; its links are not parsed."""
    if not html:
        return read_text(body, content_type).text
    source, _ = utf8(body, content_type)
    xml = content_type.lower().startswith("application/xhtml+xml")
    return scan(source, 0, xml=xml).text.decode("utf-8", "replace")
