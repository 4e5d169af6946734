"""Completion and spelling correction with the words of the index."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rapidfuzz.distance import OSA

from evercrawl.search.forms import Forms
from evercrawl.search.schema import ANCHOR, BODY, TITLE, words_of
from evercrawl.search.segment import unsegmented

if TYPE_CHECKING:
    import tantivy

MOST_TERMS: Final = 3_000
"""Words that are compared with one that the index does not have: of all that begin alike the most frequent."""

_SHORTEST: Final = 3  # minimum letters of a word to be corrected
_LONGEST: Final = 40  # letters; the index contains no longer words
_TWO_FROM: Final = 6  # minimum letters of a word for two typing errors
_KEPT: Final = 5_000
_PLAIN: Final = re.compile(r'(?<![\w:"-])\w+(?![\w:"])')
"""Words of a question that stand for themselves: not those of phrases, sites, languages, or what is left out."""


class Spelling:
    """The words of one state of the index.

    Parameters
    ----------
    pages, anchors
        Searchers of the pages, and of the links to them.
    forms
        Finds other forms of words: a word with other forms counts as correct.
    """

    def __init__(self, pages: tantivy.Searcher, anchors: tantivy.Searcher, forms: Forms) -> None:
        self._pages, self._anchors, self._forms = pages, anchors, forms
        self._known: dict[str, str] = {}

    def instead(self, text: str) -> str:
        """Return a query with unknown words replaced by words of the index; "" if all are known.

        Parameters
        ----------
        text
            As typed; anything but plain words stays.
        """
        found = _PLAIN.sub(lambda match: self.nearest(match.group()) or match.group(), text)
        return found if found != text else ""

    def nearest(self, word: str) -> str:
        """Return the most frequent of the nearest words; "" if the word is in the index or none is near."""
        words = words_of(word)
        if len(words) != 1 or not _SHORTEST <= len(words[0]) <= _LONGEST or unsegmented(word) or word.isdecimal():
            return ""
        typed = words[0]
        if typed not in self._known:
            if len(self._known) > _KEPT:
                self._known.clear()
            self._known[typed] = "" if self._has(typed) else self._nearest(typed)
        return self._known[typed]

    def completions(self, begun: str, filter_query: tantivy.Query | None, most: int) -> list[str]:
        """Return words with this prefix, those in titles first, then by frequency."""
        found: dict[str, None] = {}
        for field in (TITLE, BODY):
            terms = self._pages.terms_with_prefix(field, begun, filter_query, most + 1)
            found |= dict.fromkeys(term for term, count in terms if count and term != begun)
        return list(found)[:most]

    def _has(self, word: str) -> bool:
        return len(self._forms.of(word)) > 1 or any(
            searcher.doc_freq(field, word)
            for searcher, field in ((self._pages, TITLE), (self._pages, BODY), (self._anchors, ANCHOR))
        )

    def _nearest(self, typed: str) -> str:
        """Return the best of the words that begin with one of the first two letters typed."""
        counts: dict[str, int] = {}
        for first in sorted(set(typed[:2])):
            for field in (TITLE, BODY):
                for term, count in self._pages.terms_with_prefix(field, first, limit=MOST_TERMS):
                    counts[term] = counts.get(term, 0) + count
        slips = 1 + (len(typed) >= _TWO_FROM)
        near = [
            (distance, term[0] != typed[0], -count, term)
            for term, count in counts.items()
            if len(term) >= _SHORTEST
            and not term.isdecimal()
            and (distance := OSA.distance(typed, term, score_cutoff=slips)) <= slips
        ]
        return min(near)[3] if near else ""
