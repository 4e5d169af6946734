"""Candidates for a query, by the words of pages and of links to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import tantivy
from numpy.typing import NDArray

from evercrawl.search.forms import Forms, Words
from evercrawl.search.query import Query
from evercrawl.search.schema import ADDRESS, ANCHOR, BODY, HOST, KEY, LANGUAGE, SITE, SLOT, TITLE, words_of
from evercrawl.search.spelling import Spelling
from evercrawl.types import Floats, Slots

MOST: Final = 200
"""Pages that are ranked by all that is known of them, unless more is asked for."""

TITLE_WEIGHT: Final = 2.0
ADDRESS_WEIGHT: Final = 0.5
_PHRASE_SLOP: Final = 1

_MUST, _SHOULD, _NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot


class QueryCandidates(NamedTuple):
    """Candidate pages for a query, one per row, by slot.

    Attributes
    ----------
    slot
        The page's slot.
    text
        BM25 of title, body and address together.
    anchor
        BM25 of the best set of links to it; 0 if none has a word of the query.
    phrase
        BM25 of the query's words as a phrase, in the title or the body; 0 if they do not form one.
    forms
        Every word of the query with the forms searched for.
    whole
        Whether these are all matching pages; otherwise more can be requested.
    """

    slot: Slots
    text: Floats
    anchor: Floats
    phrase: Floats
    forms: Words
    whole: bool

    def only(self, wanted: NDArray[np.bool_]) -> QueryCandidates:
        """Return the rows selected by a boolean mask."""
        text, anchor, phrase = (column[wanted] for column in (self.text, self.anchor, self.phrase))
        return QueryCandidates(self.slot[wanted], text, anchor, phrase, self.forms, whole=self.whole)


class Lookup:
    """One state of the two indexes, for queries.

    Parameters
    ----------
    pages, anchors
        As last loaded.

    Attributes
    ----------
    spelling
        The words of the index.
    """

    def __init__(self, pages: tantivy.Index, anchors: tantivy.Index) -> None:
        self._pages, self._anchors = pages.searcher(), anchors.searcher()
        self._schema, self._anchor_schema = pages.schema, anchors.schema
        self._forms = Forms(self._pages)
        self.spelling = Spelling(self._pages, self._anchors, self._forms)

    def search(self, query: Query, most: int = MOST) -> QueryCandidates:
        """Return the best `most` pages by their own words and the best `most` by words of links to them."""
        if not query:
            return QueryCandidates(_NO_SLOTS, _NONE, _NONE, _NONE, (), whole=True)
        forms = tuple(self._forms.of(word, query.languages) for word in query.words)
        filters = self._filters(query)
        if not forms:
            slots = self._slots(self._all(filters), most)
            zeros = np.zeros(len(slots))
            return QueryCandidates(slots, zeros, zeros, zeros, forms, whole=len(slots) < most)
        text = self._scores(self._all([(_MUST, self._words(forms)), *filters]), most)
        anchor = self._anchor_scores(forms, most)
        whole = len(text) < most and len(anchor) < most
        missing = [slot for slot in anchor if slot not in text]
        text |= self._scores(self._all([(_MUST, self._any_of(missing)), (_SHOULD, self._words(forms)), *filters]), most)
        slots = np.array(sorted(text), np.uint32)
        phrase = self._phrase_scores(query.typed, slots.tolist())
        return QueryCandidates(
            slots, _column(text, slots), _column(anchor, slots), _column(phrase, slots), forms, whole=whole
        )  # fmt: skip

    def languages(self, slots: Sequence[int]) -> dict[str, int]:
        """Return the number of given pages in each language, by the primary subtag."""
        if not slots:
            return {}
        found = self._pages.terms_with_prefix(LANGUAGE, "", self._any_of(slots))
        return {tag: count for tag, count in found if count and "-" not in tag}

    def suggestions(self, text: str, most: int) -> list[str]:
        """Return completions of the last word of `text` for which some page matches the query.

        If the word before it is in the index, only pages with that word count.
        """
        before, _, begun = text.rpartition(" ")
        words = words_of(begun)
        if len(words) != 1 or not begun[-1:].isalnum() or not begun.isalnum():
            return []
        clauses = [
            (_SHOULD, tantivy.Query.term_query(self._schema, f, w)) for w in words_of(before)[-1:] for f in _FOUND
        ]
        within = tantivy.Query.boolean_query(clauses) if clauses else None
        return [f"{before} {word}".strip() for word in self.spelling.completions(words[0], within, most)]

    def _words(self, forms: Words) -> tantivy.Query:
        """Return a query for words: the more the better, and better in the title than in the body."""
        fields = ((TITLE, TITLE_WEIGHT), (BODY, 1.0), (ADDRESS, ADDRESS_WEIGHT))
        return tantivy.Query.boolean_query(
            [
                (_SHOULD, _weighted(self._schema, field, form.word, weight * form.weight))
                for some in forms
                for form in some
                for field, weight in fields
            ]
        )

    def _filters(self, query: Query) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        """Return the required and the excluded conditions of a query."""
        clauses = [(_MUST, self._phrase(phrase)) for phrase in query.phrases]
        clauses += [(_NOT, self._phrase(phrase)) for phrase in query.without]
        for names, fields, occur in (
            (query.sites, (SITE, HOST), _MUST),
            (query.without_sites, (SITE, HOST), _NOT),
            (query.languages, (LANGUAGE,), _MUST),
            (query.without_languages, (LANGUAGE,), _NOT),
        ):
            if names:
                sets = [tantivy.Query.term_set_query(self._schema, field, list(names)) for field in fields]
                clauses.append((occur, _silent(tantivy.Query.boolean_query([(_SHOULD, some) for some in sets]))))
        return clauses

    def _phrase(self, words: Sequence[str]) -> tantivy.Query:
        """Return a query for the words in sequence, in the title or the body."""
        if len(words) == 1:
            each = [tantivy.Query.term_query(self._schema, field, words[0]) for field in (TITLE, BODY)]
        else:
            each = [tantivy.Query.phrase_query(self._schema, field, list(words)) for field in (TITLE, BODY)]
        return tantivy.Query.boolean_query([(_SHOULD, query) for query in each])

    def _any_of(self, slots: Iterable[int]) -> tantivy.Query:
        return _silent(tantivy.Query.term_set_query(self._schema, KEY, [str(slot) for slot in slots]))

    def _all(self, clauses: list[tuple[tantivy.Occur, tantivy.Query]]) -> tantivy.Query:
        if any(occur == _MUST for occur, _ in clauses):
            return tantivy.Query.boolean_query(clauses)
        return tantivy.Query.boolean_query([(_MUST, tantivy.Query.all_query()), *clauses])

    def _scores(self, query: tantivy.Query, most: int) -> dict[int, float]:
        """Return slot -> score of the best pages."""
        hits = self._pages.search(query, _room(self._pages, most), count=False).hits
        slots = self._pages.fast_field_values(SLOT, [address for _, address in hits])
        return {int(slot or 0): score for slot, (score, _) in zip(slots, hits, strict=True)}

    def _slots(self, query: tantivy.Query, most: int) -> Slots:
        room = _room(self._pages, most)
        hits = self._pages.search(query, room, count=False, order_by_field=SLOT, order=tantivy.Order.Asc).hits
        return np.array([slot for slot, _ in hits], np.uint32)

    def _anchor_scores(self, forms: Words, most: int) -> dict[int, float]:
        """Return slot -> score of the best set of links to it."""
        clauses = [
            (_SHOULD, _weighted(self._anchor_schema, ANCHOR, form.word, form.weight)) for some in forms for form in some
        ]
        room = _room(self._anchors, most)
        hits = self._anchors.search(tantivy.Query.boolean_query(clauses), room, count=False).hits
        slots = self._anchors.fast_field_values(SLOT, [address for _, address in hits])
        best: dict[int, float] = {}
        for slot, (score, _) in zip(slots, hits, strict=True):
            best.setdefault(int(slot or 0), score)
        return best

    def _phrase_scores(self, words: Sequence[str], slots: Sequence[int]) -> dict[int, float]:
        """Return slot -> score of the words as a phrase."""
        if len(words) < 2 or not slots:
            return {}
        each = [tantivy.Query.phrase_query(self._schema, field, list(words), _PHRASE_SLOP) for field in (TITLE, BODY)]
        together = tantivy.Query.boolean_query([(_SHOULD, query) for query in each])
        return self._scores(self._all([(_MUST, self._any_of(slots)), (_MUST, together)]), len(slots))


_FOUND: Final = TITLE, BODY
_NO_SLOTS: Final = np.zeros(0, np.uint32)
_NONE: Final = np.zeros(0)


def _room(searcher: tantivy.Searcher, most: int) -> int:
    """Return the number of hits to make room for: the library takes memory for as many as are asked for at once."""
    return max(min(most, searcher.num_docs), 1)


def _column(scores: dict[int, float], slots: Slots) -> Floats:
    return np.array([scores.get(slot, 0.0) for slot in slots.tolist()])


def _weighted(schema: tantivy.Schema, field: str, word: str, weight: float) -> tantivy.Query:
    return tantivy.Query.boost_query(tantivy.Query.term_query(schema, field, word, "freq"), weight)


def _silent(query: tantivy.Query) -> tantivy.Query:
    """Return a query that filters without adding to the score."""
    return tantivy.Query.const_score_query(query, 0.0)
