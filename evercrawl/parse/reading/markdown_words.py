r"""Escaping of words and addresses for Markdown, so that nothing in them acts as markup.

References
----------
CommonMark 0.31, 2.4 (backslash escapes), 6.3 (links): a destination without brackets ends at an unbalanced parenthesis.
"""

import re
from typing import Final

__all__ = ["address", "words"]

_MARKUP: Final = re.compile(r"[\\`\[\]]|<(?=[A-Za-z/!?])")
_ENDS: Final = {ord(char): f"%{ord(char):02X}" for char in "()<>\\`"}


def words(text: str) -> str:
    r"""Return a text escaped so that nothing in it begins a link, code or HTML.

    >>> print(words("a [b](javascript:x) <script> 1 < 2 `c`"))
    a \[b\](javascript:x) \<script> 1 < 2 \`c\`
    """
    return _MARKUP.sub(r"\\\g<0>", text)


def address(url: str) -> str:
    """Return a normalised URL escaped for the parentheses of a link.

    >>> address("http://a.example/b)(c")
    'http://a.example/b%29%28c'
    """
    return url.translate(_ENDS)
