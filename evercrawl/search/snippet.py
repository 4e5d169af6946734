"""The part of a text that answers a query best, and where the words of the query stand in it."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

from evercrawl.search.forms import Form, Words
from evercrawl.search.segment import pattern, unsegmented

WIDTH: Final = 240
"""Characters of a snippet, or little more."""

_LEAD: Final = 4  # one part in so many of a snippet may stand before the first word of the query
_MOST_CHARS: Final = 100_000  # of a text that are looked at
_MOST_EACH: Final = 20  # places of one form of a word among which the best part is looked for
_CUT: Final = "…"

Mark = tuple[int, int]


class Snippet(NamedTuple):
    """A part of a text.

    Attributes
    ----------
    text
        Plain text, white space folded; an ellipsis where something was left out.
    marks
        Where the words of the query stand in it: start and end, in order, none within another.
    """

    text: str
    marks: tuple[Mark, ...]


class _Place(NamedTuple):
    """A word of the query in a text: where, and which."""

    start: int
    end: int
    word: int


def snippet(text: str, forms: Words, width: int = WIDTH) -> Snippet:
    """Return the part of `text` that has most of the words, the first of equally good ones.

    Parameters
    ----------
    text
        Of the page.
    forms
        Of each word of the query, as `QueryCandidates` has them.
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
    """Return marks joined where they overlap, as pairs of letters do.

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
    """Return where words stand, in order: of each the first places, and of its other forms only where it is missing."""
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
    """Return all places of all forms of the words, in order."""
    lower = _lower(text, forms)
    return sorted(
        place for word, some in enumerate(forms) for form in some for place in _of(lower, form, word, len(text))
    )  # fmt: skip


def _lower(text: str, forms: Words) -> str:
    """Return a text in lower case, letter for letter, as far as these words need it.

    Where they are of ASCII, so are the letters that matter; the tables of all others would take five times as long. A
    few letters have no lower case of the same length.
    """
    if not text.isascii() and all(form.word.isascii() for some in forms for form in some):
        return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c if len(c.lower()) != 1 else c.lower() for c in text)


def _of(lower: str, form: Form, word: int, most: int) -> Iterable[_Place]:
    if unsegmented(form.word):  # it stands within others
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
    """Return start and end of the place with which the window begins that has most words; zeros where there is none.

    A word counts once by its length, for longer words say more, and a little each time.
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
    """Count one more or one less of a word; return what that adds to the worth."""
    counts[word] += step
    appears = counts[word] == (1 if step > 0 else 0)
    return step * (1 + 8 * weights[word] * appears)


def _part(text: str, first: int, first_end: int, width: int) -> tuple[int, int]:
    """Return start and end of the part that is shown, given those of the word that it is shown for."""
    start = _beginning(text, first, width // _LEAD)
    return start, _ending(text, start, max(start + width, first_end))


def _beginning(text: str, first: int, lead: int) -> int:
    """Return where to begin so that the place `first` is led up to: with a sentence if one begins there."""
    least = max(first - lead, 0)
    if not least:
        return 0
    sentence = max(text.rfind(f"{sign} ", least, first) for sign in ".!?")
    if sentence >= 0:
        return sentence + 2
    space = text.find(" ", least, first)
    return space + 1 if space >= 0 else first


def _ending(text: str, start: int, end: int) -> int:
    """Return where to end: after a whole word, if there is one."""
    if end >= len(text):
        return len(text)
    space = text.rfind(" ", start, end + 1)
    return space if space > start else end
