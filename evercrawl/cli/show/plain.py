"""Text for people: without what makes a terminal do things or is not seen, and with nouns that agree with counts."""

import sys
from collections.abc import Iterable
from typing import Final, TextIO

from evercrawl.parse.visible import JOINERS, UNSEEN

_CONTROLS: Final = [code for code in (*range(32), *range(127, 160)) if code not in (9, 10)]
_LEFT_OUT: Final = dict.fromkeys([*_CONTROLS, *UNSEEN, *JOINERS])


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


def hand_on(out: bytes, err: str, *, raw: bool = False) -> None:
    """Write what another process printed, which had no terminal, to where this one prints, as may be written there.

    With `raw` it is a page as it came, which somebody asked for.
    """
    sys.stdout.flush()
    if sys.stdout.isatty() and not raw:
        out = plain(out.decode("utf-8", "replace")).encode()
    sys.stdout.buffer.write(out)
    sys.stdout.flush()
    sys.stderr.write(fit(err, sys.stderr))


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
