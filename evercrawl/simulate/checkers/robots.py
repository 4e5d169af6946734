"""robots.txt: fetched before an origin's first page, never used beyond its expiry, and obeyed, through all lives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from evercrawl.crawl.sitemaps.sitemaps import SitemapTag
from evercrawl.fetch.robots_policy import ROBOTS_REDIRECTS, fresh_s, verdict
from evercrawl.model.rules.robots import RobotsTag
from evercrawl.parse.urls import hostname, origin, path_query
from evercrawl.simulate.checkers.base import Checker, Running
from evercrawl.simulate.checkers.politeness import SLACK_S
from evercrawl.simulate.worlds.world import World
from evercrawl.types import Exchange, Request

LATE_S: Final = 60.0
"""How long a visit may be chosen before it starts: a name has to be looked up, a host to rest."""


@dataclass(frozen=True, slots=True)
class ReadRules:
    r"""An origin's robots.txt, parsed by an independent reader.

    Attributes
    ----------
    at, until
        Time of the response, and its expiry, by the machine's clock.
    open
        Whether anything may be requested.
    paths
        Disallowed path prefixes.
    delay_s
        Crawl-delay.

    Examples
    --------
    >>> rules = ReadRules.read(200, "", {}, b"User-agent: *\nDisallow: /private/\nCrawl-delay: 5\n", 0.0, 0.0)
    >>> rules.forbids("/private/1"), rules.forbids("/1"), rules.delay_s
    (True, False, 5.0)
    """

    at: float
    until: float
    open: bool
    paths: tuple[str, ...] = ()
    delay_s: float = 0.0

    @classmethod
    def read(cls, status: int, error: str, headers: dict[str, str], body: bytes, at: float, now: float) -> ReadRules:
        """Return the rules in a response; only the forms used by simulated webs are understood."""
        match verdict(status, error):
            case "disallow_all":
                return cls(at, now, open=False)
            case "allow_all":
                return cls(at, now + 86_400.0, open=True)
            case _:
                fields = [line.partition(":") for line in body.decode(errors="replace").splitlines()]
                said = [(name.strip().lower(), value.strip()) for name, _, value in fields]
                paths = tuple(value for name, value in said if name == "disallow" and value)
                delays = [float(value) for name, value in said if name == "crawl-delay"]
                kept_s = fresh_s(headers.get("cache-control", ""))
                return cls(at, now + kept_s, open=True, paths=paths, delay_s=max(delays, default=0.0))

    def forbids(self, path: str) -> bool:
        """Return whether a path is disallowed."""
        return any(path.startswith(beginning) for beginning in self.paths)


class RobotsObeyed(Checker):
    """No page is requested against the rules, or before they are known.

    A crash at the very instant of a response may have preceded its processing; then both the former and the new rules
    count as known.
    """

    law: ClassVar[str] = "robots.txt"

    def __init__(self, world: World, blame: Callable[[str], None]) -> None:
        super().__init__(world, blame)
        self._known: dict[str, list[ReadRules]] = {}
        self._before: dict[str, list[ReadRules]] = {}
        self._host_ended: dict[str, float] = {}
        self._spoilt = False

    def began(self, life: Running) -> None:
        """Forget everything if the cache was lost."""
        if life.number and self.world.lives[life.number - 1].spoilt:
            self._known.clear()
        super().began(life)

    def asked(self, request: Request, address: str, at: float) -> None:
        """Check that a page may be requested."""
        if isinstance(request.tag, RobotsTag | SitemapTag):  # being named in a robots.txt is permission
            return
        assert self._life is not None
        now, known = self._life.now(), self._known.get(origin(request.url), [])
        url, path = request.url, path_query(request.url)
        self.expect(bool(known), f"{url} was asked for before the robots.txt of its origin")
        if not known:
            return
        self.expect(any(rules.open for rules in known), f"{url} was asked for while its robots.txt cannot be had")
        late_s = now - max(rules.until for rules in known)
        self.expect(late_s <= LATE_S, f"{url} was asked for {late_s:.1f} s after its robots.txt had become stale")
        self.expect(
            not all(rules.forbids(path) for rules in known), f"{url} was asked for, and robots.txt disallows it"
        )
        if self._life.config.connections_per_host == 1 and hostname(url) in self._host_ended:
            gap_s, least_s = at - self._host_ended[hostname(url)], min(rules.delay_s for rules in known)
            self.expect(
                gap_s >= least_s - SLACK_S,
                f"{url} was asked for {gap_s:.3f} s after the end of the last request to its host, whose robots.txt "
                f"asks for {least_s} s",
            )

    def answered(self, exchange: Exchange, at: float) -> None:
        """Record rules, and the time a host was last asked."""
        self._host_ended[hostname(exchange.request.url)] = at
        tag = exchange.request.tag
        if not isinstance(tag, RobotsTag):
            return
        moved = exchange.status in (301, 302, 303, 307, 308) and exchange.headers.get("location")
        if moved and tag.hops < ROBOTS_REDIRECTS:
            return
        assert self._life is not None
        error = exchange.error or ("truncated" if exchange.truncated else "")
        rules = ReadRules.read(exchange.status, error, exchange.headers, exchange.body, at, self._life.now())
        self._before[tag.origin] = self._known.get(tag.origin, [])
        self._known[tag.origin] = [rules]

    def ended(self, at: float, *, clean: bool) -> None:
        """Mark rules received at the instant of a crash as uncertain."""
        for name, known in self._known.items():
            if not clean and known[-1].at == at:
                self._known[name] = known + self._before[name]
