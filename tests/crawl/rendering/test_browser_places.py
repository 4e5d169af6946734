"""Which page gets a place in the browser, and how long it keeps it; the browser is made up, and so is the time."""

import asyncio
from types import SimpleNamespace

import pytest

from evercrawl.crawl.rendering import browser, fair_time
from evercrawl.crawl.rendering.browser import ChromiumPool
from evercrawl.crawl.rendering.browser_places import BrowserPlaces
from evercrawl.simulate.surroundings.clock import run_virtual


def turns(sites, places=2, alone=()):
    """Return the sites in the order in which they get places, which each holds for a second; all arrive at once."""
    order = []

    async def one(kept, number, site) -> None:
        async with kept.place(site, alone=number in alone):
            order.append(site)
            await asyncio.sleep(1.0)

    async def go() -> None:
        kept = BrowserPlaces(places)
        await asyncio.gather(*(one(kept, number, site) for number, site in enumerate(sites)))
        assert not any(kept.contested(site) for site in "abc")

    run_virtual(go())
    return "".join(order)


def test_sites_take_turns_however_many_pages_of_one_wait():
    assert turns("aaaaaabbc") == "aabcabaaa"
    assert turns("aaaab", places=1) == "abaaa"


def test_who_wants_all_places_has_its_turn_too():
    assert turns("abab", alone=(0,)) == "abab"
    assert turns("aabbb", alone=(1,)) == "ababb"


def test_one_page_of_a_site_has_a_place_while_pages_of_others_wait():
    async def go() -> None:
        kept, ends = BrowserPlaces(2), asyncio.Event()
        began = []

        async def one(site) -> None:
            async with kept.place(site):
                began.append(site)
                await ends.wait() if site == "evil" else await asyncio.sleep(1.0)

        evil = asyncio.ensure_future(one("evil"))
        await asyncio.sleep(0.1)
        others = [asyncio.ensure_future(one("evil")) for _ in range(5)]
        good = [asyncio.ensure_future(one("good")) for _ in range(5)]
        await asyncio.sleep(0.1)
        others[0].cancel()  # it has a place: nobody else waited when it came
        await asyncio.gather(*good)
        assert began == ["evil", "evil", *["good"] * 5, "evil"]
        others[2].cancel()  # it waits
        ends.set()
        await asyncio.gather(evil, *others, return_exceptions=True)
        assert began.count("evil") == 5

    run_virtual(go())


class MadePage:
    """A page whose requests take as long as `requests` says, and whose elements change for some time."""

    def __init__(self, requests, changes_s) -> None:
        self.context, self._requests, self._changes_s = self, requests, changes_s
        self._loop = asyncio.get_running_loop()
        self._began, self._tasks = self._loop.time(), []

    def on(self, event, does):
        if event == "load":
            does(self)

    async def route(self, _, answer):
        self._tasks = [asyncio.ensure_future(answer(lasts_s)) for lasts_s in self._requests]

    async def route_web_socket(self, _, __):
        """Have no sockets."""

    async def goto(self, _, **__: object):
        """Have nothing to load."""

    def is_closed(self):
        return False

    async def evaluate(self, script, most=0):
        return "the text" if "outerHTML" in script else str(min(self._loop.time() - self._began, self._changes_s))

    async def close(self):
        for task in self._tasks:
            task.cancel()


@pytest.fixture
def kept_s(monkeypatch):
    """Return a function that says how long a page has the only place, and whether it is read, while others wait."""
    monkeypatch.setattr(browser, "find_spec", lambda _: True)
    for module in (browser, fair_time):
        monkeypatch.setattr(module, "core_share", lambda: 1.0)

    def kept(requests, changes_s=0.0, other="http://good.example/") -> tuple[int, bool]:
        return run_virtual(read(requests, changes_s, other))

    async def read(requests, changes_s, other) -> tuple[int, bool]:
        loop, pages, pending = asyncio.get_running_loop(), [MadePage(requests, changes_s)], 0

        async def page(_) -> MadePage:
            return pages.pop(0) if pages else MadePage((), 0.0)

        async def close() -> None:
            """Have nothing to end."""

        async def begun(path, memory_bytes, pages) -> SimpleNamespace:
            return SimpleNamespace(page=page, alive=True, peak_bytes=0, ended=0, close=close)

        async def answer(lasts_s) -> None:
            nonlocal pending
            pending += 1
            try:
                await asyncio.sleep(lasts_s)
            finally:
                pending -= 1

        monkeypatch.setattr(browser.Chromium, "begun", begun)
        pool = ChromiumPool("x", "test", pages=1, time_s=15.0, memory_bytes=1, most_bytes=1)
        began = loop.time()
        first = asyncio.ensure_future(pool.rendered("http://evil.example/", answer, lambda: pending))
        await asyncio.sleep(0.01)
        second = asyncio.ensure_future(pool.rendered(other, answer, lambda: 0)) if other else None
        text = (await asyncio.gather(first, return_exceptions=True))[0]
        took_s = loop.time() - began
        if second is not None:
            assert await second == "the text"
        await pool.close()
        return round(took_s), text == "the text"

    return kept


@pytest.mark.parametrize(
    ("requests", "changes_s", "lasts_s"), [((900.0,), 0.0, 5), ((4.0, 900.0), 0.0, 9), ((900.0,), 7.0, 12)]
)
def test_a_page_that_only_waits_is_read_after_five_seconds_without_an_answer_or_a_change(
    kept_s, requests, changes_s, lasts_s
):
    took_s, read = kept_s(requests, changes_s)
    assert lasts_s <= took_s <= lasts_s + 1  # it is looked at each second
    assert read


@pytest.mark.parametrize("other", ["", "http://www.evil.example/"])
def test_it_keeps_its_place_while_no_page_of_another_site_waits(kept_s, other):
    assert kept_s((29.0,), other=other) == (30, True)
    assert kept_s((900.0,), other=other) == (61, False)
