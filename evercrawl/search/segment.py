"""Segmentation for scripts without spaces between words: Chinese, Japanese, Thai, Lao, Khmer and Burmese.

A run of such letters becomes overlapping pairs (Han and kana) or triples (other scripts), separated by blanks.
Queries are split in the same way, so that a word is found wherever it occurs, and the pairs of a longer word are
matched together and in sequence. No dictionary is needed, and the language need not be known. Tone marks above or
below a letter, at which the index's tokenizer would split, are removed from both.

Letters of other scripts are unchanged: a non-ASCII text in English costs a scan of its bytes, an ASCII text nothing.
"""

import re
from typing import Final

import numpy as np

MOST_CHARS: Final = 200_000
"""Of a text in these scripts that are taken in; some 50 ms."""

PAIRS: Final = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
TRIPLES: Final = "\u0e01-\u0e4d\u0e81-\u0ecd\u1000-\u109f\u1780-\u17d3"
MARKS: Final = "\u0e47-\u0e4e\u0ec8-\u0ece\u1036-\u103a\u17c6-\u17d3\u3099\u309a"
"""Marks that are left out."""

_SEGMENTED: Final = re.compile(f"[{PAIRS}{TRIPLES}]")
_MARKS: Final = re.compile(f"[{MARKS}]+")
_RUNS: Final = re.compile(f"[{PAIRS}]+|[{TRIPLES}]+")
_FIRST_LEAD, _PUNCTUATION = 0xE0, 0xE2


def unsegmented(text: str) -> bool:
    """Return whether a text has letters of a script without spaces.

    >>> unsegmented("tea"), unsegmented("\u8336")
    (False, True)
    """
    return not text.isascii() and _SEGMENTED.search(text) is not None


def may_be_unsegmented(text: bytes) -> bool:
    """Return whether a text in UTF-8 may have such letters; False if no byte can begin one.

    >>> may_be_unsegmented("caf\u00e9 \u2013 \u044f".encode()), may_be_unsegmented("\u8336".encode())
    (False, True)
    """
    if text.isascii():
        return False
    most = np.frombuffer(text, np.uint8).max()  # takes a microsecond for 30 kB, as does each scan below
    return bool(most > _PUNCTUATION or (most >= _FIRST_LEAD and (b"\xe0" in text or b"\xe1" in text)))


def segmented(text: str) -> str:
    """Return a text with blanks between the pairs and triples of letters of scripts without spaces.

    Examples
    --------
    >>> segmented("tea \u6570\u636e\u5e93 2"), segmented("\u8336"), segmented("tea")
    ('tea  \u6570\u636e \u636e\u5e93  2', ' \u8336 ', 'tea')
    """
    if not unsegmented(text):
        return text
    return _RUNS.sub(_parts, _MARKS.sub("", text[:MOST_CHARS]))


def begins_parts(word: str) -> bool:
    """Return whether a word is shorter than a part, so that it is found by the parts that begin with it.

    >>> begins_parts("\u8336"), begins_parts("\u6570\u636e"), begins_parts("a")
    (True, False, False)
    """
    return unsegmented(word) and len(word) < _width(word)


def pattern(word: str) -> re.Pattern[str]:
    """Return a regular expression that finds a part in an original text, with its tone marks."""
    return re.compile(f"[{MARKS}]*".join(re.escape(letter) for letter in word) + f"[{MARKS}]*")


def _width(letters: str) -> int:
    return 3 if letters[0] < "\u3000" else 2


def _parts(run: re.Match[str]) -> str:
    letters = run[0]
    width = _width(letters)
    return f" {' '.join([letters[at : at + width] for at in range(max(len(letters) - width, 0) + 1)])} "
