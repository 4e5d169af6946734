"""Inflected forms of a word: words of the index with the same stem.

Stemming every word of every page would double the cost of indexing; stemming the few words of a query costs nothing,
and the exact word can still count for more.
"""

from math import log
from typing import Final, NamedTuple, TypeAlias

import tantivy

from evercrawl.search.schema import BODY, LANGUAGE, TITLE
from evercrawl.search.segment import begins_parts, unsegmented

MOST_FORMS: Final = 4
"""Other forms of one word that are looked for: the most frequent ones."""

MOST_PARTS: Final = 40
"""Parts that are looked for where a question is one letter of a script without blanks."""

_WEIGHT: Final = 0.4  # weight of another form, where the exact word has 1
_MOST_TERMS: Final = 1_000  # examined: the most frequent words with the same beginning
_SHORTEST: Final = 3  # letters of the common beginning of forms
_STEMMERS: Final = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "nb": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip


class Form(NamedTuple):
    """A form to search for, and its weight."""

    word: str
    weight: float


Words: TypeAlias = tuple[tuple[Form, ...], ...]
"""Of each word of a query the forms that are looked for; the word itself is the first."""


class Forms:
    """Finds the forms of words in one state of the index, and caches them.

    Parameters
    ----------
    searcher
        The searcher of the pages.
    """

    def __init__(self, searcher: tantivy.Searcher) -> None:
        self._searcher = searcher
        self._analyzers: dict[str, tantivy.TextAnalyzer] = {}
        self._usual = self._usual_language()
        self._known: dict[tuple[str, str], tuple[Form, ...]] = {}

    def of(self, word: str, languages: tuple[str, ...] = ()) -> tuple[Form, ...]:
        """Return the word itself, and other forms of it in the index.

        Parameters
        ----------
        word
            As normalised by the index.
        languages
            Those of the query; without any, the language of most pages decides.
        """
        language = next((tag[:2] for tag in languages if tag[:2] in _STEMMERS), self._usual)
        key = word, language
        if key not in self._known:
            if len(self._known) > 10_000:
                self._known.clear()
            self._known[key] = (Form(word, 1.0), *self._others(word, language))
        return self._known[key]

    def _others(self, word: str, language: str) -> list[Form]:
        if unsegmented(word):
            return self._parts_from(word) if begins_parts(word) else []
        stem = self._stems(word, language)[0]
        prefix = _beginning(word, stem).removesuffix("i")  # for "flies" this is "fl", or "fly" would be missed
        if len(prefix) < _SHORTEST or word.isdecimal():
            return []
        terms: dict[str, int] = {}
        for field in (BODY, TITLE):
            for term, count in self._searcher.terms_with_prefix(field, prefix, limit=_MOST_TERMS):
                terms[term] = max(count, terms.get(term, 0))
        stems = self._stems(" ".join(terms), language)
        same = [term for term, other in zip(terms, stems, strict=True) if other == stem and term != word]
        same.sort(key=lambda term: (-terms[term], term))
        return [Form(term, self._weight(terms.get(word, 0), terms[term])) for term in same[:MOST_FORMS]]

    def _parts_from(self, word: str) -> list[Form]:
        """Return the most frequent parts that begin with one or two letters, and count like these."""
        terms: dict[str, int] = {}
        for field in (BODY, TITLE):
            for term, count in self._searcher.terms_with_prefix(field, word, limit=MOST_PARTS):
                terms[term] = max(count, terms.get(term, 0))
        best = sorted((term for term in terms if term != word), key=lambda term: (-terms[term], term))
        return [Form(term, 1.0) for term in best[:MOST_PARTS]]

    def _stems(self, words: str, language: str) -> list[str]:
        """Return the stems of words, with accents folded, in order."""
        if language not in self._analyzers:
            build = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
            build = build.filter(tantivy.Filter.stemmer(_STEMMERS[language])).filter(tantivy.Filter.ascii_fold())
            self._analyzers[language] = build.build()
        return self._analyzers[language].analyze(words)

    def _weight(self, count: int, count_of_form: int) -> float:
        """Return the weight of a form, which must not gain by being rarer than the query's word."""
        rarity, of_form = self._rarity(count), self._rarity(count_of_form)
        return _WEIGHT * min(1.0, rarity / of_form) if count else _WEIGHT

    def _rarity(self, count: int) -> float:
        pages = max(self._searcher.num_docs, count)
        return log(1 + (pages - count + 0.5) / (count + 0.5))

    def _usual_language(self) -> str:
        counts = self._searcher.terms_with_prefix(LANGUAGE, "")
        known = [(count, tag) for tag, count in counts if tag in _STEMMERS]
        return max(known, default=(0, "en"))[1]


def _beginning(one: str, other: str) -> str:
    """Return the common prefix of two words."""
    length = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:length]
