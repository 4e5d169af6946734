"""Random sites like documentation: trees of pages that all exist and never change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from evercrawl.simulate.living.text import Sentences, page
from evercrawl.simulate.living.web import CALENDAR
from evercrawl.simulate.surroundings.network import Delivery
from evercrawl.simulate.worlds.made_web import Answer

_HTML: Final = {"Content-Type": "text/html; charset=utf-8"}
_NEAR: Final = 3  # number of other pages, of its own level or above, that each page links to


class DocumentationWeb:
    """Sites whose pages form a tree below the front page, each in the folder of its chapter.

    A page links to the front page, its parent, its neighbours, its children, and a few others that are no deeper.
    Nothing ever changes, and every page has its own text and ETag.

    Parameters
    ----------
    seed
        Draws everything.
    hosts, pages, depth
        Number of sites; pages of each; and links from the front page to the deepest pages.
    even
        Whether all inner pages have about as many children; otherwise the number is random, and some pages of every
        level have none.
    calendars
        Number of sites, the first ones, whose front page also links to an endless calendar.
    branches
        New days linked from each calendar day.
    latency_s, slow
        Response time; and that of some pages, by number.
    began_at
        Start of a crawl of it, in seconds since the epoch.

    Examples
    --------
    >>> web = DocumentationWeb(seed=1, hosts=1, pages=40, depth=3)
    >>> len(web.paths), max(web.levels), web.answer(web.origins[0], "/", {}, at=0.0).status
    (40, 3, 200)
    """

    def __init__(
        self,
        seed: int,
        *,
        hosts: int = 6,
        pages: int = 200,
        depth: int = 5,
        even: bool = False,
        calendars: int = 0,
        branches: int = 1,
        latency_s: float = 0.02,
        slow: Mapping[int, float] | None = None,
        began_at: float = 0.0,
    ) -> None:
        self.seed, self.began_at = seed, began_at
        self._latency_s, self._slow = latency_s, dict(slow or {})
        self.origins = tuple(f"http://docs-{i + 1:02}.example" for i in range(hosts))
        self._with_calendar, self._branches = frozenset(self.origins[:calendars]), branches
        self._draw = np.random.default_rng([seed, 2])
        self.levels = _levels(pages, depth)
        self._above = self._parents(even=even)
        self._below: list[list[int]] = [[] for _ in self.levels]
        for number, above in enumerate(self._above[1:], 1):
            self._below[above].append(number)
        self.paths = [self._path(number) for number in range(pages)]
        self._numbers = {path: number for number, path in enumerate(self.paths)}
        self._others = self._drawn_links()
        self._sentences = Sentences(seed)

    @property
    def seeds(self) -> list[str]:
        """Return the front page of every site."""
        return [f"{origin}/" for origin in self.origins]

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        """Return the response of `origin` to a GET of `path`; `headers` have lower-case names."""
        if path == "/robots.txt":
            return Answer(404)
        lasts_s = self._slow.get(self._numbers.get(path, -1), self._latency_s)
        links = self.links(origin, path)
        if links is None:
            return Answer(404, _HTML, b"<title>Not here</title>")
        tag = f'"{path}"'
        if tag in headers.get("if-none-match", ""):
            return Delivery(304, {"ETag": tag}, after_s=lasts_s)
        text = self._sentences.text(origin + path, 40)
        return Delivery(200, _HTML | {"ETag": tag}, page(path, [text], links), after_s=lasts_s)

    def links(self, origin: str, path: str) -> list[str] | None:
        """Return the paths that a page links to; None if there is no such page."""
        if path.startswith(CALENDAR) and origin in self._with_calendar:
            first = int(path.removeprefix(CALENDAR)) * self._branches + 1
            return ["/", *(f"{CALENDAR}{day}" for day in range(first, first + self._branches))]
        number = self._numbers.get(path)
        if number is None:
            return None
        near = [self._above[number], *self._below[number], *self._others[number]]
        calendar = [f"{CALENDAR}0"] if number == 0 and origin in self._with_calendar else []
        return [*calendar, *dict.fromkeys(self.paths[other] for other in (0, *near) if other != number)]

    def _parents(self, *, even: bool) -> list[int]:
        """Return the parent of each page; the front page is its own."""
        levels = np.array(self.levels)
        above = [0]
        for level in range(1, self.levels[-1] + 1):
            of, before = np.flatnonzero(levels == level), np.flatnonzero(levels == level - 1)
            picked = (
                np.arange(len(of)) % len(before) if even else np.sort(self._draw.integers(len(before), size=len(of)))
            )
            above += before[np.sort(picked)].tolist()
        return above

    def _path(self, number: int) -> str:
        """Return a page's path: in the folder of the chapter above it."""
        if number == 0:
            return "/"
        chapter = number
        while self.levels[chapter] > 1:
            chapter = self._above[chapter]
        return f"/chapter-{chapter}/page-{number}.html" if chapter != number else f"/chapter-{chapter}/"

    def _drawn_links(self) -> list[list[int]]:
        """Return a few pages no deeper than each, and the page before it."""
        levels = np.array(self.levels)
        upto = np.searchsorted(levels, levels, side="right")  # pages of a level have consecutive numbers
        picks = (self._draw.random((len(levels), _NEAR)) * upto[:, None]).astype(int).tolist()
        return [[*row, max(number - 1, 0)] for number, row in enumerate(picks)]


def _levels(pages: int, depth: int) -> list[int]:
    """Return the depth of each page, in order: levels grow by a constant factor."""
    low, high = 1.0, float(pages)
    for _ in range(100):
        times = (low * high) ** 0.5
        low, high = (times, high) if sum(times**level for level in range(depth + 1)) < pages else (low, times)
    sizes = [max(round(low**level), 1) for level in range(depth)]
    sizes.append(pages - sum(sizes))
    return [level for level, size in enumerate(sizes) for _ in range(size)]
