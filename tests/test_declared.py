"""What the package imports is what it asks to be installed."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def _imported() -> set[str]:
    """Return the top-level names that any file of the package imports, at whatever depth."""
    names: set[str] = set()
    for path in (ROOT / "evercrawl").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"evercrawl"}


def test_every_library_that_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {_plain(re.split(r"[^\w.-]", line)[0]) for line in project["dependencies"]}
    sources = importlib.metadata.packages_distributions()
    missing = {name for name in _imported() if declared.isdisjoint(map(_plain, [name, *sources.get(name, [])]))}
    assert not missing, f"pyproject.toml does not declare {sorted(missing)}"


def test_every_library_that_is_declared_is_imported() -> None:
    """What only the tests need is in the dev extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sources = importlib.metadata.packages_distributions()
    used = {_plain(name) for imported in _imported() for name in [imported, *sources.get(imported, [])]}
    declared = {_plain(re.split(r"[^\w.-]", line)[0]) for line in project["dependencies"]}
    assert not declared - used, f"pyproject.toml declares {sorted(declared - used)} for nothing"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
