"""`make quick`: what it runs of a small tree, and what it leaves out."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import changed
import pytest

FILES = {
    "evercrawl/__init__.py": "",
    "evercrawl/one.py": "ONE = 1\n",
    "evercrawl/two.py": "from evercrawl.one import ONE\n",
    "evercrawl/three.py": "def three():\n    '''Return 3.\n\n    >>> three()\n    3\n    '''\n    return 3\n",
    "evercrawl/typed.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from evercrawl.one import ONE\n",
    "evercrawl/family/__init__.py": "",
    "evercrawl/family/child.py": "from evercrawl.one import ONE\n",
    "tests/test_one.py": "from evercrawl.one import ONE\n\ndef test_one():\n    assert ONE\n",
    "tests/test_two.py": "from evercrawl import two\n\ndef test_two():\n    assert two\n",
    "tests/test_three.py": "from evercrawl.three import three\n\ndef test_three():\n    assert three()\n",
    "tests/test_typed.py": "from evercrawl import typed\n\ndef test_typed():\n    assert typed\n",
    "tests/test_family.py": "import pkgutil\nfrom evercrawl import family\n\ndef test_family():\n    assert pkgutil\n",
    "tests/test_tree.py": "def test_tree():\n    pass\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['--doctest-modules', '--import-mode=importlib']\n"
    "testpaths = ['evercrawl', 'tests']\n",
}  # fmt: skip


@pytest.fixture
def tree(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "tests" / "helpers").mkdir()
    shutil.copy(changed.__file__, tmp_path / "tests" / "helpers")
    (tmp_path / ".gitignore").write_text("__pycache__\n.pytest_cache\n")
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=tmp_path, check=True)
    return commit(tmp_path)


def commit(tree: Path) -> Path:
    subprocess.run(["git", "add", "."], cwd=tree, check=True)
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"], cwd=tree, check=True)
    return tree


def run(tree: Path, **environment: str) -> list[str]:
    """Return what was run, in that order, and the last lines."""
    path = os.pathsep.join(map(str, (tree / "tests" / "helpers", tree)))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("QUICK_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "changed", "-p", "no:randomly", "-p", "no:xdist"],
        cwd=tree, capture_output=True, text=True, check=False, env=kept | environment | {"PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def passed(lines: list[str]) -> list[str]:
    return [line.partition("::")[0] for line in lines if " PASSED" in line]


def test_the_nearest_come_first_and_what_does_not_need_it_is_not_run(tree):
    (tree / "evercrawl" / "one.py").write_text("ONE = 2\n")
    lines = run(tree)
    assert passed(lines) == [f"tests/test_{name}.py" for name in ("one", "family", "two")]
    assert "3 files need what differs from main" in lines


def test_doctests_of_what_is_changed_are_run_committed_or_not(tree):
    (tree / "evercrawl" / "three.py").write_text(FILES["evercrawl/three.py"].replace("Return", "Give"))
    subprocess.run(["git", "checkout", "-q", "-b", "mine"], cwd=tree, check=True)
    commit(tree)
    assert passed(run(tree)) == ["evercrawl/three.py", "tests/test_three.py"]


def test_what_would_end_too_late_is_left_out_and_counted(tree):
    (tree / "evercrawl" / "one.py").write_text("ONE = 2\n")
    cache = tree / ".pytest_cache" / "v" / changed.DURATIONS
    cache.parent.mkdir(parents=True)
    cache.write_text(json.dumps({"tests/test_one.py::test_one": 39.0, "tests/test_two.py::test_two": 0.01}))
    lines = run(tree)
    assert passed(lines) == ["tests/test_two.py", "tests/test_family.py"], "the quickest first"
    assert any("2 passed, 1 left out" in line for line in lines)


def test_a_page_is_needed_by_who_names_it(tree):
    (tree / "tests" / "test_three.py").write_text("PAGE = 'README.md'\n\ndef test_three():\n    pass\n")
    commit(tree)
    (tree / "README.md").write_text("read me\n")
    assert passed(run(tree)) == ["tests/test_three.py"]
