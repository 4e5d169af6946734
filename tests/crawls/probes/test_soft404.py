"""Hosts that answer dead paths with pages: found out by asking, politely, for a path that cannot exist."""

import random
import re
from collections.abc import Callable

from evercrawl.crawl.probes.soft404_book import MOST_FOLDERS
from evercrawl.parse.urls import path_query
from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.store.journal.events import NEAR
from evercrawl.types import Outcome

SITE = "http://shop.example"
PROBE = re.compile(r"/[a-z]{16}(\.[a-z]+)?$")
DEAD = [f"/{name}" for name in ("goats", "bees", "sheep", "geese", "ducks", "cows", "pigs", "hens")]
REAL = [f"/real/{number}" for number in range(6)]


def text(name: object, words: int = 150) -> str:
    draw = random.Random(str(name))
    return " ".join(f"w{draw.randrange(4000)}" for _ in range(words))


MENU = text("menu", 600)


class Shop:
    """Real pages under a long menu, and for all else what `otherwise` says."""

    def __init__(self, otherwise: Callable[[str, float], Answer], real: list[str] = REAL) -> None:
        self.otherwise, self.real = otherwise, real

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        if path == "/robots.txt":
            return Answer(404)
        if path == "/":
            return page("Shop", "welcome", *self.real, *DEAD)
        if path in self.real:
            return page("Shop", f"only here: {text(path, 4)}")
        return self.otherwise(path, at)


def page(title: str, body: str, *links: str, status: int = 200) -> Answer:
    anchors = "".join(f"<a href='{link}'></a>" for link in links)
    html = f"<html><title>{title}</title><nav>{MENU}</nav><p>{body}</p>{anchors}</html>"
    return Answer(status, {"Content-Type": "text/html"}, html.encode())


def outcomes(run) -> dict[str, str]:
    return {path_query(url): Outcome(outcome).label for url, (outcome, _) in run.outcomes().items() if outcome}


def probes(ran) -> list[str]:
    return [asked.url for asked in ran.network.log if PROBE.search(asked.url)]


A_WHILE = Limits(seconds=300)
AGAIN = {"refresh_after_s": 40.0}


def test_dead_paths_are_gone_and_real_pages_are_not(run):
    ran = run(
        Shop(lambda path, at: page("Shop", f"sorry, {path} is no more, at {at:.0f}")), [f"{SITE}/"], A_WHILE, **AGAIN
    )
    found = outcomes(run)
    assert {path: found[path] for path in ["/", *REAL]} == dict.fromkeys(["/", *REAL], "ok")
    assert {path: found[path] for path in DEAD} == dict.fromkeys(DEAD, "gone")
    assert len(probes(ran)) == 4  # in the folder of the pages that look alike, and at the root
    gone = [event for event in ran.visits if event.outcome == Outcome.GONE]
    assert {event.error for event in gone} == {"soft 404: it says what a path that cannot exist says"}
    assert all(event.status == 200 and event.archive is not None and not event.targets for event in gone)
    run.same()


def test_the_rest_of_the_host_holds_for_what_is_asked_beside_its_pages(run):
    ran = run(
        Shop(lambda path, _: page("Shop", f"sorry, {path} is no more")), [f"{SITE}/"], A_WHILE, **AGAIN, delay_s=5
    )
    assert probes(ran)
    assert min(ran.manners.gaps["shop.example"]) >= 5 - 1e-6


def test_an_honest_host_is_asked_once_and_nothing_is_judged(run):
    copies = [f"/p{number}" for number in range(6)]
    world = Shop(lambda path, _: page("Shop", "the same") if path in copies else Answer(404), [*REAL, *copies])
    world.real, links = REAL, [*REAL, *copies]
    front = page("Shop", "welcome", *links)
    answer = world.answer
    world.answer = lambda origin, path, *rest: front if path == "/" else answer(origin, path, *rest)  # type: ignore[method-assign]
    ran = run(world, [f"{SITE}/"], A_WHILE, **AGAIN)
    assert len(probes(ran)) == 2  # one of each folder
    assert {outcomes(run)[path] for path in copies} == {"ok", "duplicate"}


def test_robots_txt_is_obeyed(run):
    shop = Shop(lambda path, _: page("Shop", f"sorry, {path} is no more"))
    answer, rules = shop.answer, Answer(200, {}, b"User-agent: *\nDisallow: /\n" + b"".join(
        f"Allow: {path}$\n".encode() for path in ["/", *REAL, *DEAD]))  # fmt: skip
    shop.answer = lambda origin, path, *rest: rules if path == "/robots.txt" else answer(origin, path, *rest)  # type: ignore[method-assign]
    ran = run(shop, [f"{SITE}/"], A_WHILE, **AGAIN)
    assert not probes(ran)
    assert outcomes(run)[DEAD[0]] == "ok"


def test_paths_that_lead_where_dead_ones_lead_are_gone(run):
    ran = run(Shop(lambda path, _: Answer(302, {"Location": f"/?from={path}"})), [f"{SITE}/"], A_WHILE, **AGAIN)
    assert probes(ran)
    led = Shop(lambda path, _: Answer(302, {"Location": "/sorry"}) if path != "/sorry" else page("Shop", "sorry"))
    run.directory = run.directory.with_name("other")
    run(led, [f"{SITE}/"], A_WHILE, **AGAIN)
    found = outcomes(run)
    assert {found[path] for path in DEAD} == {"gone"}
    assert found.get("/sorry", "ok") == "ok"  # if it was found before
    assert {found[path] for path in REAL} == {"ok"}


def test_a_site_that_moved_as_a_whole_is_not_gone(run):
    moved = Shop(lambda path, _: Answer(301, {"Location": f"http://new.example{path}"}))
    answer = moved.answer
    moved.answer = lambda origin, path, *rest: (  # type: ignore[method-assign]
        page("New", text(path)) if origin == "http://new.example" else answer(origin, path, *rest)
    )
    run(moved, [f"{SITE}/"], A_WHILE, **AGAIN, scope="any")
    found = {url: Outcome(outcome).label for url, (outcome, _) in run.outcomes().items()}
    assert {found[SITE + path] for path in DEAD} == {"redirect"}
    assert {found[f"http://new.example{path}"] for path in DEAD} == {"ok"}


def test_a_host_that_says_one_thing_at_every_address_keeps_its_front_page_and_its_seeds(run):
    class Parked:
        def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
            return Answer(404) if path == "/robots.txt" else page("Parked", "for sale", *DEAD)

    run(Parked(), [f"{SITE}/", f"{SITE}/seed"], A_WHILE, **AGAIN)
    found = outcomes(run)
    assert {found[path] for path in DEAD} == {"gone"}
    assert sorted([found["/"], found["/seed"]]) == ["duplicate", "ok"]


def test_what_was_held_before_the_host_was_found_out_goes_at_its_next_visit(run):
    ran = run(Shop(lambda path, _: page("Shop", f"sorry, {path} is no more"), []), [f"{SITE}/"], A_WHILE, **AGAIN)
    held = {event.slot for event in ran.visits if event.outcome == Outcome.OK and event.flags & NEAR == 0}
    gone = {event.slot for event in ran.visits if event.outcome == Outcome.GONE}
    assert len(gone) == len(DEAD)
    assert held & gone


def test_a_host_is_asked_in_a_few_folders_whatever_it_makes_up(run):
    """Paths that grow without end: every page lies in a folder of its own."""

    class Growing:
        def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
            return Answer(404) if path == "/robots.txt" else page("Loop", "round and round", f"{path}a/", f"{path}b/")

    ran = run(Growing(), [f"{SITE}/"], Limits(seconds=200, pages=100), **AGAIN)
    assert 0 < len(probes(ran)) <= 2 * (MOST_FOLDERS + 1)


def test_who_has_a_folder_of_a_host_judges_no_page_of_others(run):
    """Below their folder, three pages look alike, and paths that cannot exist have as many words as honest pages."""
    draw = random.Random(3)

    class Shared:
        def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
            if path == "/":
                alike = [f"/~evil/{size}/{number}" for size in (60, 400) for number in range(4)]
                return page("Shared", "welcome", *alike, *[f"/~good/{number}" for number in range(40)])
            if path.startswith("/~evil/"):
                size = int(path.split("/")[2])
                words = "one" if path[-1].isdigit() else " ".join(f"{draw.randrange(10**9):x}" for _ in range(size))
                return Answer(200, {"Content-Type": "text/html"}, f"<title>E</title><p>{words}".encode())
            number = path.removeprefix("/~good/")
            if not number.isdigit():
                return Answer(404)
            return Answer(
                200, {"Content-Type": "text/html"}, f"<title>G</title>{text(path, 20 * int(number))}".encode()
            )

    ran = run(Shared(), [f"{SITE}/"], Limits(seconds=600), **AGAIN)
    assert probes(ran)
    found = outcomes(run)
    assert {found[f"/~good/{number}"] for number in range(1, 40)} == {"ok"}
