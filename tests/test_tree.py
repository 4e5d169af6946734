"""What is kept in the repository, and how: folders that can be read at a glance, imports without circles."""

import subprocess
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {".ci", "bench", "deploy", "distribution", "docs", "evercrawl", "tests", "typings"}
MOST_FILES = 26
OWN_FOLDER = 4
FILES = {
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "MANIFEST.in",
    "Makefile",
    "README.md",
    "pyproject.toml",
}


def test_nothing_else_is_kept_beside_the_rooms_that_are_known():
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout")
    kept = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert kept
    assert {path.partition("/")[0] for path in kept} <= ROOMS | FILES


def modules() -> list[Path]:
    return [path for path in (ROOT / "evercrawl").rglob("*.py") if "__pycache__" not in path.parts]


def test_no_folder_is_crowded():
    by_folder = Counter(path.parent for path in modules() if path.name != "__init__.py")
    assert {str(folder): count for folder, count in by_folder.items() if count > MOST_FILES} == {}


def test_what_shares_a_prefix_has_a_folder_of_its_own():
    prefixes = Counter(
        (path.parent, path.stem.lstrip("_").partition("_")[0]) for path in modules() if path.name != "__init__.py"
    )
    assert [f"{folder}/{prefix}_*" for (folder, prefix), count in prefixes.items() if count >= OWN_FOLDER] == []


def test_no_folder_is_empty():
    packages = {path.parent for path in modules()}
    assert [
        str(folder) for folder in packages if not any(path.name != "__init__.py" for path in folder.rglob("*.py"))
    ] == []


def test_imports_make_no_circle():
    graph = grimp.build_graph("evercrawl", cache_dir=None)
    order = TopologicalSorter({one: graph.find_modules_directly_imported_by(one) - {one} for one in graph.modules})
    order.prepare()  # CycleError names the files of a circle
