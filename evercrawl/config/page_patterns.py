"""Users' regular expressions, matched against untrusted text in linear time, by RE2 alone."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

LACKS: Final = "without look-around, back references and possessive repeats"
"""What RE2 does not support."""
READ_OTHERWISE: Final = re.compile(r"\[:|\{,")
"""Named classes, and repeats without a lower bound: RE2 means something else."""


@functools.lru_cache(64)
def text_search(pattern: str) -> Callable[[str], bool]:
    r"""Return a function that searches untrusted text for an expression, always by RE2.

    Raises
    ------
    re.error
        RE2 does not support the expression, or would read it differently from Python.

    Examples
    --------
    >>> text_search("Sign in.*to continue")(131_072 * "Sign in ")
    False
    >>> text_search("(?i)größe")("GRÖSSE, Größe")
    True
    >>> text_search("(?!a)b")
    Traceback (most recent call last):
        ...
    re.error: pages are searched in linear time, without look-around, back references and possessive repeats
    """
    import re2  # here, because every help imports this file

    if READ_OTHERWISE.search(pattern):
        raise re.error("named classes, and repeats without a lower bound, are not supported in pages")
    options = re2.Options()
    options.log_errors, options.never_capture = False, True
    try:
        search = re2.compile(pattern.encode(), options).search
    except (re2.error, UnicodeEncodeError) as error:
        raise re.error(f"pages are searched in linear time, {LACKS}") from error
    return lambda text: search(text.encode("utf-8", "replace")) is not None
