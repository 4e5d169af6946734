"""Look at a crawl in a headless Chromium; print what its pages cost, as JSON: python painted.py CHROMIUM LINK."""

from __future__ import annotations

import gzip
import json
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PATHS = ("/", "/dashboard", "/sites", "/politeness", "/changes", "/plan", "/lab", "/controls")
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
SIZES = "() => performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation')).reduce((sum, each) => sum + each.transferSize, 0)"  # noqa: E501
FRAMES_S = 4.0


def looked(browser: Browser, link: str) -> dict[str, Any]:
    """Return what each page costs, in a profile of its own."""
    root = link.partition("/#")[0]
    found: dict[str, Any] = {"paint_ms": {}, "kib": {}}
    scripts: dict[str, int] = {}
    with browser.new_context(base_url=root) as tab:
        top = tab.request.get("/api/v1/pages?limit=1").json()["pages"][0]["url"]
    for path in (*PATHS, f"/page?url={quote(top, safe='')}"):
        with browser.new_context(base_url=root, viewport={"width": 1280, "height": 800}) as tab:
            page = tab.new_page()
            page.on(
                "response",
                lambda response: (
                    scripts.update({response.url: len(gzip.compress(response.body(), 9))})
                    if response.url.partition("?")[0].endswith(".js")
                    else None
                ),
            )
            page.goto(link.replace("/#", f"{path}#", 1))
            page.locator("#state:not(:empty)").wait_for()
            page.wait_for_timeout(700)
            name = path.partition("?")[0]
            found["paint_ms"][name] = page.evaluate(PAINT)
            found["kib"][name] = page.evaluate(SIZES) / 1024
            if path == "/dashboard":
                drawn = page.locator("#map[data-frames]")
                before = int(drawn.get_attribute("data-frames") or 0)
                page.wait_for_timeout(1000 * FRAMES_S)
                found["frames_per_s"] = (int(drawn.get_attribute("data-frames") or 0) - before) / FRAMES_S
    return found | {"scripts_kib": sum(scripts.values()) / 1024}


def main() -> None:
    """Look at all of them."""
    from playwright.sync_api import sync_playwright

    chromium, link = sys.argv[1:]
    with sync_playwright() as playwright:
        options = ["--headless=new", "--no-sandbox"]  # root, as in most containers, gets no sandbox
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        found = looked(browser, link)
        browser.close()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
