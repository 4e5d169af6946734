"""Look at a crawl in a headless Chromium, as somebody who has the link would, and print what was seen, as JSON.

    python look.py CHROMIUM LINK BELL SEED STRANGE

BELL is a page that never answers twice the same; SEED is a URL that the crawl does not know;
STRANGE has code that is not to run. A program of its own
because Playwright is installed beside pywb, not beside the project.
"""

from __future__ import annotations

import json
import re
import sys
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

PATHS = ("/", "/?q=strange", "/dashboard", "/sites", "/politeness", "/changes", "/plan", "/lab", "/controls")
FRAMES_S = 3.0
OWNED = "() => document.querySelectorAll('[data-owned]').length + (globalThis.owned ? 1 : 0)"


class Looking:
    """A browser that notes what pages complain of, and whom they ask.

    Attributes
    ----------
    seen
        What was seen, by name.
    """

    def __init__(self, browser: Browser, link: str, bell: str, seed: str) -> None:
        self.browser, self.link, self.bell, self.unknown = browser, link, bell, seed
        self.root = link.partition("/#")[0]
        self.page_path = f"/page?url={quote(bell, safe='')}"
        self.seen: dict[str, Any] = {"complaints": [], "asked": set(), "owned": {}, "serious": [], "looked_at": 0}

    def context(self, **options: Any) -> BrowserContext:
        """Return a new browser profile."""
        made = self.browser.new_context(base_url=self.root, **options)
        made.set_default_timeout(30_000)
        made.on("request", lambda request: self.seen["asked"].add(request.url))
        made.on(
            "dialog", lambda dialog: (self.seen["complaints"].append(f"dialog: {dialog.message}"), dialog.dismiss())
        )
        made.on("weberror", lambda error: self.seen["complaints"].append(str(error.error)))
        made.on(
            "console",
            lambda said: (
                said.type in ("error", "warning")
                and self.seen["complaints"].append(f"{said.location['url']}: {said.text}")
            ),
        )
        return made

    def without_scripts(self) -> None:
        """Search as a browser without scripts does."""
        with self.context(java_script_enabled=False) as plain:
            page = plain.new_page()
            page.goto("/")
            page.locator("#find").fill("strange")
            page.locator("#find").press("Enter")
            page.wait_for_url("**/?q=strange")
            self.seen["plain_hits"] = page.locator(".hits li").count()
            self.seen["plain_titles"] = page.locator(".hits h2").all_inner_texts()

    def without_token(self) -> None:
        """Look at what a tab without the token may do."""
        with self.context() as stranger:
            page = stranger.new_page()
            page.goto("/controls")
            page.locator("#locked").wait_for()
            self.seen["locked"] = page.locator("#orders button").first.is_disabled()
            page.goto("/?q=strange")
            page.locator("#state:not(:empty)").wait_for()
            self.seen["checks_without_token"] = page.locator("[data-check]:visible").count()

    def with_token(self) -> None:
        """Open the link, and go through the pages."""
        with self.context(viewport={"width": 1280, "height": 800}) as own:
            page = own.new_page()
            page.goto(self.link)
            page.locator("#state:not(:empty)").wait_for()
            self.seen["token_kept"] = bool(page.evaluate("() => sessionStorage.getItem('evercrawl-token')"))
            self.seen["fragment_left"] = page.evaluate("() => location.hash")
            self._search(page)
            self._box(page)
            self._dashboard(page)
            self._page(page)
            self._changes(page)
            self._controls(page)
            for path in (*PATHS, self.page_path):
                page.goto(path)
                page.locator("#state:not(:empty)").wait_for()
                self.seen["owned"][path] = page.evaluate(OWNED)

    def _search(self, page: Page) -> None:
        page.keyboard.press("/")
        page.keyboard.type("bell")
        page.keyboard.press("Enter")
        began = time.monotonic()
        page.locator(f'[data-check="{self.bell}"]').click()
        page.locator("output").filter(has_text=re.compile("(done|refused|waits|failed): ")).wait_for()
        self.seen["check_s"] = time.monotonic() - began
        self.seen["check"] = page.locator("output").inner_text()

    def _box(self, page: Page) -> None:
        """Have the box suggest words, and another spelling; narrow what is found; see it fade."""
        page.goto("/")
        page.locator("#find").press_sequentially("stran")
        page.locator("#suggested option").first.wait_for(state="attached")
        self.seen["suggested"] = page.locator("#suggested option").first.get_attribute("value")
        page.goto("/?q=strnage")
        page.get_by_text("Did you mean").get_by_role("link").click()
        page.wait_for_url("**/?q=strange")
        page.locator(".still").first.wait_for()
        self.seen["seen_ago"] = page.locator(".hits time").first.inner_text()
        page.wait_for_function(
            "before => document.querySelector('.hits time').textContent !== before", arg=self.seen["seen_ago"]
        )
        page.locator("main").click(position={"x": 1, "y": 1})
        page.keyboard.press("?")
        page.locator("#help[open]").wait_for()
        self.seen["help"] = page.locator("#help dd").all_inner_texts()
        page.keyboard.press("Escape")

    def opened(self) -> None:
        """Open a hit as somebody does, and see that the server is told; the page itself is not asked for."""
        with self.browser.new_context(base_url=self.root) as tab:
            page = tab.new_page()
            page.route(lambda url: not url.startswith(self.root), lambda route: route.abort())
            page.goto("/?q=bell")
            page.locator("#state:not(:empty)").wait_for()
            before = self._recorded(tab)
            page.locator(f'a[data-url="{self.bell}"]').click(no_wait_after=True)
            until = time.monotonic() + 20.0
            while self._recorded(tab) == before and time.monotonic() < until:
                time.sleep(0.1)
            self.seen["told"] = self._recorded(tab) > before
            found = tab.request.get(f"/api/v1/why?url={quote(self.bell, safe='')}").json()
            self.seen["appointments"] = found["appointment"]

    @staticmethod
    def _recorded(tab: BrowserContext) -> float:
        """Return how many retrievals and clicks the server has on disk."""
        figures = tab.request.get("/metrics").text()
        return float(re.findall(r"evercrawl_usage_recorded_total ([\d.]+)", figures)[0])

    def _dashboard(self, page: Page) -> None:
        page.goto("/?q=bell")
        page.locator("main").click(position={"x": 1, "y": 1})
        page.keyboard.press("g")
        page.keyboard.press("d")
        page.wait_for_url("**/dashboard")
        drawn = page.locator("#map[data-frames]")
        frames, began = int(drawn.get_attribute("data-frames") or 0), time.monotonic()
        page.wait_for_timeout(1000 * FRAMES_S)
        more, took_s = int(drawn.get_attribute("data-frames") or 0), time.monotonic() - began
        self.seen["frames_per_s"] = (more - frames) / took_s
        self.seen["map"] = page.locator("#map-caption").inner_text()
        self.seen["state"] = page.locator("#state").inner_text()
        page.locator("#recent tr").first.wait_for()
        page.locator("#next tr").first.wait_for()
        self.seen["owned"]["dashboard, shown"] = page.evaluate(OWNED)

    def _page(self, page: Page) -> None:
        page.goto(self.page_path)
        due = page.get_by_text("Next visit at").or_(page.get_by_text("It is due:"))
        due.wait_for()
        self.seen["appointment"] = due.inner_text()
        page.locator("#versions tr").nth(1).wait_for()
        page.locator("#diff ins").first.wait_for()
        page.locator("#rise path.error").wait_for()
        page.locator("#belief path.under").wait_for()
        page.locator("#timeline circle.changed").first.wait_for(state="attached")
        self.seen["page_diff"] = page.locator("#diff").inner_text()
        self.seen["owned"]["page, shown"] = page.evaluate(OWNED)

    def _changes(self, page: Page) -> None:
        page.goto("/changes")
        page.locator(".diff ins").first.wait_for()
        self.seen["came"] = page.locator("#changes ins").count()
        self.seen["went"] = page.locator("#changes del").count()
        self.seen["owned"]["changes, shown"] = page.evaluate(OWNED)

    def _controls(self, page: Page) -> None:
        page.goto("/controls")
        said = page.locator("#said")
        for do in ("pause", "resume"):
            page.locator(f'form[data-do="{do}"] button').click()
            said.filter(has_text=f"{do}: done").wait_for()
            if do == "pause":
                page.locator("#paused").filter(has_text="Paused for").wait_for()
        page.locator('form[data-do="seed"] input').fill(self.unknown)
        page.locator('form[data-do="seed"] button').click()
        said.filter(has_text="seed: done").wait_for()
        page.locator("#log tr").filter(has_text=self.unknown).wait_for()
        self.seen["steered"] = True

    def copies(self, url: str) -> None:
        """Look at an archived copy that would ask the server, were it let."""
        with self.browser.new_context(base_url=self.root) as tab:
            page = tab.new_page()
            asked = list[str]()
            page.on("request", lambda request: asked.append(request.url))
            page.goto(f"/api/v1/content?url={quote(url, safe='')}")
            page.wait_for_timeout(300)
            self.seen["copy"] = {"text": page.locator("body").inner_text(), "asked": len(asked), "title": page.title()}

    def accessible(self) -> None:
        """Have axe-core look at every page, dark and light, on a phone and a desk."""
        from axe_playwright_python.sync_playwright import Axe

        axe = Axe()
        for scheme in ("light", "dark"):
            with self.context(color_scheme=scheme) as own:
                page = own.new_page()
                page.goto(self.link)
                for path in (*PATHS, self.page_path):
                    page.goto(path)
                    page.locator("#state:not(:empty)").wait_for()
                    for width in (320, 1280):
                        page.set_viewport_size({"width": width, "height": 800})
                        found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
                        self.seen["looked_at"] += 1
                        wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
                        where = f"{path} {scheme} {width}"
                        self.seen["serious"] += [
                            f"{where}: {each['id']}: {each['nodes'][0]['html'][:200]}"
                            for each in found
                            if each["impact"] in ("serious", "critical")
                        ] + ([f"{where}: {wide} px too wide"] if wide > 0 else [])


def main() -> None:
    """Look at all of it."""
    from playwright.sync_api import sync_playwright

    chromium, link, bell, seed, strange = sys.argv[1:]
    with sync_playwright() as playwright:
        options = ["--headless=new", "--no-sandbox"]  # root, as in most containers, gets no sandbox
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        looking = Looking(browser, link, bell, seed)
        took = {}
        for step in (looking.without_scripts, looking.without_token, looking.with_token, looking.accessible):
            began = time.monotonic()
            step()
            took[step.__name__] = round(time.monotonic() - began, 1)
        looking.copies(strange)
        looking.opened()
        browser.close()
    json.dump(looking.seen | {"asked": sorted(looking.seen["asked"]), "took_s": took}, sys.stdout)


if __name__ == "__main__":
    main()
