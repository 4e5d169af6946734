"""A policy promises little: nobody outside `schedule` asks which one it is, or sets anything on it."""

import ast
import re
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
ASKS = re.compile(r"isinstance|issubclass")
OF_HOLDER = re.compile(rf"\b({'|'.join(HOLDERS)})\.")
WORD = re.compile(r"\w+")
CONCRETE = {
    base.__name__
    for kind in catalog.find(schedule.policies, Policy).values()  # type: ignore[type-abstract]
    for base in kind.__mro__
    if issubclass(base, Policy) and base.__module__.startswith("evercrawl.schedule.")
} - {"Policy", "Priced"}


@cache
def places() -> tuple[list[str], list[str]]:
    """Return where files ask which policy it is, and where they set something on one; files are parsed once."""
    asking, setting = list[str](), list[str]()
    for file in FILES:
        text = file.read_text()
        if not (OF_HOLDER.search(text) or (ASKS.search(text) and not CONCRETE.isdisjoint(WORD.findall(text)))):
            continue
        for node in ast.walk(ast.parse(text)):
            place = f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Call) and named(node.func) in ("isinstance", "issubclass"):
                asking += [place] if {named(part) for part in ast.walk(node.args[1])} & CONCRETE else []
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr | ast.For):
                setting += [place] if sets(node) else []
    return asking, setting


def sets(node: ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr | ast.For) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = [part for each in targets for part in ast.walk(each)]
    stored = [part for part in parts if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)]
    return any(named(part.value) in HOLDERS for part in stored)


def named(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def test_nobody_outside_asks_which_policy_it_is() -> None:
    assert {"Price", "PlannedRates", "Spaced", "ByPrice", "Greedy"} <= CONCRETE
    assert not places()[0], "ask for an ability: evercrawl.schedule.abilities"


def test_nothing_is_set_on_a_policy_from_outside() -> None:
    assert sets(ast.parse("self._policy.shift = 2").body[0])  # type: ignore[arg-type]
    assert not places()[1], "what a policy is to know comes with the columns or the context"


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
