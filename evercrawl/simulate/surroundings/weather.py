"""Weather over a simulated web: spells in which a host is slow, resets, refuses, asks for a pause, or cuts bodies.

The effect on a request is a pure function of seed, host, path and time, independent of other requests.
"""

import math
import random
from dataclasses import dataclass, fields, replace
from email.utils import formatdate
from enum import StrEnum
from typing import Final

from evercrawl.parse.urls import hostname
from evercrawl.simulate.surroundings.network import AnsweringWeb, Delivery, NoAnswerError
from evercrawl.simulate.surroundings.rules import ROBOTS_PATHS, MadeRules
from evercrawl.simulate.surroundings.spells import Spell, Spells, lot
from evercrawl.simulate.worlds.made_web import Answer

PLAIN: Final = {"Content-Type": "text/plain"}


class WeatherKind(StrEnum):
    """The effect of a host's weather on requests."""

    FINE = "fine"
    SLOW = "slow"
    RESETTING = "resetting"
    REFUSING = "refusing"
    SILENT = "silent"
    BROKEN = "broken"
    BUSY = "busy"
    CUTTING = "cutting"
    LYING = "lying"


@dataclass(frozen=True, slots=True)
class Sky:
    """The weather of one spell.

    Attributes
    ----------
    kind
        The effect on affected requests.
    share
        Share of requests affected.
    status
        Status of the response, if the host is broken or busy.
    """

    kind: WeatherKind = WeatherKind.FINE
    share: float = 1.0
    status: int = 503


@dataclass(frozen=True, slots=True)
class Climate:
    """The statistics of weather.

    Attributes
    ----------
    fine_s, bad_s
        Mean duration of a spell (s).
    slow, resetting, refusing, silent, broken, busy, cutting, lying
        Relative frequency of each kind of bad spell.
    latency_s
        Median response time in fine weather; each host varies around it.
    """

    fine_s: float = 3600.0
    bad_s: float = 600.0
    slow: float = 1.0
    resetting: float = 1.0
    refusing: float = 1.0
    silent: float = 1.0
    broken: float = 1.0
    busy: float = 1.0
    cutting: float = 1.0
    lying: float = 0.5
    latency_s: float = 0.15

    def next(self, draw: random.Random, before: Sky | None) -> tuple[Sky, float]:
        """Draw the next spell, alternately bad and fine, and its duration."""
        bad = [field.name for field in fields(self) if not field.name.endswith("_s")]
        weights = [getattr(self, name) for name in bad]
        fine = before.kind is not WeatherKind.FINE if before is not None else draw.random() < 0.8
        if fine or not sum(weights):
            return Sky(), 1.0 + draw.expovariate(1 / self.fine_s)
        kind = WeatherKind(draw.choices(bad, weights)[0])
        share = 1.0 if draw.random() < 0.5 else draw.uniform(0.2, 0.9)
        status = draw.choice([429, 503]) if kind is WeatherKind.BUSY else draw.choice([500, 502, 503, 504])
        return Sky(kind, share, status), 1.0 + draw.expovariate(1 / self.bad_s)


class Weather:
    """A web as seen through its weather: responses, their timing and failures; used like a web.

    Parameters
    ----------
    web
        The web under the weather.
    seed
        Draws everything.
    began_at
        Start of the weather (s since the epoch).
    clears_at
        From then on it is fine everywhere.
    climate
        The statistics of weather.
    rules
        The robots.txt files and sitemaps; by default those of the web.

    Examples
    --------
    >>> from evercrawl.simulate.worlds.made_web import MadeWeb
    >>> web = MadeWeb(1, ("http://a.example",))
    >>> weather = Weather(web, 1, began_at=0.0, clears_at=1e6)
    >>> weather.answer("http://a.example", "/p/1", {}, 1e6).status
    200
    >>> sorted({str(weather.sky("http://a.example", hour * 3600.0).what.kind) for hour in range(100)})
    ['broken', 'busy', 'cutting', 'fine', 'lying', 'refusing', 'resetting', 'silent', 'slow']
    """

    def __init__(
        self,
        web: AnsweringWeb,
        seed: int,
        *,
        began_at: float,
        clears_at: float = float("inf"),
        climate: Climate | None = None,
        rules: MadeRules | None = None,
    ) -> None:
        self._web, self._seed, self._began_at, self._clears_at = web, seed, began_at, clears_at
        self._climate = climate or Climate()
        self._rules = rules
        self._skies: dict[str, Spells[Sky]] = {}

    def sky(self, origin: str, at: float) -> Spell[Sky]:
        """Return the spell of the host of `origin` at an instant."""
        if at >= self._clears_at:
            return Spell(Sky(), self._clears_at, float("inf"), 0)
        host = hostname(f"{origin}/")
        spells = self._skies.get(host)
        if spells is None:
            seed = f"weather {self._seed} {host}"
            spells = self._skies[host] = Spells(seed, self._began_at, self._climate.next)
        return spells.at(at)

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        """Return the result of a GET of `path` at `at`, or raise `NoAnswerError`."""
        sky = self.sky(origin, at).what
        about = (self._seed, origin, path, at)
        pace_s = self._pace_s(origin, *about)
        if sky.kind is WeatherKind.FINE or lot(*about, "struck") >= sky.share:
            return replace(_paced(self._said(origin, path, headers, at)), after_s=pace_s)
        before = self._struck(sky, about, at, pace_s)
        if before is not None:
            return before
        said = self._said(origin, path, headers, at)
        if sky.kind is WeatherKind.SLOW:
            return replace(_paced(said), after_s=pace_s + 40.0 * lot(*about, "slow") ** 2)
        if path in ROBOTS_PATHS or said.status != 200:
            return replace(_paced(said), after_s=pace_s)
        size, part = len(said.body), lot(*about, "part")
        if sky.kind is WeatherKind.CUTTING:
            after_s = 1e9 if lot(*about, "stall") < 0.3 else pace_s
            return replace(_paced(said), after_s=after_s, arrives_bytes=int(part * size))
        announced = {"Content-Length": str(int(2 * part * size) + 1)}
        return replace(_paced(said), after_s=pace_s, headers=said.headers | announced)

    def _struck(self, sky: Sky, about: tuple[object, ...], at: float, pace_s: float) -> Answer | None:
        """Return the replacement of a response, or raise it; None if the web responds itself."""
        match sky.kind:
            case WeatherKind.RESETTING:
                raise NoAnswerError("reset", after_s=pace_s)
            case WeatherKind.REFUSING:
                raise NoAnswerError("connect", after_s=pace_s / 3)
            case WeatherKind.SILENT:
                raise NoAnswerError("timeout", after_s=1e9)
            case WeatherKind.BROKEN:
                return Delivery(sky.status, PLAIN, b"trouble here", after_s=pace_s)
            case WeatherKind.BUSY:
                return Delivery(sky.status, PLAIN | self._wish(about, at), b"not now", after_s=pace_s)
            case _:
                return None

    def _wish(self, about: tuple[object, ...], at: float) -> dict[str, str]:
        """Return a Retry-After field: in seconds, or as a date by the host's own clock."""
        wish_s = int(1.0 + 600.0 * lot(*about, "wish") ** 2)
        if lot(*about, "date") < 0.7:
            return {"Retry-After": str(wish_s)}
        wrong_s = int(7200.0 * (lot(self._seed, about[1], "clock") - 0.5))
        date, until = formatdate(at + wrong_s, usegmt=True), formatdate(at + wrong_s + wish_s, usegmt=True)
        return {"Date": date, "Retry-After": until}

    def _said(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        said = self._rules.answer(origin, path, at) if self._rules is not None else None
        return said if said is not None else self._web.answer(origin, path, headers, at)

    def _pace_s(self, origin: str, *about: object) -> float:
        host, this = lot(self._seed, origin, "pace") - 0.5, lot(*about, "pace") - 0.5
        return min(self._climate.latency_s * math.exp2(4.0 * host + 4.0 * this), 20.0)


def _paced(said: Answer) -> Delivery:
    """Return the response as one with adjustable timing."""
    return said if isinstance(said, Delivery) else Delivery(said.status, said.headers, said.body)
