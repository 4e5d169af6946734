"""The regular expressions of evercrawl, how each is used, and generated texts that would keep a careless one busy."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import evercrawl

PARSER = importlib.import_module("re._parser")
ROOT = Path(evercrawl.__file__).parent
USES = frozenset(("search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split"))
COMPILE = re.compile
OPERATORS_OWN = ("cli", "config", "lab", "simulate")
"""Packages whose expressions see what the operator writes, and nothing of the web."""
FLAGS_AT = {"sub": 3, "subn": 3, "split": 2}
"""The place of flags behind the expression, where it is not the second."""
END = "\x01"
BASE = (" ", "\n", '"', "'", "\\", '\\"', "(", "[", "<", ">", ",", "a", "a ", "0")


class Expression(NamedTuple):
    """A compiled expression and the ways in which the code calls it."""

    name: str
    pattern: re.Pattern[Any]
    uses: frozenset[str]


def expressions() -> Iterator[Expression]:
    """Yield every expression that a module holds, alone or in a list, and every literal one in a function."""
    sources = {path.relative_to(ROOT): path.read_text("utf-8") for path in sorted(ROOT.rglob("*.py"))}
    abroad = _uses(ast.parse(sources[Path("crawl/importing/opening.py")]))
    for within, source in sources.items():
        if within.parts[0] in OPERATORS_OWN or "re." not in source:
            continue
        tree, dotted = ast.parse(source), ".".join(("evercrawl", *within.with_suffix("").parts))
        yield from _literals(tree, dotted)
        used = _uses(tree)
        handed = frozenset(way for name, ways in used.items() if name.islower() for way in ways - {"split"})
        for name, value in vars(importlib.import_module(dotted)).items():
            for pattern, way in _held(value):
                uses = way or frozenset(used.get(name) or abroad.get(name) or handed)
                yield Expression(f"{dotted}.{name}", pattern, uses)


def built_where(root: Path = ROOT) -> set[str]:
    """Return the functions and classes in which expressions are built, each as `module:name`."""
    found = set[str]()
    for path in sorted(root.rglob("*.py")):
        within = path.relative_to(root)
        if within.parts[0] not in OPERATORS_OWN:
            dotted = ".".join(("evercrawl", *within.with_suffix("").parts))
            found |= {f"{dotted}:{name}" for name in _built(ast.parse(path.read_text("utf-8")), ())}
    return found


def built(action: Callable[[], object], use: str) -> Iterator[Expression]:
    """Yield the expressions that are built while something runs, by `module:name` of the function that builds each.

    Those that it compiles are used as the argument says, by other functions.
    """
    found = list[Expression]()

    def watched(way: str) -> Callable[..., Any]:
        real = getattr(re, way)

        def instead(pattern: Any, *given: Any, **named: Any) -> Any:
            frame, flags = inspect.stack(0)[1].frame, named.get("flags", 0)
            flags = given[0] if way == "compile" and given else flags
            name = ".".join(part for part in frame.f_code.co_qualname.split(".") if not part.startswith("<"))
            uses = frozenset([use if way == "compile" else way])
            expression = pattern if isinstance(pattern, re.Pattern) else COMPILE(pattern, flags)
            found.append(Expression(f"{frame.f_globals['__name__']}:{name}", expression, uses))
            return real(pattern, *given, **named)

        return instead

    with ExitStack() as stack:
        for way in (*USES, "compile"):
            stack.enter_context(patch.object(re, way, watched(way)))
        action()
    yield from found


def forms(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield beginnings, repeats and ends of texts, from what an expression consists of."""
    pieces = [(piece, repeated) for piece, repeated in _pieces(PARSER.parse(pattern.pattern, pattern.flags)) if piece]
    whole, heads = "", dict.fromkeys([""])
    for piece, repeated in pieces:
        if repeated:
            heads[whole] = None
        whole += piece
    heads[whole] = None
    letters = dict.fromkeys([*BASE, *(piece[0] for piece, _ in pieces)])
    for unit in dict.fromkeys([*letters, *filter(None, heads)]):
        for head in heads if unit in letters else ("",):
            yield head, unit, END
            if unit in (" ", "a"):
                yield from ((head, unit, tail) for tail in letters)


def text_of(pattern: re.Pattern[Any], form: tuple[str, str, str], chars: int) -> Any:
    """Return a text of about so many characters, or of ten times as many if its repeats are long."""
    head, unit, tail = form
    text = head + unit * (chars * min(len(unit), 10) // len(unit)) + tail
    return text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text


def run(pattern: re.Pattern[Any], use: str, text: Any) -> None:
    """Use an expression as the code does."""
    if use == "walk":
        at = 0
        while (found := pattern.match(text, at)) and found.end() > at:
            at = found.end()
    elif use in ("search", "match", "fullmatch"):
        getattr(pattern, use)(text)
    else:
        for _ in pattern.finditer(text):
            pass


def _uses(tree: ast.Module) -> dict[str, set[str]]:
    """Return how each name is used: the methods called, "walk" for a match from where the last one ended."""
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    bound, used = dict[str, set[str]](), dict[str, set[str]]()
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
            bound.setdefault(node.target.id, set()).update(
                each.id for each in ast.walk(node.iter) if isinstance(each, ast.Name)
            )
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in USES and isinstance(node.value, ast.Name | ast.Attribute):
            call = called.get(id(node))
            from_place = call is None or len(call.args) > 1
            way = "walk" if node.attr == "match" and from_place else node.attr
            name = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
            for each in bound.get(name, {name}):
                used.setdefault(each, set()).add(way)
    return used


def _literals(tree: ast.Module, dotted: str) -> Iterator[Expression]:
    """Yield the expressions written where they are used."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(ast.Name("re"), way), [ast.Constant(str() | bytes() as written), *given]) if (
                way in USES
            ):
                named = [each.value for each in node.keywords if each.arg == "flags"]
                last = given[FLAGS_AT.get(way, 1) :][:1]
                flags = sum(eval(ast.unparse(each), {"re": re}) for each in named or last)
                yield Expression(f"{dotted}:{node.lineno}", re.compile(written, flags), frozenset([way]))
            case _:
                pass


def _built(tree: ast.AST, above: tuple[str, ...]) -> Iterator[str]:
    """Yield the functions and classes in which expressions are built, unless each is written out where it is used."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield from _built(node, (*above, name))
                continue
            case ast.Call(ast.Attribute(ast.Name("re"), way), [pattern, *_]) if above or way != "compile":
                literal = isinstance(pattern, ast.Constant)
                if way == "compile" or (way in USES and not literal):
                    yield ".".join(above)
            case ast.ImportFrom("re") | ast.alias("re", str()):
                yield ".".join((*above, "import"))
            case _:
                pass
        yield from _built(node, above)


def _held(value: object) -> Iterator[tuple[re.Pattern[Any], frozenset[str]]]:
    if isinstance(value, re.Pattern):
        yield value, frozenset()
    elif isinstance(owner := getattr(value, "__self__", None), re.Pattern):
        yield owner, frozenset([value.__name__])  # type: ignore[attr-defined]
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _held(each)
    elif isinstance(value, dict):
        yield from _held(list(value.values()))


def _pieces(tree: Iterable[Any]) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text that an expression matches, with whether each may be repeated."""
    for operator, argument in tree:
        match str(operator):
            case "LITERAL":
                yield chr(argument), False
            case "NOT_LITERAL":
                yield "a" if argument != ord("a") else "b", False
            case "ANY":
                yield "a", False
            case "IN":
                yield _member(argument), False
            case "SUBPATTERN":
                yield from _pieces(argument[-1])
            case "ATOMIC_GROUP":
                yield from _pieces(argument)
            case "BRANCH":
                for branch in argument[1]:
                    yield from _pieces(branch)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = argument
                for each, (piece, _) in enumerate(_pieces(inner)):
                    yield piece * max(least, 1), not each and most > 1
            case _:
                pass


def _member(argument: list[Any]) -> str:
    """Return a character of a class."""
    negated = any(str(operator) == "NEGATE" for operator, _ in argument)
    if negated:
        return next((char for char in 'a0 "<(,;~' if not any(_within(char, each) for each in argument)), "~")
    operator, value = argument[0]
    if str(operator) == "LITERAL":
        return chr(value)
    if str(operator) == "RANGE":
        return chr(value[0])
    return {"CATEGORY_SPACE": " ", "CATEGORY_DIGIT": "0"}.get(str(value), "a")


def _within(char: str, each: tuple[Any, Any]) -> bool:
    operator, value = each
    match str(operator):
        case "LITERAL":
            return ord(char) == value
        case "RANGE":
            return value[0] <= ord(char) <= value[1]
        case "CATEGORY":
            held = {"CATEGORY_SPACE": char.isspace(), "CATEGORY_DIGIT": char.isdigit(), "CATEGORY_WORD": char.isalnum()}
            return held.get(str(value), False)
        case _:
            return False
