"""The bare loop that one would write in an afternoon: aiohttp, selectolax and uvloop, and nothing kept but a set.

Usage: aiohttp_peer.py SEEDS_FILE SCOPE_REGEX
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from pathlib import Path
from urllib.parse import urljoin

import aiohttp
import uvloop
from selectolax.lexbor import LexborHTMLParser
from yarl import URL

SEEDS, SCOPE = Path(sys.argv[1]).read_text().split(), re.compile(sys.argv[2])
WORKERS, PER_HOST = 64, 16


class Loop:
    """Fetch, parse, follow; each URL once."""

    def __init__(self) -> None:
        self.seen = set(SEEDS)
        self.todo = asyncio.Queue[str]()

    async def crawl(self) -> None:
        """Go on until there is nothing left."""
        for url in SEEDS:
            self.todo.put_nowait(url)
        connector = aiohttp.TCPConnector(limit=0, limit_per_host=PER_HOST)
        cookies, headers = aiohttp.DummyCookieJar(), {"Accept-Encoding": "gzip"}
        async with aiohttp.ClientSession(connector=connector, cookie_jar=cookies, headers=headers) as session:
            workers = [asyncio.create_task(self.work(session)) for _ in range(WORKERS)]
            await self.todo.join()
            for worker in workers:
                worker.cancel()

    async def work(self, session: aiohttp.ClientSession) -> None:
        """Take one URL after the other."""
        while True:
            url = await self.todo.get()
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with session.get(URL(url, encoded=True)) as answer:
                    body = await answer.read()
                    if answer.status == 200 and answer.content_type == "text/html":
                        self.follow(str(answer.url), body)
            self.todo.task_done()

    def follow(self, url: str, body: bytes) -> None:
        """Queue what a page links to and nobody has seen."""
        page = LexborHTMLParser(body)
        base = page.css_first("base[href]")
        if base is not None:
            url = urljoin(url, base.attributes["href"] or "")
        hrefs = {(link.attributes["href"] or "").partition("#")[0].strip() for link in page.css("a[href], area[href]")}
        for href in hrefs:
            with contextlib.suppress(ValueError):
                target = urljoin(url, href)
                if target not in self.seen and SCOPE.search(target):
                    self.seen.add(target)
                    self.todo.put_nowait(target)


async def main() -> None:
    """Crawl."""
    await Loop().crawl()


uvloop.run(main())
