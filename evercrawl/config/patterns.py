"""Users' regular expressions, matched against untrusted URLs in time linear in the length of the URL.

Python's matcher backtracks: with nested repeats such as `([a-z]+)+$`, a crafted URL of forty characters keeps it busy
for hours. So expressions with repeats that have no narrow bound are matched by RE2.

References
----------
Cox (2007). Regular Expression Matching Can Be Simple And Fast.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Final

from evercrawl.config.linear_time import LACKS, linear_search

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.config.settings import Config

__all__ = ["UrlPattern", "unbounded"]

_REPEATS: Final = re.compile(r"[*+{]")
_MOST_OPTIONAL: Final = 4  # question marks: each may double the ways to match
_ADVICE: Final = f"say it with include and exclude, {LACKS}"


class UrlPattern:
    r"""A regular expression in Python's syntax, to be searched for in normalised URLs.

    Parameters
    ----------
    pattern
        The expression.

    Attributes
    ----------
    pattern
        The expression.
    linear
        Whether a search takes time linear in the URL. It does not for features that RE2 lacks: look-around, back
        references, possessive repeats, and repeats of more than a thousand. These are matched by Python, however long
        that takes.

    Raises
    ------
    re.error
        The pattern is not a regular expression, or Python cannot compile it.

    Examples
    --------
    >>> news = UrlPattern(r"/news/\d+/.*\.html$")
    >>> news.search("https://a.example/news/12/x.html"), news.search("https://a.example/news/x.html"), news.linear
    (True, False, True)
    >>> UrlPattern("([a-z]+)+$").search("https://a.example/" + 8_000 * "a" + "!")
    False
    >>> UrlPattern("^https://(?!www[.]).*/$").linear
    False
    """

    __slots__ = ("_found", "linear", "pattern")

    def __init__(self, pattern: str) -> None:
        try:
            plain = re.compile(pattern)
        except (RecursionError, OverflowError) as error:
            raise re.error("it is nested too deeply, or repeats too often") from error
        self.pattern = pattern
        self._found: Callable[[str], object] = plain.search
        self.linear = not _REPEATS.search(pattern) and pattern.count("?") <= _MOST_OPTIONAL
        if not self.linear:
            with contextlib.suppress(re.error):
                self._found, self.linear = linear_search(pattern, urls=True), True

    def search(self, url: str) -> bool:
        """Return whether the expression is found in a URL."""
        return bool(self._found(url))


def unbounded(config: Config) -> str:
    """Return a sentence about the patterns of a crawl that may take unbounded time; "" if there are none.

    Examples
    --------
    >>> from evercrawl.config.settings import Config
    >>> unbounded(Config(exclude=("/private/", "(?:a+)+$")))
    ''
    >>> unbounded(Config(include=("/(?!x).*y",))).partition(":")[0]
    "'/(?!x).*y' takes time without bound with URLs that are made for it"
    """
    of_sites = [pattern for rules in config.sites for pattern in (*rules.include, *rules.exclude)]
    others = [*(entry.url for entry in config.focus if entry.url), *(target.pattern for target in config.targets)]
    slow = [text for text in (*config.include, *config.exclude, *of_sites, *others) if not UrlPattern(text).linear]
    what = ", ".join(map(repr, dict.fromkeys(slow)))
    return f"{what} takes time without bound with URLs that are made for it: {_ADVICE}" if slow else ""
