"""Text for people: without control and invisible characters, and with nouns that agree with counts."""

import sys
from collections.abc import Iterable
from typing import Final, TextIO

from evercrawl.parse.visible import JOINERS, UNSEEN

_CONTROLS: Final = [code for code in (*range(32), *range(127, 160)) if code not in (9, 10)]
_LEFT_OUT: Final = dict.fromkeys([*_CONTROLS, *UNSEEN, *JOINERS])


def plain(text: str) -> str:
    r"""Return a text without controls (C0, C1; except tab and newline), changes of direction, and invisible characters.

    A title that reverses the direction of the text after it could make one URL look like another.

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


def one_line(text: str) -> str:
    r"""Return text of a page in one line, so that no part of it looks like another line of the output.

    >>> one_line("Tea\n 2. Bank \u2028")
    'Tea 2. Bank'
    """
    return " ".join(text.split())


def fit(text: str, out: TextIO) -> str:
    """Return a text for `out`: plain for a terminal, unchanged for files and programs."""
    return plain(text) if out.isatty() else text


def hand_on(out: bytes, err: str, *, raw: bool = False) -> None:
    """Write the output of another process, which had no terminal, to this one's output, plain if that is a terminal.

    With `raw`, the output is the raw body of a requested page.
    """
    sys.stdout.flush()
    if sys.stdout.isatty() and not raw:
        out = plain(out.decode("utf-8", "replace")).encode()
    sys.stdout.buffer.write(out)
    sys.stdout.flush()
    sys.stderr.write(fit(err, sys.stderr))


class Fitted:
    """A writer of lines to `out`, plain if that is a terminal."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def writelines(self, lines: Iterable[str], /) -> None:
        """Write the text."""
        self._out.writelines(fit(line, self._out) for line in lines)


def many(count: int, nouns: str) -> str:
    """Return a count with its noun, given in the plural.

    Examples
    --------
    >>> many(1, "archive segments"), many(1200, "pages")
    ('1 archive segment', '1,200 pages')
    """
    return f"{count:,} {nouns.removesuffix('s') if count == 1 else nouns}"
