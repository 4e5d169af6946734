"""Users' regular expressions, matched against the untrusted text of pages in linear time."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from evercrawl.config.linear_time import linear_search

if TYPE_CHECKING:
    from collections.abc import Callable


@functools.lru_cache(64)
def text_search(pattern: str) -> Callable[[str], bool]:
    r"""Return a function that searches untrusted text for an expression as Python would, in linear time.

    Raises
    ------
    re.error
        The expression is none, or its meaning cannot be kept in linear time.

    Examples
    --------
    >>> text_search("Sign in.*to continue")(131_072 * "Sign in ")
    False
    >>> text_search("(?i)größe")("GRÖSSE, Größe"), text_search(r"Größe:\s\w+$")("Größe: Ü\n")
    (True, True)
    >>> text_search("(?!a)b")
    Traceback (most recent call last):
        ...
    re.error: pages are searched in linear time, without look-around, back references and possessive repeats
    """
    re.compile(pattern)
    return linear_search(pattern, urls=False)
