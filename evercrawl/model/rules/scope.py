"""Which URLs belong to a crawl."""

import re
from collections.abc import Callable
from typing import Final

from evercrawl.config import Config
from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname

_ASKED: Final = 1 << 16  # hosts whose answer is kept
_BARRED: Final = 1 << 14  # URLs remembered as out: pages link to the same ones again and again


class Scope:
    """The bounds of a crawl.

    Parameters
    ----------
    config
        `scope`, `include`, `exclude`, `max_depth` and `max_pages_per_host`.
    pages_of
        Host name -> pages known of it.
    """

    def __init__(self, config: Config, pages_of: Callable[[str], int]) -> None:
        self._kind = config.scope
        self._roots: set[str] = set()
        self._asked: dict[str, bool] = {}  # what `holds` said
        self._barred: set[str] = set()  # of which `bars` said so
        self._include = [re.compile(pattern) for pattern in config.include]
        self._exclude = [re.compile(pattern) for pattern in config.exclude]
        self._max_depth = config.max_depth
        self._max_pages = config.max_pages_per_host
        self._pages_of = pages_of

    def add_root(self, host: str) -> None:
        """Let the host of a seed (and, with scope "domains", its registrable domain) belong."""
        self._roots.add(site(host) if self._kind == "domains" else host)
        self._asked.clear()
        self._barred.clear()

    def holds(self, host: str) -> bool:
        """Whether a host belongs, whatever its pages are."""
        if self._kind == "any":
            return True
        answer = self._asked.get(host)
        if answer is None:
            if len(self._asked) == _ASKED:
                self._asked.clear()
            answer = self._asked[host] = (site(host) if self._kind == "domains" else host) in self._roots
        return answer

    def bars(self, url: str) -> bool:
        """Whether a URL is out by its host or its text alone, at whatever depth it is found."""
        if url in self._barred:
            return True
        if self.holds(hostname(url)) and not self._text_excludes(url):
            return False
        if len(self._barred) == _BARRED:
            self._barred.clear()
        self._barred.add(url)
        return True

    def allows(self, url: str, depth: int, more: int = 0) -> bool:
        """Whether a URL found `depth` links away from a seed belongs, if `more` pages of its host are about to."""
        return not self.excluded_by(url, depth, more)

    def excluded_by(self, url: str, depth: int, more: int = 0) -> str:
        """Return the name of the setting that keeps such a URL out; "" where it belongs."""
        if self._max_depth and depth > self._max_depth:
            return "max_depth"
        host = hostname(url)
        if not self.holds(host):
            return "scope"
        if by_text := self._text_excludes(url):
            return by_text
        return "max_pages_per_host" if self._max_pages and self._pages_of(host) + more >= self._max_pages else ""

    def _text_excludes(self, url: str) -> str:
        if self._include and not any(pattern.search(url) for pattern in self._include):
            return "include"
        return "exclude" if any(pattern.search(url) for pattern in self._exclude) else ""
