"""Words of a page's versions, read from the archive, and word diffs between them."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from evercrawl.ask.changes.page_change import PageChange
from evercrawl.change.edits import MOST_WORDS, edits
from evercrawl.errors import StoreError
from evercrawl.model.stored.answers import answer_of, exchange_of, is_html
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.parse.encoding import decode
from evercrawl.store.journal.events import Visit
from evercrawl.store.partition import Partition

MOST_BYTES: Final = 4 << 20
"""Length of a body up to which it is compared."""
AROUND: Final = 6
"""Number of words of context shown before and after a change."""
SHOWN_WORDS: Final = 300
_WORD_CHARS: Final = 80
_KEPT: Final = 9  # as many as are compared to classify a change
_TEXTS: Final = ("json", "xml", "javascript")


@dataclass(frozen=True, slots=True)
class WordDiff:
    """A word diff between two versions of a page.

    Attributes
    ----------
    pieces
        Kind and words of each piece, in order: "same", "went" (removed), "came" (added), or "skip" for omitted words.
    went, came
        Number of words removed and added.
    cut
        Whether the diff is longer than what is shown.
    """

    pieces: tuple[tuple[str, str], ...]
    went: int
    came: int
    cut: bool


class VersionTexts:
    """Words of versions, by the numbers of the visits that brought them; the last few are cached."""

    def __init__(self, partition: Partition, runs: Runs) -> None:
        self._partition, self._runs = partition, runs
        self._kept: OrderedDict[int, list[str] | None] = OrderedDict()

    def words(self, visit: int) -> list[str] | None:
        """Return the words of title and visible text; None if there is no text, or it cannot be read."""
        if visit not in self._kept:
            self._kept[visit] = self._read(visit)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[visit]

    def event(self, visit: int) -> Visit:
        """Return the event of a visit."""
        pointer = int(self._runs.take("pointer", np.array([visit]))[0])
        return cast("Visit", self._partition.journal.read(pointer))

    def diff(self, before: int, after: int, most_words: int = SHOWN_WORDS) -> WordDiff | None:
        """Return the word diff between two versions; None if one of them has no text."""
        old, new = self.words(before), self.words(after)
        return None if old is None or new is None else word_diff(old, new, most_words)

    def _read(self, visit: int) -> list[str] | None:
        event = self.event(visit)
        if event.archive is None:
            return None
        try:
            exchange = exchange_of(event, answer_of(self._partition, event), MOST_BYTES)
        except StoreError:  # it may have been deleted meanwhile
            return None
        content_type, body = exchange.headers.get("content-type", ""), exchange.body
        if is_html(event.mime, body):
            from evercrawl.parse import html  # here, because most queries read no text

            text = html.read(body, exchange.request.url, content_type).text
        elif event.mime.startswith("text/") or event.mime.endswith(_TEXTS):
            text = decode(body, content_type)[0]
        else:
            return None
        return f"{event.title}\n{text}".split(None, MOST_WORDS)[:MOST_WORDS]


def diff_of(texts: VersionTexts, change: PageChange, most_words: int = SHOWN_WORDS) -> WordDiff | None:
    """Return the word diff of a change; None if one side has no text."""
    if change.version is None or change.before is None:
        return None
    return texts.diff(change.before, change.version, most_words)


def word_diff(old: list[str], new: list[str], most_words: int = SHOWN_WORDS) -> WordDiff:
    """Return the word diff between two texts, with some words of context around each change.

    Examples
    --------
    >>> word_diff("it costs 12 EUR".split(), "it costs 15 EUR".split()).pieces
    (('same', 'it costs'), ('went', '12'), ('came', '15'), ('same', 'EUR'))
    """
    found = edits(old, new)
    pieces, shown, at, cut = list[tuple[str, str]](), 0, 0, False
    for edit in found:
        if shown >= most_words:
            cut = True
            break
        _between(pieces, new, at, edit.c)
        for what, words in (("went", old[edit.a : edit.b]), ("came", new[edit.c : edit.d])):
            room = max(most_words - shown, 1)
            cut = cut or len(words) > room
            if words:
                pieces.append((what, _shown(words[:room])))
            shown += len(words)
        at = edit.d
    if found and not cut:
        _behind(pieces, new, at)
    return WordDiff(tuple(pieces), sum(e.b - e.a for e in found), sum(e.d - e.c for e in found), cut)


def _between(pieces: list[tuple[str, str]], words: list[str], start: int, end: int) -> None:
    """Add the words between two changes, abbreviated in the middle if there are many."""
    if end - start <= 2 * AROUND and pieces:
        pieces.append(("same", _shown(words[start:end])))
        return
    if pieces:
        pieces.append(("same", _shown(words[start : start + AROUND])))
    if end - AROUND > start:
        pieces.append(("skip", ""))
    if end > start:
        pieces.append(("same", _shown(words[max(end - AROUND, start) : end])))


def _behind(pieces: list[tuple[str, str]], words: list[str], start: int) -> None:
    if start < len(words):
        pieces.append(("same", _shown(words[start : start + AROUND])))
    if start + AROUND < len(words):
        pieces.append(("skip", ""))


def _shown(words: list[str]) -> str:
    return " ".join(word if len(word) <= _WORD_CHARS else f"{word[:_WORD_CHARS]}…" for word in words)
