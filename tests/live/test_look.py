"""The crawl in a real browser: pages move, obey and complain of nothing, and what strangers wrote stays text."""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from evercrawl.config import Config
from evercrawl.crawl import crawl
from evercrawl.progress import Limits
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.simulate.surroundings.loopback import NETWORK, LivingLoopback
from evercrawl.simulate.worlds.made_web import Answer

ROOT = Path(__file__).parents[2]
TOOLS = Path(os.environ.get("REPLAY_TESTS_TOOLS", ROOT / ".venv-replay"))
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""
PAGES, HOSTS, MOST_S, FRAMES_PER_S = 400, 5, 300.0, 30.0
BELL, UNKNOWN, COPY = "/bell", "/unknown-until-told", "/strange/0"
OWNED = "<b data-owned=1>bold</b>"
CORPUS = (
    f"<script>globalThis.owned=1;fetch('/api/v1/status');document.title='taken'</script>{OWNED}",
    f"<img src=x onerror=globalThis.owned=1>{OWNED}",
    f"</title></textarea></script><svg onload=globalThis.owned=1>{OWNED}",
    f"\"><iframe srcdoc='<script>parent.owned=1</script>'></iframe>{OWNED}",
    f"' onmouseover='globalThis.owned=1' {OWNED}",
    f"{{{{7*7}}}} ${{globalThis.owned=1}} {OWNED}",
    f"<a href='javascript:globalThis.owned=1'>x</a>{OWNED}",
    f"<meta http-equiv=refresh content='0;url=//elsewhere.example/'>{OWNED}",
    f"<form action=/api/v1/orders method=post><input autofocus onfocus=globalThis.owned=1></form>{OWNED}",
    f"\u202e<math><mi//xlink:href=\"data:x,<script>globalThis.owned=1</script>\">{OWNED}",
)  # fmt: skip

pytestmark = pytest.mark.browser


class Strange(LivingLoopback):
    """A living web with pages whose titles, addresses and words are meant for the browser of who looks at them."""

    def __init__(self) -> None:
        at = time.time()
        super().__init__(
            lambda origins: LivingWeb(7, hosts=HOSTS, pages=PAGES, cycle_s=5.0, origins=origins, began_at=at), HOSTS
        )
        self.rings = 0

    def _answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        if path == BELL:
            self.rings += 1
            return self._html(
                "the bell", f"the bell has rung {'again ' * (self.rings % 7)}number{self.rings} {CORPUS[1]}"
            )
        if path.startswith("/strange/"):
            words = CORPUS[int(path.split("/")[2])]
            return self._html(words, f"strange words {words} {'word ' * (int(at) % 5)}")
        if path == UNKNOWN:
            return self._html("told", "told of")
        return super()._answer(origin, path, headers, at)

    @staticmethod
    def _html(title: str, text: str) -> Answer:
        escaped = title.replace("&", "&amp;").replace("<", "&lt;")
        shown = text.replace("&", "&amp;").replace("<", "&lt;")
        body = f"<html><title>{escaped}</title><p>{shown}</p>{text}</html>"
        return Answer(200, {"Content-Type": "text/html; charset=utf-8"}, body.encode())


class Shown:
    """A crawl in a thread, with the server beside it as a process, until it is closed."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.strange = directory, Strange()
        self.origin, self.known = "", threading.Event()
        self._end: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._crawl()))
        self._thread.start()
        assert self.known.wait(60), "nothing is crawled"
        self._server = subprocess.Popen(
            [sys.executable, "-m", "evercrawl", "serve", "--dir", directory, "--port", "0", "--json"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._server.stdout is not None
        self.link: str = json.loads(self._server.stdout.readline())["link"]
        self._await("search?q=bell", "the bell")
        self._await("search?q=strange", "strange words")

    def _await(self, path: str, text: str) -> None:
        """Wait until an answer has a text: what was read is searchable a little later."""
        until = time.monotonic() + 60.0
        while time.monotonic() < until:
            ask = urllib.request.Request(f"{self.link.partition('/#')[0]}/api/v1/{path}")
            with contextlib.suppress(OSError), urllib.request.urlopen(ask, timeout=10) as answer:
                if text in answer.read().decode():
                    return
            time.sleep(0.2)
        raise AssertionError(f"{path} has no {text!r}")

    async def _crawl(self) -> None:
        config = Config(delay_s=0.01, rate_per_s=40.0, refresh_after_s=0.0, allow_net=(NETWORK,), policy="price")
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        self._end = lambda: None if loop.is_closed() else loop.call_soon_threadsafe(stop.set)
        async with self.strange as server:
            self.origin = server.seeds[0].rstrip("/")
            odd = [f"{self.origin}/strange/{i}/%22%3E%3Cb%20data-owned=1%3E'" for i in range(len(CORPUS))]
            seeds = [*server.seeds, self.origin + BELL, self.origin + COPY, *odd]

            def watch(state: Any) -> None:
                if sum(state.outcomes.values() if state.outcomes else ()) > 100:
                    self.known.set()

            await crawl(self.directory, config, seeds, Limits(seconds=MOST_S), watch, stop)

    def close(self) -> None:
        """End both."""
        self._server.terminate()
        self._server.communicate(timeout=10)
        self._end()
        self._thread.join(30)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    if os.environ.get("LOOK_TESTS") != "required":
        pytest.skip("`make look` runs it")
    missing = [
        what for what, there in (("Playwright", (TOOLS / "ready").exists()), ("Chromium", CHROMIUM)) if not there
    ]
    if missing:
        pytest.fail(f"{' and '.join(missing)} not installed here; `make replay` installs what is missing")
    made = Shown(tmp_path_factory.mktemp("look") / "crawl")
    yield made
    made.close()


@pytest.fixture(scope="module")
def seen(shown: Shown) -> dict[str, Any]:
    """Return what a browser saw, once for all tests."""
    origin = shown.origin
    words = [TOOLS / "bin/python", ROOT / "tests/live/look.py", CHROMIUM, shown.link]
    words += [origin + BELL, origin + UNKNOWN, origin + COPY]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_search_works_without_scripts(seen):
    assert seen["plain_hits"] == 10
    assert any("<script>" in title for title in seen["plain_titles"]), "as text"


def test_without_the_token_nothing_can_be_changed_and_the_link_gives_it_to_the_tab_alone(seen):
    assert seen["locked"]
    assert seen["checks_without_token"] == 0
    assert seen["token_kept"]
    assert seen["fragment_left"] == ""


def test_check_now_asks_the_page_and_says_what_was_found(seen):
    assert seen["check"].startswith("done: "), seen["check"]
    assert seen["check_s"] < 5.0


def test_the_box_suggests_and_corrects_and_what_is_found_fades(seen):
    assert seen["suggested"] == "strange"
    assert seen["seen_ago"].endswith(" ago")
    assert "Controls" in seen["help"]


def test_opening_a_hit_is_recorded(seen, shown):
    assert seen["told"]
    lines = (shown.directory / "usage.jsonl").read_text().splitlines()
    assert any(shown.origin + BELL in json.loads(line).get("clicked", []) for line in lines)


def test_visits_come_when_they_were_announced(seen):
    """In four of five cases within the interval that was told; here, where ten processes share two cores, nearly so."""
    told = seen["appointments"]
    assert told["judged"] >= 20, told
    assert 0.5 <= told["kept"] <= 0.97, told


def test_the_map_moves(seen):
    assert seen["frames_per_s"] >= FRAMES_PER_S / 3, "30 where nothing else runs"
    assert "pages of" in seen["map"]
    assert seen["state"].startswith("running")


def test_a_page_tells_its_next_visit_and_what_changed(seen):
    assert seen["appointment"]
    assert "number" in seen["page_diff"]
    assert seen["came"] > 0
    assert seen["went"] > 0


def test_controls_reach_the_crawl(seen, shown):
    assert seen["steered"]
    assert UNKNOWN in {served.path for served in shown.strange.log}


def test_nothing_is_complained_of_and_no_other_host_is_asked(seen, shown):
    assert seen["complaints"] == []
    assert {urlsplit(url).netloc for url in seen["asked"]} == {urlsplit(shown.link).netloc}


def test_what_strangers_wrote_is_text_on_every_page(seen):
    assert len(seen["owned"]) == 13
    assert set(seen["owned"].values()) == {0}, seen["owned"]


def test_an_archived_copy_runs_nothing_and_asks_nobody(seen):
    assert "strange words" in seen["copy"]["text"]
    assert seen["copy"]["asked"] == 1, "itself alone"
    assert seen["copy"]["title"] != "taken"


def test_axe_finds_nothing_serious(seen):
    assert seen["looked_at"] == 40
    assert seen["serious"] == []
