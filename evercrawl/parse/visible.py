"""Removal of invisible characters, which can hide words meant for machines.

References
----------
Unicode Standard, DerivedCoreProperties: Default_Ignorable_Code_Point, but for its white space; and what is in general
category Cc, or Cf without a shape of its own.
"""

import re
from typing import Final

__all__ = ["JOINERS", "UNSEEN", "visible"]

_CONTROLS: Final = [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)]
UNSEEN: Final = (
    0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F),
    *range(0x2060, 0x2070), 0x3164, 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFFC), *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
)  # fmt: skip
"""Fillers, spaces of no width, separators of lines and paragraphs, marks of direction and of byte order, tags."""
JOINERS: Final = (*range(0x180B, 0x180E), 0x180F, 0x200C, 0x200D, *range(0xFE00, 0xFE10))
"""What chooses the shape of the character before it, or joins it to the next one or keeps it apart."""
_LEFT_OUT: Final = dict.fromkeys([*_CONTROLS, *UNSEEN])
_SHAPE, _JOIN = "[\u180b-\u180d\u180f\ufe00-\ufe0f]", "[\u200c\u200d]"
_NEITHER: Final = _SHAPE[:-1] + _JOIN[1:]
_RUNS: Final = re.compile(rf"(?<![^\s])({_NEITHER})+|({_SHAPE}?{_JOIN}?){_NEITHER}*")


def visible(text: str) -> str:
    r"""Return a text without control characters (except tab and newline), direction marks and invisible characters.

    Joiners, non-joiners (needed by Persian and emoji) and variation selectors stay after a visible character, one of
    each: a sequence of them carries a message for machines only.

    Examples
    --------
    >>> visible("pay\u200bpal\ufeff\U000e0041 \u3164\x1b[1m")
    'paypal [1m'
    >>> ascii(visible("\u0646\u200c\u0645 \u2764\ufe0f\u200d\U0001f525"))
    "'\\u0646\\u200c\\u0645 \\u2764\\ufe0f\\u200d\\U0001f525'"
    >>> ascii(visible("a\ufe00\ufe01\ufe0f\u200d\u200c\u200d b \u200d\ufe01"))
    "'a\\ufe00 b '"
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.translate(_LEFT_OUT)
    return text if text.isascii() else _RUNS.sub(lambda found: found[2] or "", text)
