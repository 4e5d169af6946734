"""docs/SECURITY.md: each promise names tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "SECURITY.md").read_text("utf-8")
ROWS = re.findall(r"^\| (.+) \| (`.+`) \|$", TEXT, re.M)


def test_there_are_promises():
    assert len(ROWS) > 10


@pytest.mark.parametrize(("promise", "tests"), ROWS, ids=[promise[:40] for promise, _ in ROWS])
def test_each_is_held_by_tests_that_exist(promise, tests):
    for named in re.findall("`([^`]+)`", tests):
        path, _, name = named.partition("::")
        file = ROOT / "tests" / path
        assert file.is_file(), named
        assert not name or re.search(rf"^(?:async )?def {name}\(", file.read_text("utf-8"), re.M), named
