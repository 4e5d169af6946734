"""The scope: which URLs belong to a crawl.

The same rules are applied twice: to link targets before they become known, and to known pages before each request. A
page that was known before a rule was set is therefore bound by it at once.
"""

from collections.abc import Callable, Iterable
from typing import Final

from evercrawl.config import Config, SiteRules
from evercrawl.config.patterns import UrlPattern
from evercrawl.config.site_rules import UNSET, Sites
from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname

_ASKED: Final = 1 << 16  # hosts whose result is cached
_BARRED: Final = 1 << 14  # out-of-scope URLs remembered: pages link to the same ones repeatedly


class Scope:
    """The scope of a crawl.

    Parameters
    ----------
    config
        `scope`, `include`, `exclude`, `max_depth` and `max_pages_per_host`, and the sections of single sites.
    pages_of
        Maps a host name to the number of its known pages.

    Attributes
    ----------
    version
        Changes whenever results may change.
    """

    def __init__(self, config: Config, pages_of: Callable[[str], int]) -> None:
        self._roots: set[str] = set()  # hosts of seeds
        self._asked: dict[str, bool] = {}  # results of `holds`
        self._barred: set[str] = set()  # for which `bars` is true
        self._pages_of = pages_of
        self.version = 0
        self._take(config)

    def _take(self, config: Config) -> None:
        self._kind = config.scope
        self._include = [UrlPattern(pattern) for pattern in config.include]
        self._exclude = [UrlPattern(pattern) for pattern in config.exclude]
        self._max_depth = config.max_depth
        self._max_pages = config.max_pages_per_host
        sections = [
            rules for rules in config.sites if rules.max_depth != UNSET or rules.include or rules.exclude or rules.scope
        ]
        self._bounds = {rules.name: _Bounds(rules) for rules in sections}
        self._sites = Sites(config.sites if sections else ())
        self._domains = {site(root) for root in self._roots}
        self._scoped = any(rules.scope for rules in sections)
        self._forget()

    def _forget(self) -> None:
        self.version += 1
        self._asked.clear()
        self._barred.clear()

    def change(self, config: Config) -> None:
        """Apply other settings from now on; the hosts of the seeds stay."""
        self._take(config)

    def add_root(self, host: str) -> None:
        """Add the host of a seed (and, with scope "domains", its registrable domain)."""
        host = host.removesuffix(".")  # as links to it are read
        if host not in self._roots:
            self._roots.add(host)
            self._domains.add(site(host))
            self._forget()

    def rules(self) -> tuple[str, ...]:
        """Return the rules that may keep known pages out, each as a line of crawl.toml.

        Examples
        --------
        >>> Scope(Config(exclude=("/private/", "[?]")), lambda _: 0).rules()
        ("scope = 'hosts'", "exclude = '/private/'", "exclude = '[?]'")
        """
        kind = [] if self._kind == "any" else [f"scope = {self._kind!r}"]
        depth = [f"max_depth = {self._max_depth}"] if self._max_depth else []
        include = [self._include_rule()] if self._include else []
        of_sites = [rule for bounds in self._bounds.values() for rule in bounds.rules()]
        return (*kind, *depth, *include, *(_exclude_rule(pattern) for pattern in self._exclude), *of_sites)

    def keeps_out(self, url: str, depth: int, *, seed: bool) -> str:
        """Return the rule by which a known page must not be requested, as in `rules`; "" if there is none.

        Parameters
        ----------
        url, depth
            The page's URL and depth.
        seed
            Whether it is a seed, which need not match `include`: that setting is for link targets.
        """
        own = self._of(url)
        if own is not None and own.max_depth != UNSET:
            if own.max_depth and depth > own.max_depth:
                return own.depth_rule()
        elif self._max_depth and depth > self._max_depth:
            return f"max_depth = {self._max_depth}"
        if (self._kind != "any" or self._scoped) and not self.holds(hostname(url)):
            return own.scope_rule() if own is not None and own.scope else f"scope = {self._kind!r}"
        include = own.include if own is not None and own.include else self._include
        if include and not seed and not _matches(include, url):
            return own.include_rule() if own is not None and own.include else self._include_rule()
        return self.excludes(url)

    def excludes(self, url: str) -> str:
        """Return the rule by which nothing at a URL may be requested, page or not; "" if there is none."""
        for pattern in self._exclude:
            if pattern.search(url):
                return _exclude_rule(pattern)
        own = self._of(url)
        return own.excludes(url) if own is not None else ""

    def _of(self, url: str) -> "_Bounds | None":
        """Return the bounds of a URL's own site."""
        rules = self._sites.of(hostname(url)) if self._bounds else None
        return self._bounds.get(rules.name) if rules is not None else None

    @property
    def open(self) -> bool:
        """Whether no rule keeps any known page out."""
        return not self.rules()

    @property
    def by_depth(self) -> bool:
        """Whether judging a page takes its depth."""
        return bool(self._max_depth or self._bounds)

    @property
    def by_page(self) -> bool:
        """Whether judging a page takes more than its URL: how it was found."""
        return bool(self._max_depth or self._include or self._bounds)

    @property
    def by_text(self) -> bool:
        """Whether the text of a URL decides, beyond its host."""
        return bool(self._include or self._exclude or self._bounds)

    @property
    def most_depth(self) -> int:
        """Maximum depth of pages, whatever their site; 0 = unlimited, or set per site."""
        return self._max_depth if not self._bounds else 0

    def _include_rule(self) -> str:
        return f"include = {[pattern.pattern for pattern in self._include]}"

    def holds(self, host: str) -> bool:
        """Return whether a host is in scope, whatever its pages are."""
        if self._kind == "any" and not self._scoped:
            return True
        answer = self._asked.get(host)
        if answer is None:
            if len(self._asked) == _ASKED:
                self._asked.clear()
            answer = self._asked[host] = self._inside(host)
        return answer

    def _inside(self, host: str) -> bool:
        rules = self._sites.of(host) if self._scoped else None
        kind = rules.scope if rules is not None and rules.scope else self._kind
        name = host.removesuffix(".")  # as a directory may know it that was made before
        return kind == "any" or (site(name) in self._domains if kind == "domains" else name in self._roots)

    def bars(self, url: str) -> bool:
        """Return whether a URL is out of scope by its host or text alone, at any depth."""
        if url in self._barred:
            return True
        if self.holds(hostname(url)) and not self._text_excludes(url):
            return False
        if len(self._barred) == _BARRED:
            self._barred.clear()
        self._barred.add(url)
        return True

    def allows(self, url: str, depth: int, more: int = 0) -> bool:
        """Return whether a URL at depth `depth` is in scope if `more` pages of its host are about to become known."""
        return not self.excluded_by(url, depth, more)

    def excluded_by(self, url: str, depth: int, more: int = 0) -> str:
        """Return the name of the setting that keeps a URL out; "" if it is in scope."""
        own, host = self._of(url), hostname(url)
        most_depth = own.max_depth if own is not None and own.max_depth != UNSET else self._max_depth
        if most_depth and depth > most_depth:
            return "max_depth"
        if not self.holds(host):
            return "scope"
        if by_text := self._text_excludes(url):
            return by_text
        return "max_pages_per_host" if self._max_pages and self._pages_of(host) + more >= self._max_pages else ""

    def _text_excludes(self, url: str) -> str:
        own = self._of(url)
        include = own.include if own is not None and own.include else self._include
        if include and not _matches(include, url):
            return "include"
        if own is not None and own.excludes(url):
            return "exclude"
        return "exclude" if _matches(self._exclude, url) else ""


def lifted_rules(noted: Iterable[str], config: Config) -> list[str]:
    """Return those of the noted rules that the settings do not contain.

    >>> lifted_rules(["scope = 'hosts'", "exclude = '/private/'"], Config())
    ["exclude = '/private/'"]
    """
    now = Scope(config, lambda _: 0).rules()
    return [rule for rule in noted if rule not in now]


class _Bounds:
    """The bounds that a section sets for the pages of its site."""

    def __init__(self, rules: SiteRules) -> None:
        self._name = f'[site."{rules.name}"]'
        self.max_depth, self.scope = rules.max_depth, rules.scope
        self.include = [UrlPattern(pattern) for pattern in rules.include]
        self._exclude = [UrlPattern(pattern) for pattern in rules.exclude]

    def rules(self) -> list[str]:
        depth = [self.depth_rule()] if self.max_depth > 0 else []
        include = [self.include_rule()] if self.include else []
        scope = [self.scope_rule()] if self.scope in ("hosts", "domains") else []
        return [*scope, *depth, *include, *(f"{self._name} {_exclude_rule(pattern)}" for pattern in self._exclude)]

    def depth_rule(self) -> str:
        return f"{self._name} max_depth = {self.max_depth}"

    def scope_rule(self) -> str:
        return f"{self._name} scope = {self.scope!r}"

    def include_rule(self) -> str:
        return f"{self._name} include = {[pattern.pattern for pattern in self.include]}"

    def excludes(self, url: str) -> str:
        found = (pattern for pattern in self._exclude if pattern.search(url))
        return next((f"{self._name} {_exclude_rule(pattern)}" for pattern in found), "")


def _exclude_rule(pattern: UrlPattern) -> str:
    return f"exclude = {pattern.pattern!r}"


def _matches(patterns: list[UrlPattern], url: str) -> bool:
    """Return whether a pattern matches within a URL; a loop, because a generator costs as much as a search."""
    for pattern in patterns:  # noqa: SIM110
        if pattern.search(url):
            return True
    return False
