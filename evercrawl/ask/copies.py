"""Where on the crawled web a text is, whole or in part: the copy tracker of a press agency.

Three ways lead to pages that may have it. The search index finds those in which runs of its words stand word after
word; runs are taken evenly from the whole text, so that a part of it that was copied is found too. The similarity hash
finds pages that say nearly what the text says as a whole. And pages that were found to be copies of such a page are
not in the index, but the records name them. What they have of the text is then told by their own words, as archived:
by shingles, runs of `SHINGLE` words.

The index, the hashes and the records are kept up by the crawl as it goes on.

References
----------
Broder (1997). On the resemblance and containment of documents.
Abiteboul, Preda, Cobena (2003), section 3: a press agency that looks for copies of its articles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evercrawl.ask.search.hits import text_of
from evercrawl.model.stored.reader import Tell
from evercrawl.model.view import View
from evercrawl.parse.simhash import simhash
from evercrawl.search.index import Index
from evercrawl.search.query import Query
from evercrawl.search.schema import words_of
from evercrawl.store.journal.events import Visit
from evercrawl.types import NO_SLOT, Ints

SHINGLE: Final = 5
"""Words of a shingle: fewer are said by chance, more are missed where single words were changed."""
LEAST: Final = 0.1
"""Of the text's shingles, which part a page has to have to be listed."""
_RUNS: Final = 24  # of the text's words that are looked for
_RUN: Final = 7  # words of each
_EACH: Final = 20  # pages that are looked at for each run
_MOST: Final = 400  # pages that are read, the likeliest first
_BITS: Final = 6  # of two similarity hashes that may differ where pages are to be read at all
_AGREED: Final = 0.5  # a page that has so much of the text leads to its own copies


@dataclass(frozen=True, slots=True)
class TextCopy:
    """A page that has a text, or some of it.

    Attributes
    ----------
    url, title
        Of the page.
    contains
        Which part of the text's shingles the page has.
    resembles
        Shingles that both have, over those that either has.
    found_at, content_at
        When the page became known, and when it was read first with the content that it has now; seconds since the
        epoch.
    importance
        Its share of all importance there is.
    copy_of
        The page of which the crawl holds it to be a copy; "" for none.
    """

    url: str
    title: str
    contains: float
    resembles: float
    found_at: float
    content_at: float
    importance: float
    copy_of: str


@dataclass(frozen=True, slots=True)
class CopiesFound:
    """What was looked for, and what was found.

    Attributes
    ----------
    words, shingles
        Of the text: how many, and how many different ones.
    read
        Pages whose archived text was compared.
    indexed
        Whether there was a search index; without one only pages are found that resemble the text as a whole.
    copies
        Those that have most of it first.
    """

    words: int
    shingles: int
    read: int
    indexed: bool
    copies: tuple[TextCopy, ...]


def copies(
    view: View,
    index: Index | None,
    text: str,
    *,
    own: int = NO_SLOT,
    least: float = LEAST,
    most: int = 50,
    tell: Tell | None = None,
) -> CopiesFound:
    """Return the pages that have a text, or enough of it.

    Parameters
    ----------
    view, index
        The crawl, and its search index; None where there is none.
    text
        What is looked for.
    own
        The page that the text is from, which is not listed; NO_SLOT where it is from elsewhere.
    least
        Which part of its shingles a page has to have.
    most
        Pages that are listed.
    tell
        Is told how many pages were read, and of how many.

    Raises
    ------
    StoreError
        Index, archive or journal is damaged.
    """
    words = words_of(text)
    wanted = shingles(words)
    found, read = dict[int, TextCopy](), set[int]()
    if wanted:
        ahead = [*_by_words(index, words), *_alike(view, simhash(text, view.state.hasher))]
        while ahead and len(read) < _MOST:
            slots = [slot for slot in dict.fromkeys(ahead) if slot not in read][: _MOST - len(read)]
            ahead = list[int]()
            for slot in slots:
                read.add(slot)
                copy = _compared(view, slot, wanted)
                if tell is not None:
                    tell("pages compared", len(read), len(slots))
                if copy is None:
                    continue
                found[slot] = copy
                if copy.contains >= _AGREED:
                    ahead += _copies_of(view, slot)
    listed = sorted((copy for slot, copy in found.items() if slot != own and copy.contains >= least), key=_order)
    return CopiesFound(len(words), len(wanted), len(read), index is not None, tuple(listed[:most]))


def page_text(view: View, url: str) -> tuple[int, str] | None:
    """Return a page of the crawl and the text that it has; None where no content of it is held.

    Raises
    ------
    StoreError
        The archive is damaged.
    """
    slot = view.state.find_one(url)
    if slot == NO_SLOT or view.state.forgotten.has(slot):
        return None
    event = _content(view, slot)
    return (slot, text_of(view.partition, event)) if event is not None else None


def shingles(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """Return the different runs of `SHINGLE` words; of a shorter text, the text.

    Examples
    --------
    >>> sorted(shingles("a b c d e f".split()))
    [('a', 'b', 'c', 'd', 'e'), ('b', 'c', 'd', 'e', 'f')]
    >>> shingles([])
    frozenset()
    """
    if len(words) <= SHINGLE:
        return frozenset([tuple(words)] if words else [])
    return frozenset(zip(*(words[k:] for k in range(SHINGLE)), strict=False))


def _order(copy: TextCopy) -> tuple[float, float, float]:
    return -round(copy.contains, 3), -round(copy.resembles, 3), copy.content_at


def _by_words(index: Index | None, words: Sequence[str]) -> Iterator[int]:
    """Yield pages in which runs of the words stand, those first in which most runs do."""
    if index is None:
        return
    votes = dict[int, int]()
    starts = np.linspace(0, max(len(words) - _RUN, 0), min(_RUNS, max(len(words) - _RUN, 0) + 1)).astype(int)
    for start in dict.fromkeys(starts.tolist()):
        run = tuple(words[start : start + _RUN])
        query = Query(words=tuple(dict.fromkeys(run)), typed=run, phrases=(run,))
        for slot in index.search(query, _EACH).slot.tolist():
            votes[slot] = votes.get(slot, 0) + 1
    yield from sorted(votes, key=lambda slot: -votes[slot])


def _alike(view: View, wanted: int) -> list[int]:
    """Return pages whose similarity hash differs in few bits, the nearest first."""
    if not wanted:
        return []
    rows: Any = view.state.records.rows[: view.state.records.count]
    apart: Ints = np.bitwise_count(rows["simhash"] ^ np.uint64(wanted)).astype(np.int64)
    apart[rows["simhash"] == 0] = 64
    near = np.flatnonzero(apart <= _BITS)
    nearest: list[int] = rows["slot"][near[np.argsort(apart[near], kind="stable")]].tolist()
    return nearest


def _copies_of(view: View, slot: int) -> list[int]:
    """Return pages that stand for the same content as a page, and those that say nearly the same."""
    rows: Any = view.state.records.rows[: view.state.records.count]
    index = view.state.record_of(slot)
    if index is None:
        return []
    original = slot if int(rows["alias"][index]) == NO_SLOT else int(rows["alias"][index])
    same = rows["slot"][(rows["alias"] == original)].tolist()
    return [original, *same, *_alike(view, int(rows["simhash"][index]))]


def _compared(view: View, slot: int, wanted: frozenset[tuple[str, ...]]) -> TextCopy | None:
    """Return what a page has of the text; None where its content is not held."""
    state = view.state
    index = state.record_of(slot)
    if index is None or state.forgotten.has(slot):
        return None
    row = state.records.rows[index]
    alias = int(row["alias"])
    event = _content(view, slot)
    if event is None:
        return None
    there = shingles(words_of(text_of(view.partition, event)))
    both = len(wanted & there)
    return TextCopy(
        state.urls.get(slot),
        event.title,
        both / len(wanted),
        both / max(len(wanted | there), 1),
        state.instant(int(state.known.found_at.at(np.array([slot], np.uint32))[0])),
        state.instant(int(row["changed"])),
        float(view.importance[slot]),
        state.urls.get(alias) if alias != NO_SLOT else "",
    )


def _content(view: View, slot: int) -> Visit | None:
    """Return the visit that brought what a page has; for an alias without content of its own, that of its original."""
    index = view.state.record_of(slot)
    if index is None:
        return None
    alias = int(view.state.records.rows["alias"][index])
    found, other = _brought(view, index), view.state.record_of(alias) if alias != NO_SLOT else None
    return found if found is not None or other is None else _brought(view, other)


def _brought(view: View, index: int) -> Visit | None:
    """Return the visit that brought what a record's page has; None where that is not archived."""
    number = int(view.state.records.rows["event"][index])
    event = view.partition.journal.read(number) if number else None
    return event if isinstance(event, Visit) and event.archive is not None else None
