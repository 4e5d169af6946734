"""The glossary names every public class, and none that is gone."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "GLOSSARY.md").read_text(encoding="utf-8")
TERMS, CLASSES = PAGE.partition("\n## Terms\n")[2].split("\n## Classes\n")


def terms() -> list[str]:
    return re.findall(r"^\* \*\*(.+?)\*\*: .", TERMS, re.MULTILINE)


def written() -> Iterator[tuple[str, str]]:
    """Yield folder and name of each class that the page defines."""
    for section in CLASSES.split("\n### ")[1:]:
        folder = section.partition("\n")[0]
        for name in re.findall(r"^\* `(\w+)`: .", section, re.MULTILINE):
            yield folder, name


def public() -> Iterator[tuple[str, str]]:
    """Yield folder and name of each public class."""
    for path in (ROOT / "evercrawl").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield path.parent.relative_to(ROOT).as_posix(), node.name


def test_every_public_class_has_one_line_in_the_glossary_and_no_other_name_has():
    found, named = sorted(set(public())), sorted(written())
    missing = [f"{folder}: {name}" for folder, name in found if (folder, name) not in named]
    gone = [f"{folder}: {name}" for folder, name in named if (folder, name) not in found]
    assert not missing, f"add to docs/GLOSSARY.md: {missing}"
    assert not gone, f"remove from docs/GLOSSARY.md: {gone}"
    assert len(named) == len(set(named)), "a class is defined twice"


def test_folders_and_classes_are_sorted():
    named = list(written())
    assert named == sorted(named)


def test_terms_are_sorted_and_defined_once():
    named = [term.lower() for term in terms()]
    assert named == sorted(set(named))


def test_every_entry_is_one_short_line_with_a_definition():
    entries = [line for part in (TERMS, CLASSES) for line in part.splitlines() if line.startswith("*")]
    assert len(entries) == len(terms()) + len(list(written())), "a line has no definition"
    assert not [line for line in entries if len(line) > 160]
