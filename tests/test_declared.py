"""What the package imports is what it asks to be installed."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def _imported(folder: str = "*") -> set[str]:
    """Return the top-level names that any file of the package, or of one folder of it, imports, at whatever depth."""
    paths = (ROOT / "evercrawl").glob(f"{folder}/**/*.py" if folder != "*" else "**/*.py")
    return set[str]().union(*map(_of_file, paths)) - set(sys.stdlib_module_names) - {"evercrawl"}


@cache
def _of_file(path: Path) -> frozenset[str]:
    names: set[str] = set()
    text = path.read_text(encoding="utf-8")
    by_call = "import_module" in text
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
        elif by_call and isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names |= {each.value.partition(".")[0] for each in node.args if isinstance(each, ast.Constant)}
    return frozenset(names)


def _folders() -> list[str]:
    return [path.name for path in (ROOT / "evercrawl").iterdir() if path.is_dir() and path.name != "__pycache__"]


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def _declared(lines: list[str]) -> set[str]:
    return {_plain(re.split(r"[^\w.-]", line)[0]) for line in lines}


def _used(names: set[str]) -> set[str]:
    """Return the names of what has to be installed for these imports, the imports' own included."""
    return {_plain(name) for imported in names for name in [imported, *_sources().get(imported, [])]}


@cache
def _sources() -> Mapping[str, list[str]]:
    """Return the distributions that each import name comes from; finding that out reads every installed package."""
    return importlib.metadata.packages_distributions()


def _missing(names: set[str], declared: set[str]) -> list[str]:
    return sorted(name for name in names if declared.isdisjoint(_used({name})))


def test_every_library_that_is_imported_is_declared() -> None:
    """What only the server or assistants need is in the extra of that name, and imported there alone.

    What compiles, solves, draws, browses, signs, stores objects, and reads PDFs and Parquet files says what is missed.
    """
    extras: dict[str, list[str]] = _project()["optional-dependencies"]
    always = _declared(
        [
            *_project()["dependencies"],
            *extras["pdf"],
            *extras["browser"],
            *extras["sign"],
            *extras["documents"],
            *extras["cloud"],
            *extras["cluster"],
            *extras["jit"],
            *extras["lab"],
        ]
    )
    apart = {"lab": ("lab",), "serve": ("serve", "mcp"), "integrations": ("scrapy",)}
    elsewhere = set[str]().union(*(_imported(folder) for folder in _folders() if folder not in apart))
    missing = sorted(set(_missing(elsewhere, always)) - _imported("lab"))
    assert not missing, f"pyproject.toml does not declare {missing}"
    for folder, names in apart.items():
        missing = _missing(_imported(folder), always.union(*(_declared(extras[name]) for name in names)))
        assert not missing, f"the extra {names[0]} in pyproject.toml does not declare {missing}"


def test_every_library_that_is_declared_is_imported() -> None:
    """What only the tests need is in the dev extra, and the lab's with it."""
    extras = _project()["optional-dependencies"]
    own = [*extras["lab"], *extras["pdf"], *extras["parquet"], *extras["jit"]]
    declared = _declared([*_project()["dependencies"], *own])
    unused = declared - _used(_imported())
    assert not unused, f"pyproject.toml declares {sorted(unused)} for nothing"
    assert _declared(own) <= _declared([*extras["dev"], *_of_dev(extras)])


def _of_dev(extras: dict[str, list[str]]) -> list[str]:
    """Return what the extra `dev` takes from others, which it names as `evercrawl[NAME,NAME]`."""
    (others,) = (re.findall(r"\w+", line)[1:] for line in extras["dev"] if line.startswith("evercrawl["))
    return [line for name in others for line in extras[name]]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
