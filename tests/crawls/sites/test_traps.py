"""Traps starve by what they are worth, not by how they look: an endless one beside twenty honest sites of ten pages.

Until all honest pages have been read it gets no more than a twentieth of the fetches, and no more than 15 % of those
that are made when only refreshes are left beside it.
"""

import itertools
import math
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from soak import in_soak

from evercrawl.model.worth.usage import Question, UsageWriter
from evercrawl.progress import Limits
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.policies.price.price import Price
from evercrawl.simulate.surroundings.network import Asked, MadeNetwork
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.store.records.records import FINDABLE, MEMBER, NEAR
from evercrawl.types import Outcome

SITES = [f"http://s{number}.example" for number in range(20)]
TRAP = "http://trap.example"
SEEDS = [f"{site}/" for site in SITES]
PAGES = 10
FETCHES = 300


def text(name: object, words: int = 120) -> str:
    draw = random.Random(str(name))
    return " ".join(f"w{draw.randrange(4000)}" for _ in range(words))


def html(title: str, body: str, *links: str) -> Answer:
    anchors = "".join(f"<a href='{link}'></a>" for link in links)
    page = f"<html><title>{title}</title><p>{body}</p>{anchors}</html>".encode()
    return Answer(200, {"Content-Type": "text/html"}, page)


def honest(site: str, path: str) -> Answer:
    """Answer for a site whose pages link to two further ones, to five others, and all to the front page."""
    number = 0 if path == "/" else int(path.removeprefix("/p"))
    draw = random.Random(f"{site} {number}")
    links = [f"/p{i}" for i in (2 * number + 1, 2 * number + 2) if i < PAGES]
    links += [f"/p{draw.randrange(1, PAGES)}" for _ in range(5)] + [f"{draw.choice(SITES)}/"]
    links += [f"{TRAP}/"] * (number == 0 and site == SITES[0])
    return html(f"Page {number} of {site}", text(f"{site} {number}"), "/", *links)


def calendar(path: str, _: random.Random) -> Answer:
    """A page a month, that links to the next and the last, and to each of its days."""
    if path != "/" and not re.fullmatch(r"/(month|day)/-?[0-9]+(/[0-9]+)?", path):
        return Answer(404)
    month = 0 if path == "/" else int(path.split("/")[2])
    days = [f"/day/{month}/{day}" for day in range(28)] if not path.startswith("/day") else []
    title = f"Calendar {path}"
    return html(
        title, text("calendar") + f" {path} nothing on this day", f"/month/{month + 1}", f"/month/{month - 1}", *days
    )


def sessions(path: str, draw: random.Random) -> Answer:
    """Ten pages under ever new names."""
    if path != "/" and not path[1:2].isdigit():
        return Answer(404)
    number = 0 if path == "/" else int(path[1])
    links = [f"/{i}?sid={draw.randrange(1 << 40):x}" for i in range(10)]
    return html(f"Page {number}", f"{text(number, 400)} it is {draw.randrange(24)}:{draw.randrange(60)}", *links)


def loops(path: str, _: random.Random) -> Answer:
    """Relative links that lead ever deeper into folders that are the same."""
    return html("Loop", text("loop"), f"{path.rstrip('/')}/a/", f"{path.rstrip('/')}/b/", "/")


def filters(path: str, draw: random.Random) -> Answer:
    """A list of goods with parameters that can be combined and ordered at will."""
    chosen = path.partition("?")[2].split("&") if "?" in path else []
    names = ["colour", "size", "brand", "price", "sort", "page", "view", "stock"]
    links = ["/?" + "&".join([*chosen, f"{draw.choice(names)}={value}"][-6:]) for value in range(12)]
    return html("Goods", f"{text('goods', 400)} {' '.join(chosen)}", *links)


def spawning(path: str, draw: random.Random) -> Answer:
    """No page at all, and an error page with status 200 that links to others like it."""
    links = [f"/{draw.randrange(1 << 40):x}" for _ in range(10)]
    return html("Not found", f"{text('sorry')} there is nothing at {path}", *links)


class Beside:
    """A trap beside honest sites, one of which links to it."""

    def __init__(self, trap: Callable[[str, random.Random], Answer]) -> None:
        self.trap, self.draw = trap, random.Random(7)

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        if path == "/robots.txt":
            return Answer(404)
        return self.trap(path, self.draw) if origin == TRAP else honest(origin, path)


def asked_for(ran) -> list[Asked]:
    """Return the fetches in order."""
    return [asked for asked in ran.network.log if not asked.url.endswith("/robots.txt")]


TRAPS = {"calendar": calendar, "sessions": sessions, "loops": loops, "filters": filters, "spawning": spawning}
FAST = {"scope": "any", "delay_s": 0, "connections_per_ip": 64, "connections_per_host": 4, "rate_per_s": 10.0,
        "refresh_after_s": 20.0}  # fmt: skip


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_starves_beside_honest_sites(run, name):
    ran = run(Beside(TRAPS[name]), SEEDS, Limits(pages=FETCHES, seconds=3600), policy=Price(), polite=False, **FAST)
    order = [asked.url for asked in asked_for(ran)]
    read = {asked.url for asked in asked_for(ran) if asked.status == 200 and not asked.url.startswith(TRAP)}
    assert read == {f"{site}/{f'p{number}' if number else ''}" for site in SITES for number in range(PAGES)}
    last = max(order.index(url) for url in read)
    trapped = [url for url in order[:last] if url.startswith(TRAP)]
    assert 0 < len(trapped) <= 0.05 * last
    everywhere = [url for url in order if url.startswith(TRAP)]
    assert len(everywhere) <= 0.15 * FETCHES  # also of what is left when all honest pages have been read


@pytest.mark.parametrize("openings", [3000, *in_soak(300)])
def test_a_trap_starves_by_learned_worth_too_and_going_on_changes_nothing(run, openings):
    """Openings have nothing to do with links, nobody was shown a page of the trap, and no honest page changes."""
    urls = [f"{site}/{f'p{number}' if number else ''}" for site in SITES for number in range(PAGES)]
    draw = np.random.default_rng(5)
    demand = draw.permutation(1.0 / np.arange(1, len(urls) + 1))
    opened = draw.choice(len(urls), openings, p=demand / demand.sum()).tolist()
    beside = draw.choice(len(urls), (openings, 4)).tolist()
    asked = [
        Question(float(at), "", tuple(dict.fromkeys(urls[number] for number in (page, *others))), (urls[page],))
        for at, (page, others) in enumerate(zip(opened, beside, strict=True))
    ]
    run.directory.mkdir(exist_ok=True)
    UsageWriter(run.directory).add(asked)
    read = set[str]()
    for _ in range(4):
        limits = Limits(pages=FETCHES, seconds=3600)
        ran = run(Beside(calendar), SEEDS, limits, policy=Price(), polite=False, weight="learned", **FAST)
        order = [one.url for one in asked_for(ran)]
        assert sum(url.startswith(TRAP) for url in order) <= 0.15 * FETCHES
        read.update(order)
    assert read >= set(urls)


def test_a_busy_crawl_keeps_honest_sites_from_waiting_for_a_trap(run, monkeypatch):
    """Without a ceiling each host is asked as often as it answers; a crawl without a moment to spare thinks twice."""
    monkeypatch.setitem(globals(), "PAGES", 30)
    fast = FAST | {"rate_per_s": 0.0, "connections_per_host": 16}

    def share() -> float:
        """Return the trap's part of the fetches until each honest page was read."""
        limits = Limits(pages=3 * FETCHES, seconds=3600)
        ran = run(Beside(calendar), [*SEEDS, f"{TRAP}/"], limits, policy=Price(), polite=False, **fast)
        run.directory = run.directory.with_name("another")
        order = [asked.url for asked in asked_for(ran)]
        last = max(order.index(url) for url in set(order) if not url.startswith(TRAP))
        return sum(url.startswith(TRAP) for url in order[:last]) / last

    at_leisure = share()
    assert at_leisure < 0.1
    monkeypatch.setattr(MadeNetwork, "idle_s", 0.0)
    assert share() < at_leisure


def test_a_busy_crawl_thinks_twice_too_where_nothing_is_under_way(run, monkeypatch):
    """All that it asked for was answered by the time it looks; only where nothing better waits it takes the rest."""
    choose, asked = Frontier.choose, list[tuple[float, int]]()

    def noted(frontier: Frontier, now: float, most: int, least: float = -math.inf) -> Any:
        chosen = choose(frontier, now, most, least)
        asked.append((least, len(chosen)))
        return chosen

    monkeypatch.setattr(Frontier, "choose", noted)
    monkeypatch.setattr(MadeNetwork, "idle_s", 0.0)
    limits = Limits(pages=FETCHES, seconds=3600)
    run(Beside(calendar), [*SEEDS, f"{TRAP}/"], limits, policy=Price(), polite=False, connections=1, **FAST)
    begun = next(place for place, (least, _) in enumerate(asked) if least > -math.inf)
    pairs = itertools.pairwise(asked[begun:])
    assert all(before > -math.inf and not taken for (before, taken), (least, _) in pairs if least == -math.inf)
    assert sum(taken for least, taken in asked if least > -math.inf) > 0.5 * FETCHES


def test_a_trap_on_an_honest_site_does_not_keep_its_pages_waiting(run):
    """The calendar lies on the site itself: links of the front page, before those to all other pages."""

    class Within:
        def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
            if path == "/robots.txt":
                return Answer(404)
            if path == "/":
                return html("Home", text("home"), "/month/1", *(f"/p{number}" for number in range(1, 100)))
            return calendar(path, random.Random()) if path[1] in "md" else html(path, text(path), "/")

    ran = run(Within(), [f"{TRAP}/"], Limits(pages=130, seconds=3600), policy=Price(), polite=False, **FAST)
    order = [asked.url for asked in asked_for(ran)]
    pages = [order.index(f"{TRAP}/p{number}") for number in range(1, 100)]
    assert max(pages) < 130


@pytest.mark.parametrize("name", ["calendar", "sessions", "filters"])
def test_in_order_of_discovery_budgets_bound_it(run, name):
    ran = run(Beside(TRAPS[name]), SEEDS, Limits(pages=450, seconds=3600), polite=False, max_pages_per_link=20,
              max_backlog_per_host=50, **FAST)  # fmt: skip
    urls = run.outcomes()
    known = [url for url in urls if url.startswith(TRAP)]
    assert len(known) == 40  # one site links to it
    assert sum(outcome == Outcome.OK for url, (outcome, _) in urls.items() if not url.startswith(TRAP)) == 200
    assert ran.progress[-1].errors["max_pages_per_link"] > 40


def test_a_mirror_gains_next_to_nothing(run):
    """Every page of an honest site once more, under another name and with a line of its own; the first is a seed."""

    class Mirrored:
        def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
            if path == "/robots.txt":
                return Answer(404)
            number = int(path[2:])
            links = [f"/p{(number * 3 + i) % 40}" for i in range(4)]
            more = " with thanks to the original" if origin == TRAP else ""
            return html(f"Page {number}", text(number, 900) + more, *links)

    for site in (SITES[0], TRAP):
        limits = Limits(until_idle=True, seconds=3600)
        run(Mirrored(), [f"{site}/p1"], limits, polite=False, **FAST)
    partition = run.folded()
    state = partition.state
    rows = state.records.rows[: state.records.count]
    seed = rows["depth"] == 0
    mirror = (state.site_of[rows["host"]] == state.site_number("trap.example")) & ~seed
    assert np.count_nonzero(mirror) == 39
    flags = rows["flags"][mirror & ((rows["flags"] & NEAR) != 0)]
    assert len(flags) >= 0.8 * 39  # the line of its own moves a hash by about two bits, and now and then by four
    assert not np.any(flags & (MEMBER | FINDABLE))
    assert not np.any(rows["flags"][~mirror] & NEAR)
    partition.close()
    run.same()
