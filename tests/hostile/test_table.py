"""The table of docs/guide/HOSTILE.md: what it names is there, and what is tested here is named."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "guide" / "HOSTILE.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and line.count("|") == 5 and not line.startswith(("| **", "| Class "))
]


def names_in(path: Path) -> set[str]:
    return set(re.findall(r"^(?:async )?def (test_\w+)", path.read_text("utf-8"), re.M))


def test_there_is_a_table_in_which_no_class_is_twice():
    assert len(ROWS) > 50
    assert len({row[0] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_every_class_has_a_defence_and_tests_that_exist(row):
    defence, where, named = row[1], row[2], re.findall("`([^`]+)`", row[3])
    assert defence
    assert named
    for path in re.findall("`([^`]+)`", where):
        assert (ROOT / "evercrawl" / path).is_file(), path
    for name in named:
        path, _, test = name.partition("::")
        assert (ROOT / "tests" / path).is_file(), path
        assert not test or test in names_in(ROOT / "tests" / path), name


def test_every_test_of_this_folder_is_named():
    named = {name for row in ROWS for name in re.findall("`([^`]+)`", row[3])}
    here = Path(__file__).parent
    for path in here.glob("test_*.py"):
        if path != Path(__file__):
            assert {f"hostile/{path.name}::{test}" for test in names_in(path)} <= named
