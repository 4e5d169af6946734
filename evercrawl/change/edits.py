"""The difference of two texts as word replacements, in bounded time for any content.

Common words at the beginning and end are skipped. The rest is compared word by word (the longest common subsequence).
If it is too long for that, it is split into pieces at boundaries determined by the words themselves; the pieces are
compared, and word by word only within pieces that differ.

References
----------
Hyyro (2004). Bit-parallel LCS-length computation revisited. Muthitacharoen, Chen, Mazieres (2001). A low-bandwidth
network file system: pieces that end where their content says.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

MOST_WORDS: Final = 200_000
"""Maximum number of words; the rest of a longer text is not compared."""
MOST_PAIRS: Final = 50_000_000
"""Maximum number of pairs of words, or pieces, in one comparison: 6 MB and 40 ms."""
_PIECE_ENDS: Final = 32  # one word in this many ends a piece
_PIECE_WORDS: Final = 256
_APART: Final = 3  # edits separated by fewer words are joined


class Edit(NamedTuple):
    """Words [a, b) of the text before were replaced by words [c, d) of the text after.

    >>> Edit(0, 2, 0, 1).words
    3
    """

    a: int
    b: int
    c: int
    d: int

    @property
    def words(self) -> int:
        """The number of removed and added words."""
        return self.b - self.a + self.d - self.c


def edits(before: Sequence[str], after: Sequence[str]) -> list[Edit]:
    """Return the edits that turn one list of words into another, in order; empty if they are equal.

    Examples
    --------
    >>> edits("the price is 12 EUR".split(), "the price is 15 EUR today".split())
    [Edit(a=3, b=5, c=3, d=6)]
    >>> edits("a b c d e f g".split(), "x b c d e f g h".split())
    [Edit(a=0, b=1, c=0, d=1), Edit(a=7, b=7, c=7, d=8)]
    """
    numbers = dict[str, int]()
    old = [numbers.setdefault(word, len(numbers)) for word in before[:MOST_WORDS]]
    new = [numbers.setdefault(word, len(numbers)) for word in after[:MOST_WORDS]]
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    found = _between(old[start : len(old) - end], new[start : len(new) - end])
    return _joined([Edit(a + start, b + start, c + start, d + start) for a, b, c, d in found], _APART)


def _between(old: list[int], new: list[int]) -> list[Edit]:
    """Return the edits between lists that differ at both ends."""
    if not (old and new):
        return [Edit(0, len(old), 0, len(new))] if old or new else []
    if len(old) * len(new) <= MOST_PAIRS:
        return _replaced(old, new)
    old_pieces, new_pieces = _pieces(old), _pieces(new)
    if len(old_pieces) * len(new_pieces) > MOST_PAIRS:
        return [Edit(0, len(old), 0, len(new))]
    old_ends, new_ends = _ends(old_pieces), _ends(new_pieces)
    found, pairs = list[Edit](), 0
    for a, b, c, d in _replaced(old_pieces, new_pieces):
        a, b, c, d = old_ends[a], old_ends[b], new_ends[c], new_ends[d]
        pairs += (b - a) * (d - c)
        if pairs > MOST_PAIRS:
            found.append(Edit(a, b, c, d))
        else:
            found += [Edit(a + e.a, a + e.b, c + e.c, c + e.d) for e in _between(old[a:b], new[c:d])]
    return found


def _replaced(old: Sequence[object], new: Sequence[object]) -> list[Edit]:
    from rapidfuzz.distance import Indel  # imported here, because most commands compare no words

    codes = [code for code in Indel.opcodes(old, new) if code.tag != "equal"]
    return _joined([Edit(code.src_start, code.src_end, code.dest_start, code.dest_end) for code in codes], apart=1)


def _pieces(words: list[int]) -> list[tuple[int, ...]]:
    pieces, start = list[tuple[int, ...]](), 0
    for place, word in enumerate(words, 1):
        if word % _PIECE_ENDS == 0 or place - start == _PIECE_WORDS or place == len(words):
            pieces.append(tuple(words[start:place]))
            start = place
    return pieces


def _ends(pieces: list[tuple[int, ...]]) -> list[int]:
    ends = [0]
    for piece in pieces:
        ends.append(ends[-1] + len(piece))
    return ends


def _joined(found: list[Edit], apart: int) -> list[Edit]:
    """Return edits, joining those separated by fewer than `apart` words."""
    joined = list[Edit]()
    for edit in found:
        last = joined[-1] if joined else None
        if last is not None and edit.a - last.b < apart:
            joined[-1] = Edit(last.a, edit.b, last.c, edit.d)
        else:
            joined.append(edit)
    return joined
