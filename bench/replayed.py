"""How a replay looks beside the page: screenshots of the live page and of a replay, compared pixel by pixel.

    .ci/replay && python bench/replayed.py CORPUS [--sites 20] [--without] [--render]
    npm pack replaywebpage && python bench/replayed.py CORPUS --player replaywebpage-2.4.6.tgz

CORPUS is a script that serves a corpus on loopback and prints its seeds (called as `CORPUS FOLDER bench`), or a file of
URLs of sites that are served already. One page of each site is crawled with its requisites, then shown by Chromium
from the server and from pywb, or from ReplayWeb.page where its npm package is given. A pixel differs where a channel is
more than 16 of 255 away; a page is shown as it was where at most two in a thousand differ. With `--without`, requisites
are not fetched: what the comparison can tell.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from PIL import Image
from player import played, playing

from evercrawl.config import Config
from evercrawl.crawl import crawl
from evercrawl.progress import Limits

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / ".venv-replay" / "bin"
AWAY, TOLERANCE = 16, 0.002
NETWORK = "127.0.0.0/8"
VIEW: Any = {"width": 1024, "height": 768}
LOOKS, LOOK_MS = 10, 700
FRAME = "iframe#replay_iframe"
WHOLE = (
    f"{FRAME} {{position: fixed; inset: 0; width: 100vw !important; height: 100vh !important; z-index: 9999; "
    "background: white}"
)


def main() -> None:
    """Crawl, replay, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--folder", type=Path, help="where the corpus is unpacked; by default a temporary one")
    parser.add_argument("--sites", type=int, default=20)
    parser.add_argument("--without", action="store_true", help="do not fetch requisites")
    parser.add_argument("--render", action="store_true", help="have pages read in a browser, for what scripts name")
    parser.add_argument("--player", type=Path, help="show replays by ReplayWeb.page: the file of its npm package")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        seeds = one_a_site(served(args.corpus, args.folder or folder / "corpus"))[: args.sites]
        archived(folder / "crawl", seeds, requisites=not args.without, render="always" if args.render else "never")
        if args.player is not None:
            with playing(folder / "crawl", args.player, folder) as player:
                found = asyncio.run(compared(seeds, player, folder, by_player=True))
        else:
            with replaying(folder / "crawl" / "archive", folder) as replay:
                found = asyncio.run(compared(seeds, replay, folder))
    equal = sum(share <= TOLERANCE for share in found.values())
    how = "without" if args.without else "with"
    print(
        f"{equal} of {len(found)} sites shown as they are, {how} requisites: {TOLERANCE:.1%} of pixels differ at most"
    )


def served(corpus: Path, folder: Path) -> list[str]:
    """Return the URLs of the corpus, served."""
    if corpus.suffix != ".sh":
        return corpus.read_text().split()
    done = subprocess.run(["bash", corpus, folder, "bench"], capture_output=True, text=True, check=True)
    return re.findall(r"^http://\S+$", done.stdout, re.MULTILINE)


def one_a_site(urls: list[str]) -> list[str]:
    """Return the first URL of each host."""
    first: dict[str, str] = {}
    for url in urls:
        first.setdefault(urlsplit(url).netloc, url)
    return list(first.values())


def archived(directory: Path, seeds: list[str], *, requisites: bool, render: str = "never") -> None:
    """Crawl the pages, and nothing else but what they need."""
    alone = tuple(f"^{re.escape(url)}$" for url in seeds)
    config = Config(
        delay_s=0.005,
        allow_net=(NETWORK,),
        include=alone,
        requisites=requisites,
        render=render,
        sitemaps=False,
        connections_per_ip=4,
    )
    summary = asyncio.run(crawl(directory, config, seeds, Limits(until_idle=True, seconds=400)))
    print(f"{summary.visits} pages in {summary.elapsed_s:.0f} s")


@contextmanager
def replaying(archive: Path, folder: Path) -> Iterator[str]:
    """Have pywb replay an archive; yield what stands before the URLs."""
    paths = {"archive_paths": f"{archive}/", "index_paths": f"{archive}/"}
    (folder / "config.yaml").write_text(json.dumps({"collections": {"crawl": paths}}))  # JSON is YAML
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (folder / "log").open("w") as log:
        words = [TOOLS / "wayback", "--port", str(port), "--bind", "127.0.0.1"]
        pywb = subprocess.Popen(words, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + 60
        while not listens(port) and time.monotonic() < until:
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/crawl/2100/"
    finally:
        pywb.terminate()
        pywb.wait(10)


def listens(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def compared(urls: list[str], replay: str, folder: Path, *, by_player: bool = False) -> dict[str, float]:
    """Return the share of pixels of each page that the replay shows otherwise, of pywb or of the player."""
    from playwright.async_api import async_playwright

    path = shutil.which("chromium") or shutil.which("google-chrome")
    found = {}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for number, url in enumerate(urls):
            shots = [folder / f"{number}-{name}.png" for name in ("live", "replay")]
            shots[0].write_bytes(await shown(browser, url))
            shots[1].write_bytes(await (shown_by_player if by_player else shown_by_pywb)(browser, replay + url))
            found[url] = difference(*shots)
            print(f"{found[url]:9.5f}  {url}", flush=True)
        await browser.close()
    return found


async def shown(browser: Browser, url: str) -> bytes:
    """Return a picture of a page."""
    page = await browser.new_page(viewport=VIEW)
    await page.goto(url, wait_until="load", timeout=60_000)
    await page.locator("body").wait_for(timeout=60_000)
    return await pictured(page)


async def shown_by_pywb(browser: Browser, url: str) -> bytes:
    """Return a picture of what pywb's frame shows."""
    page = await browser.new_page(viewport=VIEW)
    await page.goto(url, wait_until="load", timeout=60_000)
    await page.frame_locator(FRAME).locator("body").wait_for(timeout=60_000)
    await page.add_style_tag(content=WHOLE)
    return await pictured(page)


async def shown_by_player(browser: Browser, url: str) -> bytes:
    """Return a picture of what ReplayWeb.page shows."""
    return await pictured(await played(browser, VIEW, url))


async def pictured(page: Page) -> bytes:
    """Return a picture of a page once it stays as it is, and close the page."""
    before = b""
    for _ in range(LOOKS):
        await page.wait_for_timeout(LOOK_MS)
        seen = await page.screenshot(animations="disabled", caret="hide", timeout=60_000)
        if seen == before:
            break
        before = seen
    await page.close()
    return before


def difference(one: Path, other: Path) -> float:
    """Return the share of pixels in which two pictures differ."""
    pictures = [np.asarray(Image.open(each).convert("RGB"), np.int16) for each in (one, other)]
    if pictures[0].shape != pictures[1].shape:
        return 1.0
    return float(np.mean(np.abs(pictures[0] - pictures[1]).max(axis=2) > AWAY))


if __name__ == "__main__":
    main()
