"""ReplayWeb.page over an archive: its npm package, the archive as WACZ and a page that shows one URL, on localhost.

The package is what `npm pack replaywebpage` makes: a file of which `ui.js` and `sw.js` are served, with the range
requests and from the secure context that its service worker wants.
"""

from __future__ import annotations

import asyncio
import shutil
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from evercrawl.ask.export import wacz
from evercrawl.model.stored.reader import opened

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

ARCHIVE: Final = "crawl.wacz"
FILES: Final = {"package/ui.js": "ui.js", "package/sw.js": "replay/sw.js"}
PAGE: Final = f"""<!doctype html><meta charset=utf-8><style>
html, body, replay-web-page {{ margin: 0; width: 100vw; height: 100vh; display: block; overflow: hidden }}
</style><script src=ui.js></script><body><script>
const shown = document.createElement("replay-web-page");
for (const [name, value] of Object.entries({{source: "/{ARCHIVE}", embed: "replayonly", replaybase: "/replay/",
    coll: "crawl", url: new URLSearchParams(location.search).get("url")}})) shown.setAttribute(name, value);
document.body.append(shown);
</script>
"""
SHOWN_S: Final = 60.0


@contextmanager
def playing(directory: Path, package: Path, folder: Path) -> Iterator[str]:
    """Serve a crawl to ReplayWeb.page; yield what stands before the URLs.

    Parameters
    ----------
    directory, package
        Of the crawl; the npm package, as a file.
    folder
        Where what is served is put.
    """
    site = folder / "player"
    (site / "replay").mkdir(parents=True)
    with tarfile.open(package) as files:
        for name, place in FILES.items():
            taken = files.extractfile(name)
            assert taken is not None, f"{package} has no {name}"
            with (site / place).open("wb") as file:
                shutil.copyfileobj(taken, file)
    (site / "index.html").write_text(PAGE)
    crawl = opened(directory)
    wacz.write(crawl, site / ARCHIVE)
    crawl.close()
    app = Starlette(routes=[Mount("/", StaticFiles(directory=site, html=True))])
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + SHOWN_S
        while not server.started and time.monotonic() < until:
            time.sleep(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://localhost:{port}/?url="
    finally:
        server.should_exit = True
        thread.join(10)


async def played(browser: Browser, view: Any, url: str) -> Page:
    """Return a browser's page in which the player shows a page of the archive, loaded."""
    page = await browser.new_page(viewport=view)
    await page.goto(url, wait_until="load", timeout=60_000)
    until = time.monotonic() + SHOWN_S
    while time.monotonic() < until:
        for frame in page.frames:
            if "mp_/" in frame.url:
                await frame.wait_for_load_state("load", timeout=60_000)
                return page
        await asyncio.sleep(0.1)
    raise TimeoutError(f"ReplayWeb.page does not show {url}")
