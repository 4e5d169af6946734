"""A site with many pages for the browser leaves other sites their pages in it; the browser is made up, and is slow."""

import asyncio

import pytest

from evercrawl.crawl.rendering import rendering
from evercrawl.crawl.rendering.browser_places import BrowserPlaces
from evercrawl.crawl.rendering.rendering import MOST_OF_SITE
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname
from evercrawl.progress import Limits

EVIL, GOOD = "http://{}.evil.example", "http://good.example"
SHELL = "<script src=/app.js></script>"
BUILT = f"<p>{'words that scripts wrote ' * 9}</p>"


class SlowPool:
    """Two places; pages of the evil site keep theirs for 5 s, others for one."""

    peak_bytes = ended = 0

    def __init__(self) -> None:
        self.front = {}
        self.places, self.urls, self.waiting, self.most = BrowserPlaces(2), [], [], 0

    async def rendered(self, url, answer, pending) -> str:
        site = found_site(hostname(url))
        self.waiting.append(site)
        self.most = max(self.most, self.waiting.count("evil.example"))
        try:
            async with self.places.place(site):
                self.urls.append(url)
                await asyncio.sleep(5.0 if "evil" in url else 1.0)
                return self.front.get(url, BUILT)
        finally:
            self.waiting.remove(site)

    async def close(self) -> None:
        """Have nothing to end."""


@pytest.mark.parametrize("mode", ["auto", "always"])
def test_pages_of_a_site_that_wait_for_the_browser_keep_those_of_no_other_from_it(run, monkeypatch, mode):
    pool = SlowPool()
    monkeypatch.setattr(rendering, "ChromiumPool", lambda *_, **__: pool)
    world = run.World()
    for origin in (EVIL.format("a"), EVIL.format("b"), GOOD):
        urls = [f"{origin}/{number}" for number in range(20)]
        world.pages |= {url: run.html(text=f"of {url}", head=SHELL) for url in urls}
        world.pages[f"{origin}/"] = run.html(*urls, text="long enough " * 100)
        pool.front[f"{origin}/"] = world.pages[f"{origin}/"].body.decode()
    run(world, [EVIL.format("a") + "/", EVIL.format("b") + "/", GOOD + "/"], Limits(seconds=100), render=mode,
              sitemaps=False, probe_share=0.0, delay_s=1.0, robots=":memory:", connections=30)  # fmt: skip
    good = [url for url in pool.urls if url.startswith(GOOD)]
    assert len(good) == 20 + (mode == "always")
    assert pool.most <= MOST_OF_SITE + 2 * (mode == "always")  # as many may be under way
