"""The commands of tutorial, recipes and README do what they say: each is run, against a site on loopback."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from file_site import file_site

ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "docs" / "recipes").glob("*.md"))
PAGES = [ROOT / "docs" / "TUTORIAL.md", *(path for path in RECIPES if path.name != "index.md"), ROOT / "README.md"]
EXAMPLE = "https://docs.example.org/"
COUNT = 60


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Serve pages that link to each other; return the address."""
    folder = tmp_path_factory.mktemp("site")
    names = ["index.html", "a.html", *(f"p{n}.html" for n in range(COUNT))]
    for number, name in enumerate(names):
        links = "".join(
            f'<a href="{to}">welcome to {to}</a>' for to in (names[(number + 1) % len(names)], names[number // 2])
        )
        text = f"Welcome to page {number}, which says {'once ' * (number % 7)} more."
        (folder / name).write_text(f"<html><title>{name}</title><body><p>{text}</p>{links}</body></html>")

    with file_site(folder) as address:
        yield address


@pytest.mark.parametrize("page", PAGES, ids=[path.stem for path in PAGES])
def test_commands_do_what_they_say(page, site, tmp_path):
    text = page.read_text("utf-8").replace(EXAMPLE, site)
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks, "no commands"
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "evercrawl").write_text(f'#!/bin/sh\nexec {sys.executable} -m evercrawl "$@"\n')
    (tools / "evercrawl").chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    bare = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    settings = {"EVERCRAWL_ALLOW_NET": "127.0.0.0/8", "EVERCRAWL_DELAY_S": "0", "EVERCRAWL_WORKERS": "0"}
    paths = {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    for kind, block in blocks:
        block = block.replace("PYTHONPATH=.", f"PYTHONPATH=.:{ROOT}")
        command = [sys.executable, "-c", block] if kind == "python" else ["bash", "-euo", "pipefail", "-c", block]
        done = subprocess.run(
            command, cwd=work, env={**bare, **settings, **paths}, capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, f"{block}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
