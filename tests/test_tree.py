"""What is kept in the repository: sources, and nothing that a crawl or an experiment leaves behind."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {".ci", "bench", "docs", "evercrawl", "tests", "typings"}
FILES = {".gitignore", "CHANGELOG.md", "LICENSE", "Makefile", "README.md", "pyproject.toml"}


def test_nothing_else_is_kept_beside_the_rooms_that_are_known():
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout")
    kept = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert kept
    assert {path.partition("/")[0] for path in kept} <= ROOMS | FILES
