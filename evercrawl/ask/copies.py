"""Copies of a text on the crawled web, whole or in part: the copy tracker of a press agency.

Candidate pages come from three sources. The search index finds pages that contain runs of the text's words as phrases;
the runs are taken evenly from the whole text, so that partial copies are found too. The similarity hash finds pages
that resemble the text as a whole. The records name pages known to be copies of these, which are not in the index. Then
the archived text of each candidate is compared with the text by shingles, runs of `SHINGLE` words.

The crawl keeps the index, the hashes and the records up to date.

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
"""Words of a shingle: shorter ones match by chance, longer ones miss copies with single words changed."""
LEAST: Final = 0.1
"""Least part of the text's shingles that a listed page contains."""
_RUNS: Final = 24  # of the text's words that are searched for
_RUN: Final = 7  # words in each run
_EACH: Final = 20  # candidate pages for each run
_MOST: Final = 400  # pages read, the likeliest first
_BITS: Final = 6  # by which the similarity hashes of candidates may differ
_AGREED: Final = 0.5  # part of the text on a page from which on its known copies are candidates too


@dataclass(frozen=True, slots=True)
class TextCopy:
    """A page that contains a text, or part of it.

    Attributes
    ----------
    url, title
        URL and title of the page.
    contains
        Containment: part of the text's shingles that the page has.
    resembles
        Resemblance: shingles that both have, over shingles that either has.
    found_at, content_at
        When the page became known, and when its present content was first read; seconds since the epoch.
    importance
        Its share of all importance.
    copy_of
        The original of which the crawl considers the page a copy; "" if it is none.
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
    """The result of a search for copies of a text.

    Attributes
    ----------
    words, shingles
        Number of words of the text, and of its distinct shingles.
    read
        Number of pages whose archived text was compared.
    indexed
        Whether there was a search index; without one, only pages that resemble the text as a whole are found.
    copies
        The copies found, sorted by how much of the text they contain, most first.
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
    """Return the pages that contain a text, or enough of it.

    Parameters
    ----------
    view, index
        The crawl, and its search index; None if it has none.
    text
        The text to search for.
    own
        Slot of the page that the text is from, which is not listed; NO_SLOT for a text from elsewhere.
    least
        Least part of the text's shingles that a listed page contains.
    most
        Maximum number of pages listed.
    tell
        Progress callback, called with the number of pages read and their total.

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
    """Return the slot and the text of a page of the crawl; None if no content of it is held.

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
    """Return the distinct runs of `SHINGLE` words; for a shorter text, the text itself.

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
    """Yield pages that contain runs of the words, those with the most runs first."""
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
    """Return pages whose similarity hash differs in few bits, the most similar first."""
    if not wanted:
        return []
    rows: Any = view.state.records.rows[: view.state.records.count]
    apart: Ints = np.bitwise_count(rows["simhash"] ^ np.uint64(wanted)).astype(np.int64)
    apart[rows["simhash"] == 0] = 64
    near = np.flatnonzero(apart <= _BITS)
    nearest: list[int] = rows["slot"][near[np.argsort(apart[near], kind="stable")]].tolist()
    return nearest


def _copies_of(view: View, slot: int) -> list[int]:
    """Return the aliases and the near-duplicates of a page."""
    rows: Any = view.state.records.rows[: view.state.records.count]
    index = view.state.record_of(slot)
    if index is None:
        return []
    original = slot if int(rows["alias"][index]) == NO_SLOT else int(rows["alias"][index])
    same = rows["slot"][(rows["alias"] == original)].tolist()
    return [original, *same, *_alike(view, int(rows["simhash"][index]))]


def _compared(view: View, slot: int, wanted: frozenset[tuple[str, ...]]) -> TextCopy | None:
    """Return how much of the text a page contains; None if its content is not held."""
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
    """Return the visit that brought a page's content; for an alias without own content, that of its original."""
    index = view.state.record_of(slot)
    if index is None:
        return None
    alias = int(view.state.records.rows["alias"][index])
    found, other = _brought(view, index), view.state.record_of(alias) if alias != NO_SLOT else None
    return found if found is not None or other is None else _brought(view, other)


def _brought(view: View, index: int) -> Visit | None:
    """Return the visit that brought the content of a record's page; None if it is not archived."""
    number = int(view.state.records.rows["event"][index])
    event = view.partition.journal.read(number) if number else None
    return event if isinstance(event, Visit) and event.archive is not None else None
