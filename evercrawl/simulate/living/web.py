"""A small living web, drawn from a seed: the response of each URL at each instant, with known ground truth."""

from collections.abc import Sequence
from email.utils import formatdate
from functools import lru_cache
from typing import Final

import numpy as np

from evercrawl.simulate.living.plan import LivingPlan, UrlKind, Validators
from evercrawl.simulate.living.text import Sentences, page
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.types import Floats

CALENDAR: Final = "/calendar/"
LOGIN: Final = "/login"
_BLOCK: Final = 64  # times of changes drawn at once
_HTML: Final = {"Content-Type": "text/html; charset=utf-8"}


class LivingWeb:
    """Hosts of very different sizes, whose pages link to each other and each change at their own rate.

    Each host has a front page, sections, and articles below them; links to other hosts prefer popular pages. The
    changes of a page are a Poisson process, a function of seed and page; rates within a host are similar. In
    addition:

    * `/private/` is disallowed by robots.txt, `/lost/page` is 404, `/old/about` redirects permanently, `/go/latest`
    temporarily; `/print/1` on some hosts is an exact copy of another page; every page links to `/login` with
    rel=nofollow
    * some articles vanish in the third or fourth cycle: 410 from then on
    * `/calendar/0` on three hosts is endless: each page links to new ones, on one host to ten
    * the last host has a Crawl-delay; most hosts send an ETag, some also a Last-Modified, one always the present time
    as Last-Modified, one no validator at all

    Parameters
    ----------
    seed
        Draws everything.
    hosts, pages
        Number of hosts, and of pages with content of their own.
    cycle_s
        The unit of time of the rates: the median page changes three times in five cycles. Meant to be how long a
        round-robin takes to visit every page once.
    began_at
        Instant (s since the epoch) from which on pages change.
    origins
        Origins of the hosts; by default `http://site-01.example` and so on.
    still
        Whether nothing ever changes or vanishes.
    endless
        Whether the calendars are endless; otherwise each consists of its first page.

    Examples
    --------
    >>> web = LivingWeb(seed=1, hosts=5, pages=100)
    >>> front = web.answer("http://site-01.example", "/", {}, at=0.0)
    >>> front.status, b"/calendar/0" in front.body
    (200, True)
    >>> web.answer("http://site-01.example", "/old/about", {}, at=0.0).status
    301
    """

    def __init__(
        self,
        seed: int,
        *,
        hosts: int = 20,
        pages: int = 2000,
        cycle_s: float = 6.0,
        began_at: float = 0.0,
        origins: Sequence[str] = (),
        still: bool = False,
        endless: bool = True,
    ) -> None:
        self.seed, self.cycle_s, self.began_at = seed, cycle_s, began_at
        self.still, self.endless = still, endless
        self.plan = LivingPlan(seed, hosts, pages)
        self.origins = tuple(origins) or tuple(f"http://site-{i + 1:02}.example" for i in range(hosts))
        self.urls = [self.origins[page.host] + page.path for page in self.plan.pages]
        self.numbers = {url: number for number, url in enumerate(self.urls)}
        self._hosts = {origin: host for host, origin in enumerate(self.origins)}
        self._sentences = Sentences(seed)
        self._changes: dict[int, Floats] = {}
        self._page = lru_cache(maxsize=4 * pages)(self._written)

    @property
    def seeds(self) -> list[str]:
        """Return the front page of every host."""
        return [f"{origin}/" for origin in self.origins]

    def rate_per_s(self, number: int) -> float:
        """Return the mean rate of change of a page."""
        return 0.0 if self.still else self.plan.pages[number].rate / self.cycle_s

    def vanishes_at(self, number: int) -> float:
        """Return the instant from which a page is gone; infinity for never."""
        return float("inf") if self.still else self.began_at + self.plan.pages[number].vanishes * self.cycle_s

    def changes(self, number: int, until: float) -> Floats:
        """Return the instants at which a page changes, before `until` and in order."""
        times = self._times(number, until)
        return times[: int(np.searchsorted(times, until))]

    def version(self, number: int, at: float) -> int:
        """Return the number of changes of a page up to and including `at`."""
        return int(np.searchsorted(self._times(number, at), at, side="right"))

    def links(self, url: str) -> list[str]:
        """Return the followed links of a page, in order; for a redirect, its target."""
        number = self.numbers.get(url)
        if number is None:
            return self._calendar_links(*self._split(url))
        planned = self.plan.pages[number]
        if planned.kind in (UrlKind.MOVED, UrlKind.HOP):
            return [self.urls[planned.target]]
        of = self.plan.pages[planned.target] if planned.kind is UrlKind.COPY else planned
        entrance = [self.origins[of.host] + CALENDAR + "0"] if of.calendar else []
        return [self.urls[n] for n in of.links] + entrance

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        """Return the response of `origin` to a GET of `path` at instant `at`; `headers` have lower-case names."""
        host = self._hosts[origin]
        if path == "/robots.txt":
            slow = "Crawl-delay: 0.02\n" if host == self.plan.slow else ""
            text = f"User-agent: *\nDisallow: /private/\n{slow}"
            return Answer(200, {"Content-Type": "text/plain", "Cache-Control": "max-age=86400"}, text.encode())
        number = self.numbers.get(origin + path)
        if number is None:
            return self._calendar(host, origin + path, headers, at)
        planned = self.plan.pages[number]
        match planned.kind:
            case UrlKind.MOVED | UrlKind.HOP:
                status = 301 if planned.kind is UrlKind.MOVED else 302
                return Answer(status, {"Location": self.urls[planned.target]}, b"over there\n")
            case UrlKind.GONE:
                return Answer(404, _HTML, b"<title>Never heard of it</title>")
            case UrlKind.COPY:
                return self._conditional(host, planned.target, headers, at)
            case _:
                return self._conditional(host, number, headers, at)

    def _conditional(self, host: int, number: int, headers: dict[str, str], at: float) -> Answer:
        if at >= self.vanishes_at(number):
            return Answer(410, _HTML, b"<title>It was here once</title>")
        version = self.version(number, at)
        about, same = self._validators(host, f"{number}-{version}", self._changed_at(number, version), headers, at)
        return Answer(304, about) if same else Answer(200, about | _HTML, self._page(number, version))

    def _validators(
        self, host: int, version: str, changed_at: float, headers: dict[str, str], at: float
    ) -> tuple[dict[str, str], bool]:
        """Return the validators of a version, and whether the client has it."""
        kind, tag = self.plan.validators[host], f'"{version}"'
        if kind is Validators.NONE:
            return {}, False
        if kind is Validators.WRONG_DATE:
            return {"Last-Modified": formatdate(at, usegmt=True)}, False
        dated = {"Last-Modified": formatdate(changed_at, usegmt=True)} if kind is Validators.TAG_AND_DATE else {}
        return {"ETag": tag} | dated, tag in headers.get("if-none-match", "")

    def _written(self, number: int, version: int) -> bytes:
        url = self.urls[number]
        text = [self._sentences.text(f"{url} stays", 10), self._sentences.text(f"{url} {version}", 10)]
        return page(f"Page {number} of {url}", text, self.links(url), [LOGIN])

    def _calendar(self, host: int, url: str, headers: dict[str, str], at: float) -> Answer:
        day = self._day(url)
        if day < 0 or host not in self.plan.branches or (day and not self.endless):
            return Answer(404, _HTML, b"<title>Not here</title>")
        about, same = self._validators(host, f"day-{day}", self.began_at, headers, at)
        if same:
            return Answer(304, about)
        return Answer(200, about | _HTML, page(f"Day {url}", [self._sentences.text(url, 12)], self.links(url), [LOGIN]))

    def _calendar_links(self, host: int, url: str) -> list[str]:
        origin, day, branches = self.origins[host], self._day(url), self.plan.branches[host]
        days = range(day * branches + 1, (day + 1) * branches + 1) if self.endless else ()
        return [f"{origin}/", *(f"{origin}{CALENDAR}{d}" for d in days)]

    def _split(self, url: str) -> tuple[int, str]:
        scheme, _, rest = url.partition("://")
        return self._hosts[f"{scheme}://{rest.partition('/')[0]}"], url

    def _day(self, url: str) -> int:
        day = url.rpartition(CALENDAR)[2]
        return int(day) if day.isdecimal() and day.isascii() and len(day) < 1000 else -1

    def _changed_at(self, number: int, version: int) -> float:
        if version:
            return float(self._changes[number][version - 1])
        rate = self.rate_per_s(number)
        draw = np.random.default_rng([self.seed, 3, number])
        return self.began_at - (float(draw.exponential(1 / rate)) if rate else 1000 * self.cycle_s)

    def _times(self, number: int, until: float) -> Floats:
        """Return the times of changes drawn so far, the last of them after `until`."""
        times, rate = self._changes.get(number), self.rate_per_s(number)
        if times is None:
            times = np.zeros(0) if rate else np.array([np.inf])
        while not len(times) or times[-1] <= until:
            draw = np.random.default_rng([self.seed, 2, number, len(times) // _BLOCK])
            begun = float(times[-1]) if len(times) else self.began_at
            times = np.append(times, begun + np.cumsum(draw.exponential(1 / rate, _BLOCK)))
        self._changes[number] = times
        return times
