"""The page that compares policies names every one there is, with each of its parameters as it is shipped."""

import inspect
from pathlib import Path

import pytest

from evercrawl import catalog, schedule
from evercrawl.lab.catalogue import experiments
from evercrawl.lab.contests.contestants import SYSTEMS

DOCS = Path(__file__).parents[2] / "docs" / "guide"
PAGE = (DOCS / "POLICIES.md").read_text("utf-8")
POLICIES = catalog.find(schedule.policies, schedule.Policy)


def row(name: str) -> str:
    found = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")]
    assert len(found) == 1, f"docs/guide/POLICIES.md needs one row for {name}"
    return found[0]


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_has_a_row_with_its_parameters(name: str) -> None:
    parameters = inspect.signature(POLICIES[name]).parameters.values()
    missing = [each.name for each in parameters if f"`{each.name}=" not in row(name)]
    assert not missing, f"docs/guide/POLICIES.md, {name}: {', '.join(missing)}"
    for each in parameters:
        if isinstance(each.default, int | float):
            assert f"`{each.name}={each.default:g}`" in row(name)


def test_every_policy_and_no_other_has_a_row_of_what_it_reaches_on_real_pages() -> None:
    page = (DOCS.with_name("research") / "HISTORIES.md").read_text("utf-8")
    table = page.partition("\n    python bench/policies.py HISTORIES\n\n")[2].partition("\n\n")[0]
    named = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
    assert sorted(named) == sorted(POLICIES)


def test_no_row_is_of_a_policy_that_is_gone() -> None:
    rows = PAGE.partition("\n## Every policy, with its parameters\n")[2].splitlines()
    assert {line.split("`")[1] for line in rows if line.startswith("| `")} == set(POLICIES)


def test_the_commands_that_made_it_are_named() -> None:
    for name in ("freshness", "table1", "estimators", "systems", "drift", "caps", "signals"):
        assert f"evercrawl lab {name}" in PAGE
        assert name in experiments()


@pytest.mark.parametrize("label", [each.label for each in SYSTEMS if each.there])
def test_every_contestant_has_a_row_of_figures(label: str) -> None:
    assert any(line.startswith(f"| {label} |") for line in PAGE.splitlines())
