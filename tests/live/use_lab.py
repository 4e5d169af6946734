"""Use the lab and the plan in a headless Chromium, by keys and by pointer, and print what is to be seen, as JSON.

    python use_lab.py CHROMIUM ORIGIN

A program of its own because Playwright is installed beside pywb, not beside the project.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGE, EDGE = "#web .page", "#web .edge"


def scrolls_sideways(page: Page) -> bool:
    """Whether the page is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def by_keys(page: Page, origin: str) -> dict[str, Any]:
    """Step, play and draw with keys."""
    seen: dict[str, Any] = {}
    page.goto(f"{origin}/lab?graph=scale-free&order=greedy&virtual=link")
    page.wait_for_selector(PAGE)
    seen["pages"], seen["wide"] = page.locator(PAGE).count(), scrolls_sideways(page)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    seen["stepped"], seen["flashes"] = page.inner_text("#told"), page.locator("#web .hidden-page.visited").count()
    page.keyboard.press("ArrowLeft")
    seen["back"] = page.inner_text("#told")
    page.keyboard.press("+")
    seen["speed"] = page.inner_text("#speed")
    page.keyboard.press(" ")
    page.wait_for_selector("#told:not(:has-text('Visit 3:'))")
    page.keyboard.press(" ")
    seen["paused"] = page.inner_text("#play")
    page.locator(PAGE).first.focus()
    page.keyboard.press("+")
    page.wait_for_selector(f"{PAGE}[data-page='24']")
    before = page.locator(EDGE).count()
    for key in ("l", "ArrowRight", "ArrowRight", "ArrowRight", "l"):
        page.keyboard.press(key)
    page.wait_for_selector(f"{EDGE} >> nth={before}", state="attached")
    seen["linked"] = page.locator(EDGE).count() - before
    page.keyboard.press("Delete")
    page.wait_for_selector(f"{PAGE}[data-page='24']", state="detached")
    address = page.url
    page.goto(address)
    page.wait_for_selector(PAGE)
    seen["again"], seen["same"] = page.locator(PAGE).count(), page.url == address
    return seen


def by_pointer(page: Page, origin: str) -> dict[str, Any]:
    """Draw a link and a page with the pointer; then plan."""
    page.goto(f"{origin}/lab")
    page.wait_for_selector(PAGE)
    edges = page.locator(EDGE).count()
    places = [page.locator(f"{PAGE} circle").nth(i).bounding_box() for i in (0, 8)]
    (x, y), (to_x, to_y) = ((p["x"] + p["width"] / 2, p["y"] + p["height"] / 2) for p in places if p)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move((x + to_x) / 2, (y + to_y) / 2)
    page.mouse.move(to_x, to_y)
    page.mouse.up()
    page.wait_for_selector(f"{EDGE} >> nth={edges}", state="attached")
    page.mouse.dblclick(x + 75, y + 75)
    page.wait_for_selector(f"{PAGE}[data-page='9']")
    seen = {"edges": page.locator(EDGE).count() - edges, "rows": page.locator("#pages tr").count()}
    page.goto(f"{origin}/plan")
    page.wait_for_selector("#found:not([hidden])")
    first = page.inner_text("#here")
    page.locator("#budget").focus()
    page.keyboard.press("End")
    return seen | {"plan": [first, page.inner_text("#here")], "points": page.locator("#points tr").count()}


def main() -> None:
    """Use them as the command line says."""
    from playwright.sync_api import sync_playwright

    chromium, origin = sys.argv[1:]
    with sync_playwright() as playwright:
        options = ["--headless=new", "--no-sandbox"]  # root, as in most containers, gets no sandbox
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        troubles: list[str] = []
        found: list[dict[str, Any]] = []
        small = {"viewport": {"width": 320, "height": 700}, "color_scheme": "dark", "reduced_motion": "reduce"}
        large = {"viewport": {"width": 1280, "height": 900}}
        for use, window in ((by_keys, small), (by_pointer, large)):
            page = browser.new_context(**window).new_page()  # type: ignore[arg-type]
            page.set_default_timeout(20_000)
            page.on("pageerror", lambda error: troubles.append(str(error)))
            page.on("console", lambda told: troubles.append(told.text) if told.type == "error" else None)
            found.append(use(page, origin))
        browser.close()
    json.dump({"keys": found[0], "pointer": found[1], "troubles": troubles}, sys.stdout)


if __name__ == "__main__":
    main()
