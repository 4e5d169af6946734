"""Text for people: without what makes a terminal do things or is not seen, and with nouns that agree with counts."""

from collections.abc import Iterable
from typing import Final, TextIO

_CONTROLS: Final = [code for code in (*range(32), *range(127, 160)) if code not in (9, 10)]
_TURNS: Final = [0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]  # line ends among them
_UNSEEN: Final = [
    0xAD, 0x34F, 0x180E, *range(0x200B, 0x200E), *range(0x2060, 0x2066), *range(0x206A, 0x2070), 0xFEFF,
    *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080), *range(0xE0100, 0xE01F0),
]  # fmt: skip
"""Soft hyphens, joiners, spaces of no width, byte order marks, tags, selectors of variants: words may hide in them."""
_LEFT_OUT: Final = dict.fromkeys([*_CONTROLS, *_TURNS, *_UNSEEN])


def plain(text: str) -> str:
    r"""Return a text without controls (C0, C1; tab and newline stay), changes of direction, and what is not seen.

    A title that turns around what stands behind it could make one address look like another.

    Examples
    --------
    >>> plain("a\tb\x1b[31m\r\n\x9b2Jc")
    'a\tb[31m\n2Jc'
    >>> plain("evil\u202egro.elpmaxe\u202c")
    'evilgro.elpmaxe'
    >>> plain("pay\u200bpal\ufeff\U000e0041")
    'paypal'
    """
    return text.translate(_LEFT_OUT)


def fit(text: str, out: TextIO) -> str:
    """Return a text as it may be written to `out`: plain for a terminal, as it is for files and programs."""
    return plain(text) if out.isatty() else text


class Fitted:
    """Writes lines to `out` as they may be written there."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def writelines(self, lines: Iterable[str], /) -> None:
        """Write them."""
        self._out.writelines(fit(line, self._out) for line in lines)


def many(count: int, nouns: str) -> str:
    """Return a count with its noun, which is given in the plural.

    Examples
    --------
    >>> many(1, "archive segments"), many(1200, "pages")
    ('1 archive segment', '1,200 pages')
    """
    return f"{count:,} {nouns.removesuffix('s') if count == 1 else nouns}"
