"""Open a page in a headless Chromium, click from link to link, and print what is to be seen at each step, as JSON.

    python browse.py CHROMIUM URL [TEXT-OF-LINK ...]

A program of its own because Playwright is installed beside pywb, not beside the project. The pages are read in pywb's
inner frame, where replayed pages live.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Page

FRAME = "replay_iframe"


def replayed(page: Page) -> Frame:
    """Return the inner frame once it has a page."""
    page.wait_for_selector(f"iframe#{FRAME}")
    frame = page.frame(FRAME)
    assert frame is not None
    frame.wait_for_selector("body")
    frame.wait_for_load_state("load")
    return frame


def seen(page: Page) -> dict[str, str]:
    """Return what somebody who looks at the page sees."""
    frame = replayed(page)
    return {"address": page.url, "url": frame.url, "title": frame.title(), "text": frame.inner_text("body")}


def main() -> None:
    """Browse as the command line says."""
    from playwright.sync_api import sync_playwright

    chromium, url, *links = sys.argv[1:]
    with sync_playwright() as playwright:
        options = ["--headless=new", "--no-sandbox"]  # root, as in most containers, gets no sandbox
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page()
        page.set_default_timeout(20_000)
        asked: set[str] = set()
        page.on("request", lambda request: asked.add(request.url))
        page.goto(url)
        steps = [seen(page)]
        for link in links:
            frame = replayed(page)
            with page.expect_event("framenavigated", lambda moved: moved.name == FRAME):
                frame.get_by_role("link", name=link, exact=True).first.click()
            steps.append(seen(page))
        browser.close()
    json.dump({"steps": steps, "asked": sorted(asked)}, sys.stdout)


if __name__ == "__main__":
    main()
