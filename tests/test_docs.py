"""The pages about settings and verbs say all there is to say, and nothing that is not so."""

import argparse
import doctest
import importlib
import re
import sys
import types
from pathlib import Path

import pages
import pytest

from evercrawl.cli import main
from evercrawl.cli.show import json_line

ROOT = Path(__file__).parents[1]
CLI = (ROOT / "docs" / "guide" / "CLI.md").read_text(encoding="utf-8")


def verbs() -> dict[str, argparse.ArgumentParser]:
    found = argparse.ArgumentParser().add_subparsers()
    for name in main.modules():
        importlib.import_module(f"evercrawl.cli.verbs.{name}").add(found)
    return dict(found.choices)


def flags(verb: str) -> set[str]:
    """Return the long flags of a verb that are no settings."""
    actions = (action for action in verbs()[verb]._actions if not action.dest.startswith("set_"))
    spellings = {flag for action in actions for flag in action.option_strings if flag.startswith("--")}
    return spellings - {"--help"}


def test_no_change_is_twice_in_the_changelog():
    begin = re.findall(r"^\* (.{40})", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(begin) > 50
    assert len(set(begin)) == len(begin)


def section(verb: str) -> str:
    return (
        re.sub(r"\n## evercrawl lab (?=\S)", "\n## evercrawl ", CLI)
        .partition(f"\n## evercrawl {verb}\n")[2]
        .partition("\n## ")[0]
    )


def test_settings_are_as_the_code_has_them():
    written = (ROOT / "docs" / "guide" / "SETTINGS.md").read_text(encoding="utf-8")
    assert written == pages.settings(), "run `make docs`"


def test_every_verb_has_its_section_and_no_other_has():
    assert set(re.findall(r"^## evercrawl (?:lab )?(\S+)$", CLI, re.MULTILINE)) == set(verbs())
    assert set(re.findall(r"^## evercrawl lab (\S+)$", CLI, re.MULTILINE)) == main.LAB_VERBS


def test_verbs_are_listed_by_task_as_in_the_help():
    listed = "".join(main.parser().format_help().partition("start a crawl:")[1:])
    rows = list[str]()
    for task, lines in re.findall(r"^([a-z ]+):\n((?:  .*\n)+)", listed, re.MULTILINE):
        named = re.findall(r"^  (\S+)", lines, re.MULTILINE)
        rows.append(f"| {task} | {', '.join(f'`{verb}`' for verb in named)} |")
    assert rows
    assert "\n".join(["| Task | Verbs |", "|---|---|", *rows]) in CLI


def test_every_event_of_json_is_explained_and_no_other_is():
    table = CLI.partition("\n## JSON\n")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `([a-z]+)` \| (.*?) \|$", table, re.MULTILINE)) == json_line.EVENTS
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "evercrawl" / "cli").rglob("*.py"))
    assert source.count("json.dumps") == 1, "all lines are made in one place"


@pytest.mark.parametrize("verb", sorted(verbs()))
def test_every_flag_of_a_verb_has_its_row_and_no_other_has(verb):
    assert set(re.findall(r"^\| `(--[a-z-]+)", section(verb), re.MULTILINE)) == flags(verb)


@pytest.mark.parametrize(
    "page", [str(p.relative_to(ROOT)) for p in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))]
)
def test_links_between_pages_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)", text) + re.findall(r"src(?:set)?=\"([^\"]+)\"", text)
    missing = [t for t in targets if "://" not in t and not ((ROOT / page).parent / t).exists()]
    assert not missing


def astray(page: Path) -> list[str]:
    """Return the paths of the tree that a page names and that do not exist.

    A path counts from the repository, from the package, or from what the same line named before it.
    """
    missing: list[str] = []
    for line in page.read_text(encoding="utf-8").splitlines():
        bases = [ROOT, ROOT / "evercrawl"]
        for named in re.findall(r"`([\w./-]+(?:/|\.py))`", line):
            found = [base / named for base in bases if (base / named).exists()]
            bases += [each if each.is_dir() else each.parent for each in found]
            missing += [] if found else [named]
    return missing


@pytest.mark.parametrize(
    "page", ["ARCHITECTURE.md", *(f"internals/{p.name}" for p in sorted((ROOT / "docs" / "internals").glob("*.md")))]
)
def test_paths_in_pages_about_the_code_exist(page):
    assert astray(ROOT / "docs" / page) == []


def test_a_path_that_is_gone_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("`crawl/loop.py`, `store/` and its `journal/`; `frames.py`\n`crawl/gone.py`, `gone/`\n")
    assert astray(page) == ["frames.py", "crawl/gone.py", "gone/"]


def test_the_readme_uses_flags_and_verbs_that_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in re.findall(r"^ *(?:\$ )?evercrawl (?:lab (?=[a-z]+ --))?([a-z]+)(.*)$", text, re.MULTILINE):
        spelled = verbs()[command[0]].format_help()
        assert all(flag in spelled for flag in re.findall(r"--[a-z-]+", command[1].partition("#")[0]))


def test_what_contributors_are_shown_does_what_it_says(monkeypatch):
    blocks = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    tried = 0
    for block in (each for each in blocks if ">>> " in each):
        shown = types.ModuleType("shown")
        monkeypatch.setitem(sys.modules, "shown", shown)
        exec(block, vars(shown))
        done = doctest.testmod(shown)
        tried += done.attempted
        assert not done.failed
    assert tried
