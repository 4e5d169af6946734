"""Sites like those of documentation, drawn from a seed: trees of pages that are all there and never change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from evercrawl.simulate.living.text import Sentences, page
from evercrawl.simulate.living.web import CALENDAR
from evercrawl.simulate.surroundings.network import Delivery
from evercrawl.simulate.worlds.made_web import Answer

_HTML: Final = {"Content-Type": "text/html; charset=utf-8"}
_NEAR: Final = 3  # other pages of its own level, or above, that each page links to


class DocumentationWeb:
    """Sites whose pages hang in a tree below the front page, each in the folder of its chapter.

    A page links to the front page, to the page above, to its neighbours, to those below it, and to a few others that
    are no deeper. Nothing ever changes, and every page has a text and an ETag of its own.

    Parameters
    ----------
    seed
        Draws everything.
    hosts, pages, depth
        How many sites; the pages of each; and how many links the deepest are from the front page.
    even
        Whether all pages that have any below them have about as many; otherwise chance says how many, and a part of
        every level has none.
    calendars
        On how many of the sites, the first ones, the front page links to an endless calendar too.
    branches
        New days that each day of a calendar links to.
    latency_s, slow
        How long an answer takes; and of some pages, by number.
    began_at
        When a crawl of it begins, in seconds since the epoch.

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
        """Return what `origin` answers to a GET of `path`; `headers` have lower-case names."""
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
        """Return the paths that a page links to; None where there is no page."""
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
        """Return the page above each; the front page has itself."""
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
        """Return where a page is: in the folder of the chapter above it."""
        if number == 0:
            return "/"
        chapter = number
        while self.levels[chapter] > 1:
            chapter = self._above[chapter]
        return f"/chapter-{chapter}/page-{number}.html" if chapter != number else f"/chapter-{chapter}/"

    def _drawn_links(self) -> list[list[int]]:
        """Return a few pages no deeper than each, and the one before it."""
        levels = np.array(self.levels)
        upto = np.searchsorted(levels, levels, side="right")  # numbers of a level follow each other
        picks = (self._draw.random((len(levels), _NEAR)) * upto[:, None]).astype(int).tolist()
        return [[*row, max(number - 1, 0)] for number, row in enumerate(picks)]


def _levels(pages: int, depth: int) -> list[int]:
    """Return how deep each page is, in order: every level is as many times larger than the one before."""
    low, high = 1.0, float(pages)
    for _ in range(100):
        times = (low * high) ** 0.5
        low, high = (times, high) if sum(times**level for level in range(depth + 1)) < pages else (low, times)
    sizes = [max(round(low**level), 1) for level in range(depth)]
    sizes.append(pages - sum(sizes))
    return [level for level, size in enumerate(sizes) for _ in range(size)]
