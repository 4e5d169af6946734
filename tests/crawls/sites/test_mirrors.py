"""Hosts that say what another says: few of their pages are read, and all of the originals."""

import random
from functools import cache

import pytest
from soak import in_soak

from evercrawl.progress import Limits
from evercrawl.schedule.policies.price.price import Price
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.store.table.known import KnownLog

ORIGINAL, MIRROR, LIST = "http://original.example", "http://mirror.example", "http://list.example"
PAGES, OWN, LISTED = 200, 20, 8
FAST = {"scope": "any", "delay_s": 0, "connections_per_ip": 64, "connections_per_host": 64, "rate_per_s": 10.0,
        "refresh_after_s": 30.0}  # fmt: skip


class Mirrored:
    """Two hundred pages on two hosts, those of one with a line of its own if it is told; it may stop to be a mirror.

    Some pages are on the mirror alone. A third site lists the pages of both.
    """

    def __init__(self, line: str = "", ends_at: float = float("inf")) -> None:
        self.line, self.ends_at = line, ends_at

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        if path == "/robots.txt":
            return Answer(404)
        if origin == LIST:
            number = 0 if path == "/" else int(path.removeprefix("/l"))
            paths = [f"/p{i}" for i in range(1, PAGES) if i % LISTED == number] + [f"/own{i}" for i in range(OWN)]
            links = [
                f"{one}{path}" for path in paths for one in (ORIGINAL, MIRROR) if "own" not in path or one == MIRROR
            ]
            return self.page(f"List {number}", self.words(path), f"/l{(number + 1) % LISTED}", *links)
        if path.startswith("/own"):
            return self.page(f"Own {path}", self.words(path), "/")
        number = 0 if path == "/" else int(path.removeprefix("/p"))
        draw = random.Random(number)
        links = [f"/p{i}" for i in (3 * number + 1, 3 * number + 2, 3 * number + 3) if i < PAGES]
        links += [f"/p{draw.randrange(1, PAGES)}" for _ in range(3)]
        mirrored = origin == MIRROR and at < self.ends_at
        said = self.words(f"{number}") if mirrored or origin == ORIGINAL else self.words(f"other {number}")
        return self.page(f"Page {number}", said + (self.line if origin == MIRROR else ""), "/", *links)

    @staticmethod
    @cache
    def words(of: str) -> str:
        draw = random.Random(of)
        return " ".join("".join(draw.choices("aeioubcdfghjklmnprstvw", k=6)) for _ in range(400))

    @staticmethod
    def page(title: str, words: str, *links: str) -> Answer:
        anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
        return Answer(
            200, {"Content-Type": "text/html"}, f"<title>{title}</title><p>{words}</p>{anchors}".encode()
        )  # fmt: skip


SEEDS = [f"{LIST}/l{i}" for i in range(LISTED)] + [f"{ORIGINAL}/"]


def crawled(run, web: Mirrored, pages: int = 470, **more: object):
    return run(web, SEEDS, Limits(pages=pages, seconds=3600), policy=Price(), polite=False, **FAST, **more)


def read(ran, origin: str) -> set[str]:
    return {asked.url for asked in ran.network.log if asked.url.startswith(origin) and asked.status == 200}


@pytest.mark.parametrize("line", ["", " with thanks"])
def test_a_mirror_costs_a_fifth_of_its_pages_and_all_originals_are_read(run, line):
    """By another secret of the crawl the line costs some pages more or less, in most crawls a tenth."""
    ran = crawled(run, Mirrored(line), seed=2)
    copies = {url for url in read(ran, MIRROR) if "/own" not in url}
    assert len(read(ran, ORIGINAL)) == PAGES
    assert 0 < len(copies) <= 0.2 * PAGES
    assert len(read(ran, MIRROR) - copies) == OWN


def test_without_the_defence_it_costs_all_of_them(run):
    assert len(read(crawled(run, Mirrored(), spare_mirrors=False), MIRROR)) > 0.9 * PAGES


def test_a_host_that_stops_being_a_mirror_is_noticed(run):
    ran = crawled(run, Mirrored(ends_at=run.now + 17.0), pages=740)
    assert len(read(ran, MIRROR)) > 0.9 * (PAGES + OWN)


def test_in_order_of_discovery_it_is_spared_too_and_the_crawl_comes_to_an_end(run):
    ran = run(Mirrored(), SEEDS, Limits(until_idle=True, seconds=3600), polite=False, **FAST)
    assert ran.summary.reason == "idle"
    assert len(read(ran, ORIGINAL)) == PAGES
    assert len({url for url in read(ran, MIRROR) if "/own" not in url}) <= 0.2 * PAGES
    run.same()


def test_no_column_of_all_urls_is_read_from_the_file_while_it_runs(run, monkeypatch):
    for name in ("columns", "hosts"):
        whole = getattr(KnownLog, name)
        monkeypatch.setattr(KnownLog, name, lambda log, whole=whole: whole(log) if log.held else pytest.fail("all"))
    assert len(read(crawled(run, Mirrored(), pages=120), MIRROR)) > 10


class FalseMirrored(Mirrored):
    """The host that is met first copies thirty pages of the other, and then wants to be left alone, or says nothing."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how, self.served = how, 0

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        said = super().answer(
            MIRROR if origin == ORIGINAL else ORIGINAL if origin == MIRROR else origin, path, headers, at
        )
        if origin == ORIGINAL and path != "/robots.txt":
            self.served += 1
            if self.served > 30:
                return {
                    "429": Answer(429, {"Retry-After": "86400"}),
                    "503": Answer(503),
                    "404": Answer(404),
                    "other": self.page("Gone", self.words(path + "elsewhere")),
                }[self.how]
        return said


@pytest.mark.parametrize("how", ["429", "other", *in_soak("503", "404")])
def test_who_copies_some_pages_and_falls_silent_keeps_nobody_from_the_site(run, how):
    ran = crawled(run, FalseMirrored(how), pages=600)
    assert len(read(ran, MIRROR)) >= 0.9 * (PAGES + OWN)
