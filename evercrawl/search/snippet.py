"""Snippets: the part of a text that matches a query best, with the query's words marked."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

from evercrawl.search.forms import Form, Words
from evercrawl.search.segment import pattern, unsegmented

WIDTH: Final = 240
"""Characters of a snippet, or little more."""

_LEAD: Final = 4  # divisor of the snippet's width that may precede the first word of the query
_MOST_CHARS: Final = 100_000  # of a text that are examined
_MOST_EACH: Final = 20  # occurrences of a form considered when choosing the best part
_CUT: Final = "…"

Mark = tuple[int, int]


class Snippet(NamedTuple):
    """A part of a text with marks.

    Attributes
    ----------
    text
        Plain text with white space folded, and an ellipsis for omitted text.
    marks
        Start and end of the query's words in it, in order, not nested.
    """

    text: str
    marks: tuple[Mark, ...]


class _Place(NamedTuple):
    """An occurrence of a word of the query in a text: position and word."""

    start: int
    end: int
    word: int


def snippet(text: str, forms: Words, width: int = WIDTH) -> Snippet:
    """Return the part of `text` with the most words of the query; the first of equally good ones.

    Parameters
    ----------
    text
        The page's text.
    forms
        The forms of each word of the query, as in `QueryCandidates`.
    width
        In characters.

    Examples
    --------
    >>> from evercrawl.search.forms import Form
    >>> found = snippet("First of all, a word. Then one makes tea, and drinks it.", ((Form("tea", 1.0),),), 30)
    >>> found.text, [found.text[start:end] for start, end in found.marks]
    ('… makes tea, and drinks it.', ['tea'])
    """
    text = text[:_MOST_CHARS]
    places = _some_places(text, forms)
    best = _best(places, [max(len(form.word) for form in some) for some in forms], width - width // _LEAD)
    start, end = _part(text, *best, width)
    part = f"{_CUT} {text[start:end]}" if start else text[:end]
    return marked(f"{part} {_CUT}" if end < len(text) else part, forms)


def marked(text: str, forms: Words) -> Snippet:
    """Return a whole text, such as a title, with the words of the query marked."""
    return Snippet(text, tuple(_apart((place.start, place.end) for place in _places(text, forms))))


def _apart(marks: Iterable[Mark]) -> list[Mark]:
    """Return marks merged where they overlap, as pairs of letters do.

    >>> _apart([(0, 2), (1, 3), (5, 6)])
    [(0, 3), (5, 6)]
    """
    joined: list[Mark] = []
    for start, end in marks:
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _some_places(text: str, forms: Words) -> list[_Place]:
    """Return occurrences in order: the first few of each word, and of its other forms only if the word is missing."""
    lower = _lower(text, forms)
    found: list[_Place] = []
    for word, some in enumerate(forms):
        before = len(found)
        for form in some:
            found += _of(lower, form, word, _MOST_EACH)
            if len(found) > before:
                break
    return sorted(found)


def _places(text: str, forms: Words) -> list[_Place]:
    """Return all occurrences of all forms of the words, in order."""
    lower = _lower(text, forms)
    return sorted(
        place for word, some in enumerate(forms) for form in some for place in _of(lower, form, word, len(text))
    )  # fmt: skip


def _lower(text: str, forms: Words) -> str:
    """Return a text in lower case, character by character, as far as these words need it.

    If the words are ASCII, only ASCII letters matter; full case tables would take five times as long. A few letters
    have no lower case of the same length, and stay.
    """
    if not text.isascii() and all(form.word.isascii() for some in forms for form in some):
        return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c if len(c.lower()) != 1 else c.lower() for c in text)


def _of(lower: str, form: Form, word: int, most: int) -> Iterable[_Place]:
    if unsegmented(form.word):  # it is part of another word
        found = islice(pattern(form.word).finditer(lower), most)
        yield from (_Place(one.start(), one.end(), word) for one in found)
        return
    at, length, seen = lower.find(form.word), len(form.word), 0
    while at >= 0 and seen < most:
        end = at + length
        if not (at and lower[at - 1].isalnum()) and not (end < len(lower) and lower[end].isalnum()):
            yield _Place(at, end, word)
        seen += 1
        at = lower.find(form.word, end)


def _best(places: Sequence[_Place], weights: Sequence[int], width: int) -> tuple[int, int]:
    """Return start and end of the occurrence at which the window with most words begins; zeros without any.

    A word counts by its length the first time, because longer words are more specific, and a little for each
    repetition.
    """
    counts = [0] * len(weights)
    best, best_worth, worth, last = (0, 0), -1, 0, 0
    for first, place in enumerate(places):
        last = max(last, first)
        while last < len(places) and (places[last].end <= place.start + width or last == first):
            worth += _gain(counts, weights, places[last].word, 1)
            last += 1
        if worth > best_worth:
            best, best_worth = (place.start, place.end), worth
        worth += _gain(counts, weights, place.word, -1)
    return best


def _gain(counts: list[int], weights: Sequence[int], word: int, step: int) -> int:
    """Add or remove one occurrence of a word; return the change of the window's value."""
    counts[word] += step
    appears = counts[word] == (1 if step > 0 else 0)
    return step * (1 + 8 * weights[word] * appears)


def _part(text: str, first: int, first_end: int, width: int) -> tuple[int, int]:
    """Return start and end of the part to show, given those of the occurrence to show."""
    start = _beginning(text, first, width // _LEAD)
    return start, _ending(text, start, max(start + width, first_end))


def _beginning(text: str, first: int, lead: int) -> int:
    """Return a start that gives context to the occurrence `first`: the start of a sentence if there is one."""
    least = max(first - lead, 0)
    if not least:
        return 0
    sentence = max(text.rfind(f"{sign} ", least, first) for sign in ".!?")
    if sentence >= 0:
        return sentence + 2
    space = text.find(" ", least, first)
    return space + 1 if space >= 0 else first


def _ending(text: str, start: int, end: int) -> int:
    """Return an end after a whole word, if there is one."""
    if end >= len(text):
        return len(text)
    space = text.rfind(" ", start, end + 1)
    return space if space > start else end
