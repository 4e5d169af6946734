"""Text for people: without what makes a terminal do things, and with nouns that agree with their counts."""

from collections.abc import Iterable
from typing import Final, TextIO

_CONTROLS: Final = [code for code in (*range(32), *range(127, 160)) if code not in (9, 10)]
_TURNS: Final = [0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]  # line ends among them
_LEFT_OUT: Final = dict.fromkeys([*_CONTROLS, *_TURNS])


def plain(text: str) -> str:
    r"""Return a text without control characters (C0, C1), except tab and newline, and without what turns its direction.

    A title that turns around what stands behind it could make one address look like another.

    Examples
    --------
    >>> plain("a\tb\x1b[31m\r\n\x9b2Jc")
    'a\tb[31m\n2Jc'
    >>> plain("evil\u202egro.elpmaxe\u202c")
    'evilgro.elpmaxe'
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
