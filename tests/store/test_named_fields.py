"""Fields of records and events are taken by their names, in the store and in the crawl."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "evercrawl"
FOLDERS = [name for name in ("store", "model", "crawl", "ask") if (PACKAGE / name).is_dir()]
WITH_FIELDS = frozenset(
    ("account", "archive", "before", "event", "evidence", "held", "moved", "old", "pointer", "record", "row",
     "transfer", "visit")
)  # fmt: skip
"""What things with fields are called: no place in them means anything to a reader."""
READS = frozenset(("read", "row", "item"))


def is_number(node: ast.expr | None) -> bool:
    try:
        return node is not None and isinstance(ast.literal_eval(node), int)
    except ValueError:
        return False


def by_place(node: ast.AST) -> bool:
    """Whether a field is taken by its place, as in `old[6:15]` and `event.text[0]`."""
    if not isinstance(node, ast.Subscript):
        return False
    place = node.slice
    of_place = is_number(place) or (isinstance(place, ast.Slice) and (is_number(place.lower) or is_number(place.upper)))
    match node.value:
        case ast.Name(name) | ast.Attribute(attr=name):
            return of_place and name.strip("_") in WITH_FIELDS
        case ast.Call(func=ast.Attribute(attr=name)):
            return of_place and name in READS and "journal" not in ast.unparse(node.value)
    return False


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_field_is_taken_by_its_place(folder):
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if by_place(node)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("source", ["old[20]", "old[6:15]", "self._row[0]", "rows[3].item()[2]", "transfer[3:7]"])
def test_it_would_be_noticed(source):
    assert by_place(ast.parse(source, mode="eval").body)


@pytest.mark.parametrize("source", ["rows[0]", "row['host']", "records[index]", "archive.end", "record[name][0]"])
def test_what_has_no_fields_may_be_counted(source):
    assert not by_place(ast.parse(source, mode="eval").body)
