"""A replay by pywb looks as the page did: styles, pictures, fonts and what scripts build, compared pixel by pixel."""

import asyncio
import os
import runpy
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import Answer

LONG = Limits(until_idle=True, seconds=200)
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.browser

STYLE = b"""@import "/more.css"; @font-face { font-family: drawn; src: url(/font.ttf) }
body { background: url('/stripes.svg'); font: 30px drawn, monospace }"""
MORE = (
    b"p { background: url(tile.svg) repeat-x; height: 90px } #built div { height: 60px; margin: 6px; background: teal }"
)
SCRIPT = b"""for (let i = 0; i < count; i++) document.querySelector('#built').append(document.createElement('div'));"""
PAGE = """<html><head><title>t</title><link rel=stylesheet href=/a.css></head><body><h1>Shown as it was</h1><p>words</p>
<img src=/small.svg srcset="/large.svg 2x" width=200 height=100><section id=built></section>
<script src=/count.js></script><script src=/build.js></script></body></html>"""


def drawing(colour: str) -> Answer:
    shapes = f"<rect width='40' height='20' fill='{colour}'/><circle cx='30' cy='30' r='9' fill='gold'/>"
    body = f"<svg xmlns='http://www.w3.org/2000/svg' width='60' height='60'>{shapes}</svg>".encode()
    return Answer(200, {"Content-Type": "image/svg+xml"}, body)


def kept(kind: str, body: bytes) -> Answer:
    return Answer(200, {"Content-Type": kind}, body)


def font() -> bytes:
    import matplotlib as mpl

    return (Path(mpl.get_data_path()) / "fonts/ttf/cmr10.ttf").read_bytes()


@pytest.fixture
def bench(monkeypatch) -> SimpleNamespace:
    """Return the benchmark that does the same with real pages."""
    there = (ROOT / ".venv-replay/ready").exists() and (shutil.which("chromium") or shutil.which("google-chrome"))
    if not there:
        say = pytest.fail if os.environ.get("REPLAY_TESTS") == "required" else pytest.skip
        say("pywb, Playwright or Chromium is not installed here; `make replay` installs what is missing")
    monkeypatch.syspath_prepend(ROOT / "bench")
    return SimpleNamespace(**runpy.run_path(str(ROOT / "bench/replayed.py")))


def test_a_replay_looks_as_the_page_did(live, bench, tmp_path):
    async def go() -> dict[bool, float]:
        shares = {}
        async with live.Server() as server:
            server.extra |= {
                "/": kept("text/html", PAGE.encode()), "/a.css": kept("text/css", STYLE),
                "/more.css": kept("text/css", MORE), "/font.ttf": kept("font/ttf", font()),
                "/build.js": kept("text/javascript", SCRIPT),
                "/count.js": kept("text/javascript", b"window.count = 4;"),
                "/stripes.svg": drawing("navy"), "/tile.svg": drawing("crimson"), "/small.svg": drawing("green"),
                "/large.svg": drawing("black"),
            }  # fmt: skip
            url = f"{server.web.origins[0]}/"
            for requisites in (True, False):
                live.directory = tmp_path / f"crawl-{requisites}"
                await live.crawl([url], LONG, requisites=requisites, probe_share=0.0, refresh_after_s=1000.0)
                live.verified()
                folder = tmp_path / f"shots-{requisites}"
                folder.mkdir()
                with bench.replaying(live.directory / "archive", folder) as replay:
                    shares[requisites] = (await bench.compared([url], replay, folder))[url]
        return shares

    shares = asyncio.run(go())
    assert shares[True] <= bench.TOLERANCE
    assert shares[False] > 0.1  # the comparison tells pages from bare ones
