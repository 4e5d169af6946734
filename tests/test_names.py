"""A class has a name of its own."""

import ast
from collections import defaultdict
from pathlib import Path

from evercrawl import catalog, importance
from evercrawl.change import estimators
from evercrawl.change.estimators.base import Estimator
from evercrawl.importance import windows
from evercrawl.schedule import Policy, policies

PACKAGE = Path(__file__).parents[1] / "evercrawl"


def classes() -> dict[str, list[str]]:
    """Return the modules in which there is a class of each name, private ones aside."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(module)
    return found


def strategies() -> set[tuple[str, str]]:
    """Return module and name of the classes that are found by the names of their files."""
    families = (
        (policies, Policy), (importance, importance.Importance), (windows, windows.Window),
        (estimators, Estimator),
    )  # fmt: skip
    return {
        (kind.__module__, kind.__name__) for package, base in families for kind in catalog.find(package, base).values()
    }


def test_no_class_is_called_like_another():
    """Strategies of two families may share the name of their files."""
    found_by_file = strategies()
    twice = {
        name: modules
        for name, modules in classes().items()
        if len(modules) > 1 and any((module, name) not in found_by_file for module in modules)
    }
    assert not twice, "\n".join(f"{name}: {', '.join(modules)}" for name, modules in twice.items())
