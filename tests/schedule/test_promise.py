"""A policy promises little: nobody outside `schedule` asks which one it is, or sets anything on it."""

import ast
from functools import cache
from pathlib import Path

import pytest

import evercrawl
from evercrawl import catalog, schedule
from evercrawl.errors import ConfigError
from evercrawl.model.policy.policies import kind_of
from evercrawl.schedule.abilities import Learns
from evercrawl.schedule.base import Policy

ROOT = Path(evercrawl.__file__).parent
FILES = [file for file in ROOT.rglob("*.py") if file.relative_to(ROOT).parts[0] not in ("schedule", "kernels")]
HOLDERS = {"policy", "_policy", "believing", "informed"}
CONCRETE = {
    base.__name__
    for kind in catalog.find(schedule.policies, Policy).values()  # type: ignore[type-abstract]
    for base in kind.__mro__
    if issubclass(base, Policy) and base.__module__.startswith("evercrawl.schedule.")
} - {"Policy", "Priced"}


@cache
def nodes() -> list[tuple[str, ast.Call | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr | ast.For]]:
    """Return calls and whatever sets a target, each with its place, of all files: they are parsed once."""
    kinds = (ast.Call, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.For)
    return [
        (f"{file.relative_to(ROOT)}:{node.lineno}", node)
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, kinds)
    ]


def named(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def test_nobody_outside_asks_which_policy_it_is() -> None:
    assert {"Price", "PlannedRates", "Spaced", "ByPrice", "Greedy"} <= CONCRETE
    found = [
        place
        for place, node in nodes()
        if isinstance(node, ast.Call) and named(node.func) in ("isinstance", "issubclass")
        and {named(part) for part in ast.walk(node.args[1])} & CONCRETE
    ]  # fmt: skip
    assert not found, "ask for an ability: evercrawl.schedule.abilities"


def test_nothing_is_set_on_a_policy_from_outside() -> None:
    found = list[str]()
    for place, node in nodes():
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in [part for each in targets if each is not None for part in ast.walk(each)]:
            if isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store):
                found += [place] if named(target.value) in HOLDERS else []
    assert not found, "what a policy is to know comes with the columns or the context"


class Earlier(Policy):
    """As policies were written before."""

    def value(self, pages, now):  # type: ignore[override]
        return pages.importance


class Flagged(Policy):
    """Says by a flag that it learns."""

    learns = True

    def value(self, pages, context):
        return pages.importance


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("kind", "said"), [(Earlier, r"write value\(self, pages, context\)"), (Flagged, "Learns and Policy")]
)
def test_a_class_of_an_earlier_version_is_told_what_to_write(kind, said) -> None:
    with pytest.raises(ConfigError, match=said):
        kind_of(f"{__name__}:{kind.__name__}")


def test_flags_of_abilities_are_no_attributes_of_policies() -> None:
    assert not hasattr(Policy, "learns")
    assert issubclass(catalog.pick(schedule.policies, Policy, "price"), Learns)  # type: ignore[type-abstract]
