"""pywb replays in a real browser what was archived: the archive is of use without this program.

The web is the demonstration's. It stands still during the first run; then much of it changes, and the second run asks
again for everything that was read. What changed has two captures then. What was sent again as it was has a capture and
a revisit record, which says no more than that. And what was answered with 304 has one capture in the index.
"""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from evercrawl.config import Config
from evercrawl.crawl import crawl
from evercrawl.parse.html import read
from evercrawl.progress import Limits
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.simulate.surroundings.loopback import NETWORK, LivingLoopback
from evercrawl.simulate.worlds.made_web import Answer

ROOT = Path(__file__).parents[2]
TOOLS = Path(os.environ.get("REPLAY_TESTS_TOOLS", ROOT / ".venv-replay"))
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""
SEED, HOSTS, PAGES, CYCLE_S = 3, 3, 30, 1.0
LATEST, IDLE = "2100", Limits(until_idle=True, seconds=600)

pytestmark = pytest.mark.browser


class Recording(LivingLoopback):
    """A server that remembers the pages it sent."""

    def __init__(self) -> None:
        super().__init__(self.still, HOSTS)
        self.sent: dict[str, list[bytes]] = defaultdict(list)

    @staticmethod
    def still(origins: tuple[str, ...]) -> LivingWeb:
        return LivingWeb(SEED, hosts=HOSTS, pages=PAGES, origins=origins, endless=False, still=True)

    def come_alive(self) -> None:
        """Let as much change as changes in a cycle."""
        self.living = LivingWeb(
            SEED, hosts=HOSTS, pages=PAGES, origins=self.living.origins, endless=False, cycle_s=CYCLE_S * 1000,
            began_at=time.time() - CYCLE_S * 1000,
        )  # fmt: skip

    def _answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        answer = super()._answer(origin, path, headers, at)
        if answer.status == 200:
            self.sent[origin + path].append(answer.body)
        return answer


@dataclass
class Archive:
    """What was sent, which URLs were answered with 304, and what the index beside the archive lists, by time."""

    folder: Path
    web: LivingWeb
    sent: dict[str, list[bytes]]
    unmodified: set[str]
    captures: dict[str, list[dict[str, str]]]

    def kind(self, url: str) -> str:
        """Return what became of a page between the runs: "changed", "same", "unmodified", or "" for what is none."""
        first, *rest = self.captures.get(url, [{"mime": ""}])
        if first["mime"] != "text/html" or first.get("status") != "200":
            return ""
        if rest:
            return "same" if rest[-1]["mime"] == "warc/revisit" else "changed"
        return "unmodified" if url in self.unmodified else ""

    def trail(self, *kinds: str) -> list[str]:
        """Return pages of these kinds, each of which links to the next, the last on another host."""
        trails = [[url] for url in self.captures if self.kind(url) == kinds[0]]
        for kind in kinds[1:]:
            trails = [[*t, url] for t in trails for url in self.web.links(t[-1]) if self.kind(url) == kind]
        return next(t for t in trails if len(set(t)) == len(t) and host_of(t[-1]) != host_of(t[-2]))


async def archived(directory: Path) -> Archive:
    """Crawl twice, and have it all told."""
    config = Config(delay_s=0.001, refresh_after_s=3600.0, allow_net=(NETWORK,))
    async with Recording() as server:
        await crawl(directory, config, server.seeds, IDLE)
        pages = list(server.sent)
        server.come_alive()
        await asyncio.sleep(1.1)  # the index counts in seconds, and so does whoever asks for a time
        known = [url for url in pages if not url.endswith("/robots.txt")]
        await crawl(directory, config, [], Limits(pages=len(known), seconds=60), only=known)
    captures = defaultdict[str, list[dict[str, str]]](list)
    for file in sorted((directory / "archive").glob("*.cdxj")):
        for line in file.read_text().splitlines():
            _, stamp, fields = line.split(" ", 2)
            captures[json.loads(fields)["url"]].append({"stamp": stamp, **json.loads(fields)})
    unmodified = {served.origin + served.path for served in server.log if served.status == 304}
    return Archive(directory / "archive", server.living, server.sent, unmodified, captures)


@pytest.fixture(scope="module")
def tools() -> Path:
    """Return where pywb and Playwright are; where something is missing, skip, or fail where CI has installed it all."""
    missing = [what for what, there in (("pywb and Playwright", (TOOLS / "ready").exists()), ("Chromium", CHROMIUM))
               if not there]  # fmt: skip
    if missing:
        say = pytest.fail if os.environ.get("REPLAY_TESTS") == "required" else pytest.skip
        say(f"{' and '.join(missing)} not installed here; `make replay` installs what is missing")
    return TOOLS / "bin"


@pytest.fixture(scope="module")
def archive(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return asyncio.run(archived(tmp_path_factory.mktemp("replay") / "crawl"))


@pytest.fixture(scope="module")
def wayback(archive: Archive, tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start pywb on the archive and its index as they are; the web itself is gone by now."""
    folder = tmp_path_factory.mktemp("wayback")
    paths = {"archive_paths": f"{archive.folder}/", "index_paths": f"{archive.folder}/"}
    (folder / "config.yaml").write_text(json.dumps({"collections": {"crawl": paths}}))  # JSON is YAML
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (folder / "log").open("w") as log:
        words = [tools / "wayback", "--port", str(port), "--bind", "127.0.0.1"]
        pywb = subprocess.Popen(words, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + 30
        while not listens(port):
            assert pywb.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < until, "pywb does not listen"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/crawl/"
    finally:
        pywb.terminate()
        pywb.wait(10)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def browse(wayback: str, tools: Path) -> Any:
    """Browse the archive as of a time: `browse(stamp, url, *links)` returns what was seen, page by page."""

    def go(stamp: str, url: str, *links: str) -> list[dict[str, str]]:
        words = [tools / "python", ROOT / "tests/live/browse.py", CHROMIUM, f"{wayback}{stamp}/{url}", *links]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert {urlsplit(asked).netloc for asked in told["asked"]} <= {urlsplit(wayback).netloc, ""}
        steps: list[dict[str, str]] = told["steps"]
        return steps

    return go


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""


def looks_like(seen: dict[str, str], url: str, body: bytes) -> None:
    """Hold what was seen against what the server sent."""
    page = read(body, url)
    assert seen["title"] == page.title
    assert seen["text"].split() == (page.text or "").split()
    assert seen["url"].endswith(f"mp_/{url}")


def test_three_pages_replay_as_they_were_sent_and_their_links_lead_from_one_to_the_next(archive, browse):
    trail = archive.trail("same", "changed", "unmodified")
    steps = browse(LATEST, *trail)
    assert len(steps) == 3
    for step, url in zip(steps, trail, strict=True):
        looks_like(step, url, archive.sent[url][-1])


def test_at_an_earlier_time_the_same_pages_replay_as_they_were_then(archive, browse):
    trail = archive.trail("changed", "changed", "changed")
    steps = browse(archive.captures[trail[0]][0]["stamp"], *trail)
    for step, url in zip(steps, trail, strict=True):
        looks_like(step, url, archive.sent[url][0])
    assert archive.sent[trail[0]][0] != archive.sent[trail[0]][-1]


def test_a_copy_of_another_page_replays_too(archive, browse):
    copy = next(url for url in archive.captures if urlsplit(url).path == "/print/1")
    (seen,) = browse(LATEST, copy)
    looks_like(seen, copy, archive.sent[copy][-1])


def test_a_redirect_replays_and_leads_where_it_led(archive, browse):
    hop = next(url for url in archive.captures if urlsplit(url).path == "/old/about")
    (target,) = archive.web.links(hop)
    (seen,) = browse(LATEST, hop)
    looks_like(seen, target, archive.sent[target][-1])


def test_what_was_never_archived_is_not_found(archive, browse):
    front = archive.web.seeds[0]
    _, seen = browse(LATEST, front, "/login")
    assert "could not be found" in seen["text"]


def test_all_that_the_index_lists_can_be_had(archive, wayback):
    listed = {(url, each["stamp"]) for url, all_of in archive.captures.items() for each in all_of}
    for url, stamp in listed:
        if url in archive.sent and not url.endswith("/robots.txt"):
            with urlopen(f"{wayback}{stamp}id_/{url}", timeout=10) as answer:
                assert answer.read() in archive.sent[url]
