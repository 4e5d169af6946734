"""The lab and the plan in a real browser: by keys in a narrow dark window, and by pointer."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hand_made import HandMade

ROOT = Path(__file__).parents[2]
TOOLS = Path(os.environ.get("REPLAY_TESTS_TOOLS", ROOT / ".venv-replay"))
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""

pytestmark = pytest.mark.browser


@pytest.fixture
def python() -> Path:
    """Return the interpreter that has Playwright; where it is missing, skip, or fail where CI has installed it."""
    if not CHROMIUM or not (TOOLS / "ready").exists():
        say = pytest.fail if os.environ.get("REPLAY_TESTS") == "required" else pytest.skip
        say("Playwright or Chromium not installed here; `make replay` installs what is missing")
    return TOOLS / "bin" / "python"


def test_the_lab_plays_and_is_drawn_in_and_the_plan_has_a_slider(python, tmp_path):
    made = HandMade(tmp_path / "crawl")
    made.seed("https://a.example/", "https://b.example/")
    made.visit("https://a.example/", made.page("Tea", "https://b.example/", text="all about tea"))
    made.visit("https://b.example/", made.page("Ships", text="all about ships"))
    made.save()
    made.stop()
    words = [sys.executable, "-m", "evercrawl", "serve", "--dir", str(made.directory), "--port", "0", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            assert server.stdout is not None
            origin = json.loads(server.stdout.readline())["link"].partition("/#")[0]
            use = [python, ROOT / "tests/live/use_lab.py", CHROMIUM, origin]
            done = subprocess.run(use, capture_output=True, text=True, timeout=120, check=False)
        finally:
            server.terminate()
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["troubles"] == []
    keys = found["keys"]
    assert (keys["pages"], keys["wide"]) == (24, False)
    assert keys["stepped"].startswith("Visit 4: the virtual page moves ")
    assert keys["flashes"] == 1
    assert keys["back"].startswith("Visit 3: ")
    assert (keys["speed"], keys["paused"]) == ("4 a second", "Play")
    assert (keys["linked"], keys["again"], keys["same"]) == (1, 24, True)
    pointer = found["pointer"]
    assert (pointer["edges"], pointer["rows"]) == (1, 10)
    assert pointer["points"] >= 3
    assert len(set(pointer["plan"])) == 2, "the slider moves"
