"""robots.txt and sitemaps of a simulated web, which appear, vanish and change."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from xml.sax.saxutils import escape

from evercrawl.simulate.surroundings.network import NoAnswerError
from evercrawl.simulate.surroundings.spells import Spell, Spells
from evercrawl.simulate.worlds.made_web import Answer, gzipped

ROBOTS: Final = "/robots.txt"
ELSEWHERE: Final = "/robots-elsewhere.txt"  # temporary redirect target of some robots.txt
ROBOTS_PATHS: Final = frozenset({ROBOTS, ELSEWHERE})
SITEMAP: Final = "/sitemap.xml"
_TEXT: Final = {"Content-Type": "text/plain"}


class RobotsAnswer(StrEnum):
    """The kind of response to a request for robots.txt."""

    RULES = "rules"
    MOVED = "moved"
    ABSENT = "absent"
    TROUBLE = "trouble"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class RobotsText:
    """An origin's robots.txt for a while.

    Attributes
    ----------
    said
        Whether it exists, and where.
    disallowed
        Disallowed path prefixes; "/" for all. Meaningless without rules.
    delay_s
        Crawl-delay; 0 for none.
    max_age_s
        Maximum caching time; 0 if not given, which means a day.
    sitemap
        Whether it names the sitemap.
    """

    said: RobotsAnswer = RobotsAnswer.RULES
    disallowed: tuple[str, ...] = ()
    delay_s: float = 0.0
    max_age_s: int = 0
    sitemap: bool = False

    def allows(self, path: str) -> bool:
        """Return whether these rules allow a path; without rules all are allowed."""
        return self.said not in (RobotsAnswer.RULES, RobotsAnswer.MOVED) or not path.startswith(self.disallowed)

    def text(self, origin: str) -> str:
        """Return the file."""
        lines = ["User-agent: *", *(f"Disallow: {path}" for path in self.disallowed or ("",))]
        lines += [f"Crawl-delay: {self.delay_s:g}"] if self.delay_s else []
        return "\n".join([*lines, *([f"Sitemap: {origin}{SITEMAP}"] if self.sitemap else []), ""])


class MadeRules:
    r"""robots.txt and sitemaps of all origins, as pure functions of seed, origin and time.

    Parameters
    ----------
    seed
        Draws everything.
    began_at
        Instant (s since the epoch) before which nothing changes.
    prefixes
        Path prefixes, some of which the rules disallow at times.
    always
        Prefixes disallowed whenever there are rules.
    clears_at
        From then on every origin has the mildest rules, and a complete sitemap.
    listed
        Origin and instant -> the URLs in its sitemap, each with the instant of its last change; None if no origin has
        one.
    spell_s
        Mean time between changes of a robots.txt.
    delays_s
        The Crawl-delays set at times.

    Examples
    --------
    >>> rules = MadeRules(1, began_at=0.0, always=("/private/",), clears_at=100.0)
    >>> rules.at("http://a.example", 100.0).allows("/private/1")
    False
    >>> rules.answer("http://a.example", "/robots.txt", 100.0).body
    b'User-agent: *\nDisallow: /private/\n'
    """

    def __init__(
        self,
        seed: int,
        *,
        began_at: float,
        prefixes: Sequence[str] = (),
        always: Sequence[str] = (),
        clears_at: float = float("inf"),
        listed: Callable[[str, float], Iterable[tuple[str, float]]] | None = None,
        spell_s: float = 4 * 3600.0,
        delays_s: Sequence[float] = (2.0, 5.0),
    ) -> None:
        self._seed, self._began_at, self._clears_at = seed, began_at, clears_at
        self._prefixes, self._always = tuple(prefixes), tuple(always)
        self._listed, self._spell_s, self._delays_s = listed, spell_s, tuple(delays_s)
        self._robots: dict[str, Spells[RobotsText]] = {}
        self._sitemaps: dict[str, Spells[str]] = {}

    def at(self, origin: str, at: float) -> RobotsText:
        """Return the origin's robots.txt at an instant."""
        return self.spell(origin, at).what

    def spell(self, origin: str, at: float) -> Spell[RobotsText]:
        """Return that with its start and end."""
        if at >= self._clears_at:
            calm = RobotsText(disallowed=self._always, sitemap=self._listed is not None)
            return Spell(calm, self._clears_at, float("inf"), 0)
        spells = self._robots.get(origin)
        if spells is None:
            spells = self._robots[origin] = Spells(f"robots {self._seed} {origin}", self._began_at, self._next)
        return spells.at(at)

    def answer(self, origin: str, path: str, at: float) -> Answer | None:
        """Return the response for a robots.txt or a sitemap, or raise `NoAnswerError`; None for any other path."""
        if path == ROBOTS:
            return self._robots_txt(origin, at)
        if path == ELSEWHERE:
            return self._file(origin, at)
        if path == SITEMAP and self._listed is not None:
            return self._sitemap(origin, at, self._listed)
        return None

    def _robots_txt(self, origin: str, at: float) -> Answer:
        match self.at(origin, at).said:
            case RobotsAnswer.RULES:
                return self._file(origin, at)
            case RobotsAnswer.MOVED:
                return Answer(301, {"Location": ELSEWHERE, **_TEXT}, b"over there\n")
            case RobotsAnswer.ABSENT:
                return Answer(404, _TEXT, b"no such file\n")
            case RobotsAnswer.TROUBLE:
                return Answer(503, _TEXT, b"trouble here\n")
            case RobotsAnswer.SILENT:
                raise NoAnswerError("timeout", after_s=1e9)

    def _file(self, origin: str, at: float) -> Answer:
        now = self.at(origin, at)
        age = {"Cache-Control": f"max-age={now.max_age_s}"} if now.max_age_s else {}
        return Answer(200, _TEXT | age, now.text(origin).encode())

    def _next(self, draw: random.Random, before: RobotsText | None) -> tuple[RobotsText, float]:
        odds = {
            RobotsAnswer.RULES: 6.0,
            RobotsAnswer.MOVED: 0.5,
            RobotsAnswer.ABSENT: 1.0,
            RobotsAnswer.TROUBLE: 1.0,
            RobotsAnswer.SILENT: 0.5,
        }
        said = draw.choices(list(odds), list(odds.values()))[0] if before is not None else RobotsAnswer.RULES
        some = tuple(prefix for prefix in self._prefixes if draw.random() < 0.3)
        closed = before is not None and draw.random() < 0.1
        text = RobotsText(
            said,
            ("/",) if closed else self._always + some,
            draw.choice(self._delays_s) if self._delays_s and draw.random() < 0.2 else 0.0,
            draw.choice([0, 60, 600, 3600, 86_400, 999_999]),
            self._listed is not None and draw.random() < 0.8,
        )
        whole = said in (RobotsAnswer.RULES, RobotsAnswer.MOVED) and not closed
        return text, 1.0 + draw.expovariate(1 / self._spell_s) * (1.0 if whole else 0.2)

    def _sitemap(
        self, origin: str, at: float, listed: Callable[[str, float], Iterable[tuple[str, float]]]
    ) -> Answer | None:
        spells = self._sitemaps.get(origin)
        if spells is None:
            spells = self._sitemaps[origin] = Spells(f"sitemap {self._seed} {origin}", self._began_at, self._weathered)
        how = spells.at(at).what if at < self._clears_at else "whole"
        body = sitemap(listed(origin, at))
        match how:
            case "absent":
                return Answer(404, _TEXT, b"no such file\n")
            case "cut":
                return Answer(200, {"Content-Type": "application/xml"}, body[: 2 * len(body) // 3])
            case "packed":
                return Answer(200, {"Content-Type": "application/gzip"}, gzipped(body))
            case _:
                return Answer(200, {"Content-Type": "application/xml"}, body)

    def _weathered(self, draw: random.Random, before: str | None) -> tuple[str, float]:
        how = draw.choices(["whole", "packed", "cut", "absent"], [6, 2, 1, 1])[0]
        return how, 1.0 + draw.expovariate(1 / self._spell_s)


def sitemap(listed: Iterable[tuple[str, float]]) -> bytes:
    """Return the sitemap of some URLs, each with the instant of its last change (s since the epoch)."""
    entries = (
        f"<url><loc>{escape(url)}</loc><lastmod>{datetime.fromtimestamp(at, UTC).isoformat(timespec='seconds')}"
        "</lastmod></url>"
        for url, at in listed
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(entries)}</urlset>'.encode()
