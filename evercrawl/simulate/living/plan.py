"""The random plan of a living web: hosts, pages, links and rates of change."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Final

import numpy as np

from evercrawl.types import Floats

ZIPF: Final = 1.4  # exponent of the sizes of the hosts
SMALLEST: Final = 8  # minimum pages of a host, if there are enough for all
LEAST: Final = 6  # for a front page, a section and the special pages
MEDIAN_PER_CYCLE: Final = 0.6
"""Changes of the median page while a round-robin visits each page once."""
SPREAD: Final = 1.75
"""Standard deviation of the logarithm of the rates: two pages in three lie within a factor of 33, and the mean rate is
five times the median."""
HOST_SHARE: Final = 0.6
"""Part of that variance that lies between hosts rather than within them."""
POPULARITY: Final = 1.0  # exponent of the Pareto distribution of links from outside
BOTH: Final = 0.5
"""Correlation of popularity, by rank, with the part of the rate that is a page's own."""
FRONT: Final = (1.0, 0.5)  # how much faster front pages and sections change than articles, in standard deviations
TOPICS: Final = (
    "news", "guides", "people", "places", "music", "science", "garden", "kitchen", "history", "travel", "letters",
    "maps", "sport", "film", "books", "weather", "market", "law", "health", "school", "sea", "forest", "city", "night",
)  # fmt: skip


class UrlKind(enum.Enum):
    """The kind of resource at a URL of the plan."""

    PAGE = "page"  # content of its own
    COPY = "copy"  # an exact copy of another page
    MOVED = "moved"  # 301 to another page
    HOP = "hop"  # 302 to another page
    GONE = "gone"  # 404, always
    PRIVATE = "private"  # disallowed by robots.txt


class Validators(enum.Enum):
    """The validators that a host sends."""

    TAG = "tag"  # an ETag
    TAG_AND_DATE = "tag and date"  # an ETag, and a correct Last-Modified
    WRONG_DATE = "wrong date"  # Last-Modified is always the present time
    NONE = "none"


@dataclass(slots=True)
class PlannedUrl:
    """One URL of the plan.

    Attributes
    ----------
    host, path
        Its location.
    kind
        The kind of resource.
    target
        Number of a redirect's target, or of a copy's original; -1 otherwise.
    links
        Numbers of the pages it links to, in order, without repetitions.
    calendar
        Whether it also links to the host's endless calendar.
    rate
        Mean changes per cycle.
    vanishes
        When it becomes 410, in cycles; infinity for never.
    """

    host: int
    path: str
    kind: UrlKind = UrlKind.PAGE
    target: int = -1
    links: list[int] = field(default_factory=list[int])
    calendar: bool = False
    rate: float = 0.0
    vanishes: float = float("inf")


class LivingPlan:
    """All URLs of a living web, except those of its endless calendars.

    Parameters
    ----------
    seed
        Draws everything.
    hosts, pages
        Number of hosts, and of pages with content of their own, at least six per host.

    Attributes
    ----------
    pages
        The `PlannedUrl`; those of kind PAGE first.
    count
        Number of these.
    home
        Number of each host's front page.
    validators
        Of each host.
    branches
        Host -> new pages linked from each page of its calendar.
    slow
        The host with a Crawl-delay.
    """

    def __init__(self, seed: int, hosts: int = 20, pages: int = 2000) -> None:
        assert pages >= LEAST * hosts, "too few pages for so many hosts"
        self._draw = np.random.default_rng([seed, 0])
        self.pages: list[PlannedUrl] = []
        self.count = pages
        self.home: list[int] = []
        self._sections: list[list[int]] = []
        self._articles: list[list[int]] = []
        for host, size in enumerate(sizes(hosts, pages)):
            self._add_host(host, size)
        popular = self._draw.pareto(POPULARITY, self.count) + 0.05
        popular[self.home] *= 4.0
        self._link(popular)
        self._change(hosts, popular)
        self._add_curiosities(hosts)
        self.validators = self._draw_validators(hosts)
        self.branches = {0: 2, hosts // 3: 10, hosts // 2: 3} if hosts > 3 else {0: 10}
        for number in [n for host in self.branches for n in (self.home[host], *self._sections[host])]:
            self.pages[number].calendar = True
        self.slow = hosts - 1

    def _add_host(self, host: int, size: int) -> None:
        """Add a front page, sections, and articles in equal parts under each."""
        start, count = len(self.pages), max(1, min(round(size**0.5 / 1.5), len(TOPICS)))
        names = [str(name) for name in self._draw.permutation(TOPICS)[:count]]
        self.home.append(start)
        self.pages.append(PlannedUrl(host, "/"))
        self.pages += [PlannedUrl(host, f"/{name}/") for name in names]
        self.pages += [PlannedUrl(host, f"/{names[i % count]}/{i + 1}") for i in range(size - 1 - count)]
        self._sections.append(list(range(start + 1, start + 1 + count)))
        self._articles.append(list(range(start + 1 + count, start + size)))

    def _link(self, popular: Floats) -> None:
        """Draw navigation links within hosts, and links between them that prefer popular pages."""
        outside = np.minimum(self._draw.zipf(1.5, self.count) + 2, 23)
        far = iter(self._draw.choice(self.count, int(outside.sum()), p=popular / popular.sum()).tolist())
        for host, home in enumerate(self.home):
            sections, articles = self._sections[host], self._articles[host]
            best = sorted(articles, key=lambda n: -popular[n])[:5]
            self.pages[home].links = [*sections, *best]
            for place, section in enumerate(sections):
                under = articles[place :: len(sections)]
                self.pages[section].links = [home, *sections, *under]
                for i, article in enumerate(under):
                    near = [under[i - 1], under[(i + 1) % len(under)], *self._draw.choice(articles, 2).tolist()]
                    self.pages[article].links = [home, section, *near]
        for number, page in enumerate(self.pages):
            linked = page.links + [next(far) for _ in range(int(outside[number]))]
            page.links = [n for n in dict.fromkeys(linked) if n != number]

    def _change(self, hosts: int, popular: Floats) -> None:
        """Draw the rates of change; each host's part of the distribution is covered evenly, in random order."""
        of_host = self._draw.permutation(_normal(hosts))[[page.host for page in self.pages]]
        own = (1 - BOTH**2) ** 0.5 * self._draw.standard_normal(self.count)
        own += BOTH * _normal(self.count)[popular.argsort().argsort()]
        own[self.home] += FRONT[0]
        own[[section for sections in self._sections for section in sections]] += FRONT[1]
        deviation = HOST_SHARE**0.5 * of_host + (1 - HOST_SHARE) ** 0.5 * own
        rates: Floats = MEDIAN_PER_CYCLE * np.exp(SPREAD * np.clip(deviation, -2.5, 2.5))
        for page, rate in zip(self.pages, rates.tolist(), strict=True):
            page.rate = rate

    def _add_curiosities(self, hosts: int) -> None:
        """Add the special pages: a few on each host, linked from its front page or from articles."""
        for host in range(hosts):
            home, articles = self.pages[self.home[host]], self._articles[host]
            some: list[int] = self._draw.permutation(articles).tolist()
            home.links.append(self._add(PlannedUrl(host, "/go/latest", UrlKind.HOP, some[0])))
            home.links.append(self._add(PlannedUrl(host, "/private/drafts", UrlKind.PRIVATE)))
            moved = self._add(PlannedUrl(host, "/old/about", UrlKind.MOVED, some[1]))
            gone = self._add(PlannedUrl(host, "/lost/page", UrlKind.GONE))
            for number in some[2:6]:
                self.pages[number].links += [moved, gone]
            if host % 4 == 0:
                original = self.pages[some[2]]
                original.rate = 0.0  # a copy that lags behind would not be a copy
                original.links.append(self._add(PlannedUrl(host, "/print/1", UrlKind.COPY, some[2])))
            for number in some[6 : 6 + len(some) // 100]:
                self.pages[number].vanishes = float(self._draw.uniform(2.0, 4.0))

    def _add(self, page: PlannedUrl) -> int:
        self.pages.append(page)
        return len(self.pages) - 1

    def _draw_validators(self, hosts: int) -> list[Validators]:
        kinds = [Validators.TAG] * hosts
        odd: Sequence[int] = self._draw.permutation(hosts).tolist()
        for host in odd[: hosts // 3]:
            kinds[host] = Validators.TAG_AND_DATE
        for host, kind in zip(odd[::-1], (Validators.NONE, Validators.WRONG_DATE), strict=False):
            kinds[host] = kind
        return kinds


def _normal(count: int) -> Floats:
    """Return the midpoints of `count` equal parts of the normal distribution, in order."""
    return np.array([NormalDist().inv_cdf((i + 0.5) / count) for i in range(count)])


def sizes(hosts: int, pages: int) -> list[int]:
    """Return the number of pages of each host, by Zipf's law, the largest first.

    Examples
    --------
    >>> sizes(4, 100)
    [59, 21, 12, 8]
    >>> sum(sizes(20, 2000)), min(sizes(20, 2000))
    (2000, 12)
    >>> sizes(4, 26)
    [8, 6, 6, 6]
    """
    least = max(LEAST, min(SMALLEST, pages // (2 * hosts)))
    parts = np.arange(1, hosts + 1) ** -ZIPF
    counts: list[int] = np.maximum(least, np.floor(pages * parts / parts.sum())).astype(int).tolist()
    counts[0] += max(0, pages - sum(counts))
    for host in range(hosts):  # large hosts give up the pages by which small ones are raised to the minimum
        counts[host] -= min(max(0, sum(counts) - pages), counts[host] - least)
    return counts
