"""The site builds without a warning and asks no other host; its charts show the figures of the tables."""

import os
import re
import subprocess
import sys
from pathlib import Path

import charts
import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", sorted(charts.CHARTS))
def test_charts_show_what_the_tables_say(name):
    assert (charts.FOLDER / name).read_text("utf-8") == charts.CHARTS[name](), "run `make docs`"


def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path):
    pytest.importorskip("material", reason="no MkDocs Material; pip install -e '.[docs]'")
    pytest.importorskip("mkdocstrings", reason="no mkdocstrings; pip install -e '.[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", "distribution/site/mkdocs.yml"]
    bare = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run([*command, "--site-dir", str(tmp_path)], cwd=ROOT, env=bare, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    loads = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=[\"']?(?:https?:)?//[^>]*>")
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        assert not loads.findall(page.read_text("utf-8")), page
    styles = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.css"))
    assert not re.findall(r"url\(['\"]?(?:https?:)?//", styles)
    assert "evercrawl.library" in (tmp_path / "reference" / "library.html").read_text("utf-8")
