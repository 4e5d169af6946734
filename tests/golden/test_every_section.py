"""Nothing in the reference values goes unread: each section is taken up by name in some golden test."""

import ast
import json
import os
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.golden

HERE = Path(__file__).parent
SECTIONS = sorted(
    json.loads((Path(os.environ.get("EVERCRAWL_REFS") or HERE / "refs") / "freshness.json").read_text("utf-8")).keys()
    - {"_meta"}
)


@cache
def taken_up(file: Path) -> set[str]:
    """Return the words that a file passes on or looks up; what only stands in its comments does not count."""
    words: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            asked: list[ast.expr] = node.args
        elif isinstance(node, ast.Subscript):
            asked = [node.slice]
        else:
            continue
        words |= {each.value for each in asked if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    return words


@pytest.mark.parametrize("section", SECTIONS)
def test_it_is_read(section: str) -> None:
    files = [file for file in sorted(HERE.glob("test_*.py")) if section in taken_up(file)]
    assert files, f"no golden test reads {section!r}: compare its values, or take it out of freshness.json"


def test_what_only_stands_in_a_comment_does_not_count(tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text('"""alpha"""\n# beta\nx = "gamma"\nread("delta")\ntable["epsilon"]\n')
    assert taken_up(file) == {"delta", "epsilon"}
