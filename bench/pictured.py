"""Photograph the server's pages in a headless Chromium: python pictured.py CHROMIUM LINK FOLDER; see screenshots.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STILL = {"dashboard": "/dashboard", "plan": "/plan", "lab": "/lab?graph=scale-free&step=240&show=estimate"}
SIZE = {"width": 1100, "height": 760}
BEGINS_MS, FRAMES, BETWEEN_MS = 25_000, 16, 200


def photographed(browser: Browser, link: str, folder: Path) -> dict[str, list[str]]:
    """Save a picture of each page, and some of the dashboard one after the other; return their names."""
    root = link.partition("/#")[0]
    with browser.new_context(base_url=root, viewport=SIZE, color_scheme="light") as tab:
        page = tab.new_page()
        page.goto(link)
        page.wait_for_timeout(BEGINS_MS)  # until there is something to see
        top = tab.request.get("/api/v1/pages?limit=3").json()["pages"][2]["url"]
        words = tab.request.get(f"/api/v1/content?url={quote(top, safe='')}").text().partition("<p>")[2].split()
        paths = STILL | {"page": f"/page?url={quote(top, safe='')}", "search": f"/?q={quote(longest(words))}"}
        for name, path in paths.items():
            page.goto(path)
            page.locator("#state:not(:empty)").wait_for()
            if name == "plan":
                page.locator("#found:not([hidden])").wait_for()
            page.wait_for_timeout(3000)
            page.screenshot(path=folder / f"{name}.png")
    moving = [f"moving-{number:02}" for number in range(FRAMES)]
    with browser.new_context(base_url=root, viewport=SIZE, color_scheme="dark") as tab:
        page = tab.new_page()
        page.goto(link.replace("/#", "/dashboard#", 1))
        page.wait_for_timeout(2500)
        for name in moving:
            page.screenshot(path=folder / f"{name}.png")
            page.wait_for_timeout(BETWEEN_MS)
    return {"still": sorted(paths), "moving": moving}


def longest(words: list[str]) -> str:
    """Return the longest of some words."""
    return max((word for word in words[:60] if word.isalpha()), key=len, default="people")


def main() -> None:
    """Photograph all of them."""
    from playwright.sync_api import sync_playwright

    chromium, link, folder = sys.argv[1:]
    with sync_playwright() as playwright:
        options = ["--headless=new", "--no-sandbox"]  # root, as in most containers, gets no sandbox
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        names = photographed(browser, link, Path(folder))
        browser.close()
    json.dump(names, sys.stdout)


if __name__ == "__main__":
    main()
