"""A made-up web of topics: pages that link to their own kind more often than to others, and links that say which."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.simulate.living.text import Sentences
from evercrawl.simulate.worlds.made_web import Answer

if TYPE_CHECKING:
    from evercrawl.types import Ints

TOPICS: Final = (
    "storms", "garden", "kitchen", "people", "places", "music", "science", "history", "travel", "letters",
    "maps", "sport", "film", "books", "market", "law", "health", "school", "sea", "forest",
)  # fmt: skip
"""What pages are about, one each, in equal parts."""
LINKS: Final = 10
"""Of each page, to others."""
ENTRANCES: Final = 10
"""Of each host: pages that its front page links to."""
POPULARITY: Final = 1.5  # exponent of the Pareto law that says how often a page is linked to
_HTML: Final = {"Content-Type": "text/html; charset=utf-8"}


class TopicWeb:
    """Hosts with pages at `/topic/number`, each about its topic.

    Parameters
    ----------
    seed
        Draws everything.
    hosts, pages
        How many; front pages come on top.
    loyal
        Share of a page's links that lead to pages of its topic, on whatever host.
    told
        Share of links whose words name the topic of the page they lead to.
    opaque
        Whether URLs keep silent about topics: then they are `/item/number`.
    began_at
        When a crawl of it begins, in seconds since the epoch.

    Examples
    --------
    >>> web = TopicWeb(seed=1, hosts=2, pages=40)
    >>> web.urls[3], web.topic(web.urls[3])
    ('http://site-02.example/forest/3', 'forest')
    >>> web.answer("http://site-02.example", "/forest/3", {}, 0.0).status
    200
    """

    def __init__(
        self,
        seed: int,
        *,
        hosts: int = 20,
        pages: int = 10_000,
        loyal: float = 0.6,
        told: float = 0.8,
        opaque: bool = False,
        began_at: float = 1_700_000_000.0,
    ) -> None:
        draw = np.random.default_rng(seed)
        self.seed, self.began_at, self.told = seed, began_at, told
        self.origins = tuple(f"http://site-{i + 1:02}.example" for i in range(hosts))
        self.topics: Ints = draw.integers(0, len(TOPICS), pages)
        topics: list[int] = self.topics.tolist()
        folders = ["item" if opaque else TOPICS[topic] for topic in topics]
        self.urls = [f"{self.origins[n % hosts]}/{folder}/{n}" for n, folder in enumerate(folders)]
        self._number = {url: n for n, url in enumerate(self.urls)}
        self._entrances = [draw.permutation(np.arange(host, pages, hosts))[:ENTRANCES] for host in range(hosts)]
        self._targets = self._drawn(draw, loyal)
        self._named = draw.random((pages, LINKS)) < told
        self._sentences = Sentences(seed)

    def _drawn(self, draw: np.random.Generator, loyal: float) -> Ints:
        """Return the pages that each links to, shape (pages, LINKS): popular ones more often."""
        count = len(self.topics)
        popular = draw.pareto(POPULARITY, count) + 0.1
        kin = draw.random((count, LINKS)) < loyal
        targets: Ints = draw.choice(count, (count, LINKS), p=popular / popular.sum())
        for topic in range(len(TOPICS)):
            own = np.flatnonzero(self.topics == topic)
            if len(own):
                here = kin & (self.topics == topic)[:, None]
                targets[here] = draw.choice(own, int(here.sum()), p=popular[own] / popular[own].sum())
        return targets

    @cached_property
    def seeds(self) -> list[str]:
        """The front page of every host."""
        return [f"{origin}/" for origin in self.origins]

    def topic(self, url: str) -> str:
        """Return what a page is about, "" for a front page."""
        number = self._number.get(url)
        return TOPICS[int(self.topics[number])] if number is not None else ""

    def links(self, url: str) -> list[str]:
        """Return the other pages that a page links to, each once, in order."""
        number = self._number.get(url)
        row = self._entrances[self.seeds.index(url)] if number is None else self._targets[number]
        targets: list[int] = row.tolist()
        return [link for link in dict.fromkeys(self.urls[n] for n in targets) if link != url]

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        """Return what `origin` answers to a GET of `path`; it is the same at all times."""
        url = origin + path
        if path == "/robots.txt":
            return Answer(404, _HTML)
        if url not in self._number and path != "/":
            return Answer(404, _HTML, b"<title>Not here</title>")
        tag = {"ETag": f'"{path}"'}
        if tag["ETag"] in headers.get("if-none-match", ""):
            return Answer(304, tag)
        return Answer(200, tag | _HTML, self._page(url))

    def _page(self, url: str) -> bytes:
        number, text = self._number.get(url), self._sentences.text(url, 8)
        title = f"Number {number}, on {self.topic(url)}" if number is not None else f"Welcome to {url}"
        links = " and ".join(f'<a href="{link}">{self._words(number, link)}</a>' for link in self.links(url))
        return f"<!doctype html><title>{title}</title><h1>{title}</h1><p>{text}</p><p>{links}</p>".encode()

    def _words(self, number: int | None, link: str) -> str:
        """Return the words of a link: the topic it leads to, or nothing much."""
        target = self._number[link]
        named = number is None or self._named[number][target % LINKS]
        return f"more of {self.topic(link)}" if named else f"number {target}"
