"""Which URLs belong to a crawl.

The same rules hold twice: for URLs that links lead to, before these become known, and for known pages, before each is
requested. A page that was known before a rule is thus bound by it from the moment it is set.
"""

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

    Attributes
    ----------
    version
        Changes whenever the answers may.
    """

    def __init__(self, config: Config, pages_of: Callable[[str], int]) -> None:
        self._roots: set[str] = set()  # hosts of seeds
        self._asked: dict[str, bool] = {}  # what `holds` said
        self._barred: set[str] = set()  # of which `bars` said so
        self._pages_of = pages_of
        self.version = 0
        self._take(config)

    def _take(self, config: Config) -> None:
        self._kind = config.scope
        self._include = [re.compile(pattern) for pattern in config.include]
        self._exclude = [re.compile(pattern) for pattern in config.exclude]
        self._max_depth = config.max_depth
        self._max_pages = config.max_pages_per_host
        self._inside = self._roots if self._kind != "domains" else {site(root) for root in self._roots}
        self._forget()

    def _forget(self) -> None:
        self.version += 1
        self._asked.clear()
        self._barred.clear()

    def change(self, config: Config) -> None:
        """Go by other settings from now on; the hosts of the seeds stay."""
        self._take(config)

    def add_root(self, host: str) -> None:
        """Let the host of a seed (and, with scope "domains", its registrable domain) belong."""
        if host not in self._roots:
            self._roots.add(host)
            if self._kind == "domains":
                self._inside.add(site(host))
            self._forget()

    def rules(self) -> tuple[str, ...]:
        """Return what may keep known pages out, each as a line of crawl.toml.

        Examples
        --------
        >>> Scope(Config(exclude=("/private/", "[?]")), lambda _: 0).rules()
        ("scope = 'hosts'", "exclude = '/private/'", "exclude = '[?]'")
        """
        kind = [] if self._kind == "any" else [f"scope = {self._kind!r}"]
        depth = [f"max_depth = {self._max_depth}"] if self._max_depth else []
        include = [self._include_rule()] if self._include else []
        return (*kind, *depth, *include, *(_exclude_rule(pattern) for pattern in self._exclude))

    def keeps_out(self, url: str, depth: int, *, seed: bool) -> str:
        """Return the rule by which a known page is not to be requested, as `rules` names it; "" where it may be.

        Parameters
        ----------
        url, depth
            Of the page.
        seed
            Whether a person named it: then it need not match `include`, which is for what links lead to.
        """
        if self._max_depth and depth > self._max_depth:
            return f"max_depth = {self._max_depth}"
        if self._kind != "any" and not self.holds(hostname(url)):
            return f"scope = {self._kind!r}"
        if self._include and not seed and not any(pattern.search(url) for pattern in self._include):
            return self._include_rule()
        return self.excludes(url)

    def excludes(self, url: str) -> str:
        """Return the rule by which nothing at a URL is requested, be it a page or not; "" where there is none."""
        return next((_exclude_rule(pattern) for pattern in self._exclude if pattern.search(url)), "")

    @property
    def open(self) -> bool:
        """Whether no rule keeps any known page out."""
        return not self.rules()

    @property
    def by_page(self) -> bool:
        """Whether it takes more than its URL to judge a page: how it was found."""
        return bool(self._max_depth or self._include)

    @property
    def by_text(self) -> bool:
        """Whether the text of a URL decides, beyond its host."""
        return bool(self._include or self._exclude)

    @property
    def most_depth(self) -> int:
        """Links from a seed to a page at most; 0 = any number."""
        return self._max_depth

    def _include_rule(self) -> str:
        return f"include = {[pattern.pattern for pattern in self._include]}"

    def holds(self, host: str) -> bool:
        """Whether a host belongs, whatever its pages are."""
        if self._kind == "any":
            return True
        answer = self._asked.get(host)
        if answer is None:
            if len(self._asked) == _ASKED:
                self._asked.clear()
            answer = self._asked[host] = (site(host) if self._kind == "domains" else host) in self._inside
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


def _exclude_rule(pattern: re.Pattern[str]) -> str:
    return f"exclude = {pattern.pattern!r}"
