"""Tests ask for what is promised: they touch what is private in few places, which are counted here."""

import ast
from pathlib import Path

TESTS = Path(__file__).parent
MOST = 40
"""Places at most in which tests touch what is private."""
PUBLIC = {"_replace", "_asdict", "_fields", "_make", "_exit"}
"""Names of the standard library that are documented though they begin with an underscore."""
BY_NAME = {"setattr", "getattr", "delattr", "hasattr"}
"""Functions that are given an attribute's name."""


def private(name: str) -> bool:
    """Return whether a name is private.

    >>> [private(name) for name in ("_journal", "journal", "__init__", "_replace", "module._part")]
    [True, False, False, False, True]
    """
    name = name.rpartition(".")[2]
    return name.startswith("_") and not name.endswith("__") and name not in PUBLIC


def touched(source: str) -> list[int]:
    """Return the lines that touch what is private: attributes of others, imports, names that are patched.

    Modules of kernels may be imported: nothing else of them is asked for than what the package asks.

    >>> touched("self._a; super()._b; x._c; x.d._e")
    [1, 1]
    >>> touched("from a.b import _c, d, _kernel")
    [1]
    >>> touched("monkeypatch.setattr(module, '_MOST', 3)")
    [1]
    """
    found = list[int]()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls") | ast.Call(func=ast.Name(id="super"))):
                continue
            case ast.Attribute(attr=name) if private(name):
                found.append(node.lineno)
            case ast.ImportFrom(names=names):
                found += [node.lineno for each in names if private(each.name) and "kernel" not in each.name]
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in BY_NAME:
                said = [
                    each.value for each in args[:2] if isinstance(each, ast.Constant) and isinstance(each.value, str)
                ]
                found += [node.lineno for each in said if private(each)]
    return found


def test_tests_touch_what_is_private_in_few_places():
    found = {str(file.relative_to(TESTS)): touched(file.read_text()) for file in sorted(TESTS.rglob("*.py"))}
    places = [f"{name}:{line}" for name, lines in found.items() for line in lines]
    assert len(places) <= MOST, places
