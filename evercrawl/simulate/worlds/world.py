"""A complete world drawn from one seed: web, names, settings, and the faults in each life of the crawl."""

import enum
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from evercrawl import catalog, importance
from evercrawl.config import Config
from evercrawl.config.values import AUTO
from evercrawl.importance import windows
from evercrawl.model.policy import policies
from evercrawl.simulate.surroundings.weather import Climate
from evercrawl.simulate.worlds import drawn_web
from evercrawl.simulate.worlds.wishes import wish

BEGAN_AT: Final = 1_700_000_000.0
DIRECTORY: Final = Path("/made-up")
"""As the crawl directory is called in messages."""
CALM_CYCLES: Final = 2.1
"""How long the last life is, in the time between two visits of a page there: one for the page to fall due, one for it
to get its turn, which takes half as long if all are due at once."""
_ORDERED: Final = 0.3
"""Part of the worlds in which people give orders."""
_NAMES: Final = ("a.example", "b.example", "www.c.example", "news.c.example", "d.example", "e.co.uk", "f.example")


class LifeEnd(enum.Enum):
    """How a life ends."""

    STOP = "stop"  # on request
    PAGES = "pages"  # after the planned number of pages
    TIME = "time"  # after the planned time
    ONE = "one"  # after fetching one page again, as planned
    KILL = "kill"  # kill -9
    POWER = "power"  # power cut: unsynced data is lost or torn

    @property
    def crash(self) -> bool:
        """Whether the end is a crash, without a clean shutdown."""
        return self in (LifeEnd.KILL, LifeEnd.POWER)


@dataclass(frozen=True, slots=True)
class Life:
    """One run of the crawl.

    Attributes
    ----------
    config
        Its settings.
    end, lasts_s
        How and when it ends; a run limited by pages, or with a full disk, may end sooner.
    pages
        For `LifeEnd.PAGES` and `LifeEnd.ONE`: number of visits.
    strike
        A crash occurs during the n-th disk operation from `lasts_s` on; 0: between two of them.
    full
        Periods of limited disk space: start and end in seconds after the beginning, and bytes available.
    leaps
        Clock changes: seconds after the beginning, and seconds by which the clock is set forward or back.
    naps
        Suspensions: seconds after the beginning, and duration in seconds.
    pause_s
        Time until the next life.
    spoilt
        Effect of a power cut on the caches of robots.txt and sitemaps: "" for none, "gone" or "damaged"; if they are
        gone, so is the search index.
    named
        Whether the seeds are given again to an existing crawl.
    slow_s
        Maximum time to parse a body; 0: it is parsed at once.
    broken
        Disk failures: seconds after the beginning, and n for the n-th operation from then on, which fails.
    looks
        Times of verifications during the run, in seconds after the beginning.
    orders
        Orders: seconds after the beginning, and a word as in `surroundings.orders`.
    """

    config: Config
    end: LifeEnd
    lasts_s: float
    pages: int = 0
    strike: int = 0
    full: tuple[tuple[float, float, int], ...] = ()
    leaps: tuple[tuple[float, float], ...] = ()
    naps: tuple[tuple[float, float], ...] = ()
    pause_s: float = 1.0
    spoilt: str = ""
    named: bool = True
    slow_s: float = 0.0
    broken: tuple[tuple[float, int], ...] = ()
    looks: tuple[float, ...] = ()
    orders: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class World:
    """The complete description of a simulation.

    Attributes
    ----------
    seed
        The random seed of all other fields, and of random events during the run.
    web
        Plan of the web.
    machines, nameless
        Number of addresses; share of time during which a name does not resolve.
    climate, rules_s
        The weather until it clears; mean time between changes of names and robots.txt.
    sitemaps
        Whether sites have sitemaps.
    lives
        The lives in order; in the last the weather is fine, nothing fails, and there is time for every page.
    name_servers, outages
        Number of name servers; share of time during which each is down.
    vacant
        Share of names with an additional address without a machine.
    """

    seed: int
    web: drawn_web.DrawnPlan
    machines: int
    nameless: float
    climate: Climate
    rules_s: float
    sitemaps: bool
    lives: tuple[Life, ...]
    name_servers: int = 1
    outages: float = 0.0
    vacant: float = 0.0


def drawn(seed: int) -> World:
    """Return the world of a seed.

    Examples
    --------
    >>> world = drawn(7)
    >>> world == drawn(7), world == drawn(8)
    (True, False)
    """
    draw = random.Random(f"world {seed}")
    names = draw.sample(_NAMES, draw.randrange(1, 1 + len(_NAMES)))
    origins = [origin for name in names for origin in _origins(draw, name)]
    policy = draw.choice(policies.names())
    calendars = draw.choice([0, 0, 1])
    begun = _settings(draw, policy, endless=bool(calendars))
    restless = draw.random() < 0.25
    count, longest_s = (draw.randrange(6, 16), 60) if restless else (draw.choice([1, 2, 3, 3, 4, 5]), 2000)
    lives = [_life(draw, _again(draw, begun), longest_s) for _ in range(count)]
    lasts_s = sum(life.lasts_s + life.pause_s for life in lives)
    plan = drawn_web.DrawnPlan(
        seed, tuple(origins), pages=round(_between(draw, 4, 150 / len(origins))), began_at=BEGAN_AT,
        settles_at=BEGAN_AT + lasts_s, turn_s=_between(draw, 60, 3600), calendars=calendars,
        words_s=_between(draw, 30, 3000),
    )  # fmt: skip
    calm = _calm(begun, plan, max(life.config.delay_s for life in lives))
    return World(
        seed,
        plan,
        machines=draw.randrange(1, 1 + len(names)),
        nameless=draw.choice([0.0, 0.0, 0.02, 0.1]),
        climate=_climate(draw),
        rules_s=_between(draw, 60, 3600),
        sitemaps=draw.random() < 0.6,
        lives=_ordering(seed, _wishing(seed, _weighing(seed, _learning(seed, names, (*lives, calm))))),
        **_resolving(seed),
    )


def _resolving(seed: int) -> dict[str, Any]:
    """Return the properties of names, from a separate random stream that leaves the rest of a world unchanged."""
    draw = random.Random(f"name servers {seed}")
    return {
        "name_servers": draw.choice([1, 1, 2]),
        "outages": draw.choice([0.0, 0.02, 0.1]),
        "vacant": draw.choice([0.0, 0.2]),
    }


def _learning(seed: int, names: Sequence[str], lives: Sequence[Life]) -> tuple[Life, ...]:
    """Return lives with random importance schemes: mostly one for all, sometimes with a switch."""
    draw = random.Random(f"schemes {seed}")
    other_s = draw.choice([0.0, 0.0, 0.15, 0.5])
    scheme, learned = _scheme(draw, names), list[Life]()
    for life in lives:
        scheme = _scheme(draw, names) if draw.random() < other_s else scheme
        learned.append(replace(life, config=replace(life.config, **scheme)))  # type: ignore[arg-type]
    return tuple(learned)


# Settings added later. Each group has its own random stream, such as `random.Random(f"settings {seed}")`, so that
# earlier draws stay the same: wrap the lives in `drawn`.


def _weighing(seed: int, lives: Sequence[Life]) -> tuple[Life, ...]:
    """Return lives, of which none, some or all weigh pages by the lasting part of their changes."""
    draw = random.Random(f"weights {seed}")
    often = draw.choice([0.0, 0.5, 1.0])
    return tuple(replace(life, config=replace(life.config, lasting=draw.random() < often)) for life in lives)


def _ordering(seed: int, lives: Sequence[Life]) -> tuple[Life, ...]:
    """Return lives with orders, in some worlds; the last begins with an order that ends every pause."""
    draw = random.Random(f"orders {seed}")
    if draw.random() > _ORDERED:
        return tuple(lives)
    ordered = list[Life]()
    for life in lives[:-1]:
        count = draw.randrange(6) if life.end is not LifeEnd.ONE else 0
        kinds = ("pause", "resume", "boost", "unboost", "exclude", "lift", "seed", "nonsense")
        orders = sorted((draw.uniform(0.0, life.lasts_s), draw.choice(kinds)) for _ in range(count))
        ordered.append(replace(life, orders=tuple(orders)))
    return (*ordered, replace(lives[-1], orders=((0.0, "resume"),)))


def _wishing(seed: int, lives: Sequence[Life]) -> tuple[Life, ...]:
    """Return lives with all other settings drawn, from a separate stream."""
    configs = wish(seed, [life.config for life in lives])
    return tuple(replace(life, config=config) for life, config in zip(lives, configs, strict=True))


def _scheme(draw: random.Random, names: Sequence[str]) -> dict[str, object]:
    """Return a random importance scheme, mostly push, as settings."""
    schemes = sorted(catalog.find(importance, importance.Importance))  # type: ignore[type-abstract]
    known = sorted(catalog.find(windows, windows.Window))  # type: ignore[type-abstract]
    return {
        "importance": draw.choice(["push", "push", "aopic", draw.choice(schemes)]),
        "window": draw.choice([AUTO, *known]),
        "internal": draw.choice(["0.1", "1"]),
        "newcomers": draw.choice(["pooled", "pooled", "paper", "floor", "alone"]),
        "trusted": tuple(sorted(draw.sample(names, 1 + len(names) // 3))) if draw.random() < 0.15 else (),
    }


def _climate(draw: random.Random) -> Climate:
    """Return fair weather, or weather with bad spells."""
    if draw.random() < 0.3:
        return Climate(fine_s=1e9, latency_s=_between(draw, 0.02, 0.5))
    return Climate(fine_s=_between(draw, 50, 2000), bad_s=_between(draw, 20, 1500), latency_s=_between(draw, 0.02, 0.5))


def _origins(draw: random.Random, name: str) -> Sequence[str]:
    """Return one or two origins on a host."""
    first = draw.choice(["http", "http", "https"])
    return [f"{first}://{name}"] + ([f"http://{name}:8080"] if draw.random() < 0.15 else [])


def _settings(draw: random.Random, policy: str, *, endless: bool) -> Config:
    per_host = draw.choice([1, 1, 1, 2, 3])
    return Config(
        policy=policy,
        rate_per_s=draw.choice([0, 0, 0, 0.5, 2.0, 7.0]),
        rate_bytes_per_s=draw.choice([0, 0, 0, 2000]),
        delay_s=draw.choice([0.5, 1.0, 1.0, 3.0]),
        connections=draw.choice([1, 3, 20, 256]),
        connections_per_host=per_host,
        connections_per_ip=draw.choice([1, 2, 2, 4]),
        refresh_after_s=_between(draw, 40, 3600),
        scope="any",
        sitemaps=draw.random() < 0.7,
        max_pages_per_host=draw.choice([20, 60]) if endless else draw.choice([0, 0, 0, 15]),
        max_pages_per_link=draw.choice([1000, 1000, 8]),
        max_backlog_per_host=draw.choice([10_000, 10_000, 12]),
        body_max_bytes=draw.choice([1 << 20, 1 << 20, 900]),
        exchange_deadline_s=draw.choice([10.0, 30.0]),
        max_redirects=draw.choice([2, 10]),
        disk_wait_s=draw.choice([20.0, 120.0, 600.0]),
        snapshot_every_s=_between(draw, 5, 300),
        segment_bytes=round(_between(draw, 8_000, 400_000)),
        index=draw.random() < 0.5,
        index_every_s=_between(draw, 20, 600),
    )


def _again(draw: random.Random, begun: Config) -> Config:
    """Return the settings of a life: sometimes some have changed."""
    if draw.random() < 0.8:
        return begun
    other = _settings(draw, begun.policy, endless=begun.max_pages_per_host > 0)
    return replace(other, max_pages_per_host=begun.max_pages_per_host)


def _life(draw: random.Random, config: Config, longest_s: float) -> Life:
    ends = {LifeEnd.STOP: 2, LifeEnd.PAGES: 1, LifeEnd.TIME: 1, LifeEnd.ONE: 1, LifeEnd.KILL: 5, LifeEnd.POWER: 6}
    end, lasts_s = draw.choices(list(ends), list(ends.values()))[0], _between(draw, 0.5, longest_s)
    if end.crash and draw.random() < 0.15:
        lasts_s = 0.0  # during its start
    full: tuple[tuple[float, float, int], ...] = ()
    if draw.random() < 0.2:
        since_s = draw.uniform(0, lasts_s) if draw.random() < 0.7 else 0.0
        full = ((since_s, since_s + _between(draw, 1, 2 * config.disk_wait_s), draw.randrange(3000)),)
    often = [0, 0, 0, 1, 3]
    return Life(
        config,
        end,
        lasts_s,
        pages={LifeEnd.PAGES: draw.randrange(1, 200), LifeEnd.ONE: 1}.get(end, 0),
        strike=round(_between(draw, 1, 60)) if end.crash and (not lasts_s or draw.random() < 0.7) else 0,
        full=full,
        leaps=tuple((draw.uniform(0, lasts_s), _leap(draw)) for _ in range(draw.choice(often))),
        naps=tuple((draw.uniform(0, lasts_s), _between(draw, 1, 50_000)) for _ in range(draw.choice(often) // 2)),
        pause_s=_between(draw, 0.2, 3600) if draw.random() < 0.8 else _between(draw, 3600, 3 * 86_400),
        spoilt=draw.choice(["", "", "gone", "damaged"]) if end is LifeEnd.POWER else "",
        named=draw.random() < 0.5,
        slow_s=draw.choice([0.0, 0.0, 0.01, 3.0]),
        broken=((draw.uniform(0, lasts_s), draw.randrange(1, 30)),) if draw.random() < 0.08 else (),
        looks=(draw.uniform(0, lasts_s),) if draw.random() < 0.4 else (),
    )


def _calm(begun: Config, plan: drawn_web.DrawnPlan, delay_s: float) -> Life:
    """Return the last life: no page has to wait long, because all can be visited within half a refresh."""
    longest_s, delay_s = 1.0, max(begun.delay_s, delay_s, 5.0)  # of a response; robots.txt may still set 5 s
    on_origin = plan.pages + 8 + (begun.max_pages_per_host if plan.calendars else 0)
    on_host, everywhere = 2 * on_origin, len(plan.origins) * on_origin
    at_once = min(begun.connections, begun.connections_per_ip)
    whole_s = max(
        on_host * (delay_s + longest_s),
        everywhere * max(begun.delay_s / begun.connections_per_ip, longest_s / at_once),
        everywhere / begun.rate_per_s if begun.rate_per_s else 0.0,
    )
    turn_s = 2.0 * whole_s
    config = replace(begun, refresh_after_s=turn_s, rate_bytes_per_s=0)
    return Life(config, LifeEnd.TIME, CALM_CYCLES * turn_s)


def _leap(draw: random.Random) -> float:
    return draw.choice([-1.0, 1.0]) * _between(draw, 0.5, 2 * 86_400)


def _between(draw: random.Random, least: float, most: float) -> float:
    """Return a random number between two bounds, uniform in its logarithm."""
    return math.exp(draw.uniform(math.log(least), math.log(max(most, least))))
