"""What a change can have broken, in 40 s: `make quick`, which is `PYTHONPATH=tests/helpers pytest -p changed`.

Of the files that differ from the branch main, committed or not, the doctests come first; then tests of files that
import them, the nearest first and of these the quickest, until time is up. What was left out is said at the end. How
long a test takes is known from runs before; what was never run is taken for quick.
"""

import json
import os
import re
import subprocess
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

SECONDS = float(os.environ.get("QUICK_SECONDS", "40"))
"""From the start to the end of the last test."""
ENDING_S = 3.0
"""For the workers to end, and for what they say."""
FILE_S = 2.0
"""What the tests of a file are taken to take of which none was ever run."""
UNKNOWN_S = 0.05
"""What a test is taken to take that was never run."""
MAIN = "main"
DURATIONS = "evercrawl/durations"
"""Where the cache has how long tests took (s), by name: see `conftest`."""
NO_TIME = "left out: there is no time for it"
ROOT = Path(__file__).parents[2]
BEGAN, ORDER, LEFT_OUT = "QUICK_BEGAN", "QUICK_ORDER", "QUICK_LEFT_OUT"
"""In the environment, for workers: when it began, by the clock that never goes back; files and distances; others."""
_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)*", re.MULTILINE)
_IMPORT = re.compile(r"^\s*from ([\w.]+) import (?:\(([^)]*)\)|(.*))|^\s*import ([\w.]+)", re.MULTILINE)
_IN_TEXT = re.compile(r"\bevercrawl(?:\.\w+)+")


def changed() -> set[str]:
    """Return the files that differ from where main was left, committed or not; if none do, those of the last commit."""
    base = git("merge-base", "HEAD", MAIN) or ["HEAD"]
    found = {*git("diff", "--name-only", *base), *git("ls-files", "--others", "--exclude-standard")}
    return found or set(git("diff", "--name-only", "HEAD~1"))


def git(*arguments: str) -> list[str]:
    """Return the lines that git answers; none where it cannot."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def named(text: str) -> Iterator[str]:
    """Yield the modules that a source may name, in imports and elsewhere; imports for types alone do not count.

    >>> sorted(named("from evercrawl.parse import html, urls\\nLibrary('evercrawl.store._kernels')\\n"))
    ['evercrawl.parse', 'evercrawl.parse.html', 'evercrawl.parse.urls', 'evercrawl.store._kernels']
    """
    text = _TYPES.sub("", text)
    found = set(_IN_TEXT.findall(text))
    for module, several, one, plain in _IMPORT.findall(text):
        found |= {plain} if plain else {module, *(f"{module}.{name}" for name in re.findall(r"\w+", several or one))}
    yield from found


def module(file: str) -> str:
    """Return the name that a file is imported by; helpers of tests have plain ones.

    >>> [module(file) for file in ("evercrawl/parse/html.py", "evercrawl/parse/__init__.py", "tests/helpers/web.py")]
    ['evercrawl.parse.html', 'evercrawl.parse', 'web']
    """
    return Path(file).stem if file.startswith("tests") else file[:-3].removesuffix("/__init__").replace("/", ".")


def users(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Return, by file, the files that need it: those that name it, and all of a folder's where these are listed.

    >>> users({"evercrawl/a.py": "x = 1", "evercrawl/b.py": "from evercrawl.a import x"})
    {'evercrawl/a.py': {'evercrawl/b.py'}}
    """
    files = {module(file): file for file in sources if Path(file).name != "conftest.py"}
    within = defaultdict(list[str])
    for file in sources:
        within[str(Path(file).parent)].append(file)
    found = defaultdict(set[str])
    for file, text in sources.items():
        names = {name for name in named(text) if name in files}
        for name in names:
            found[files[name]].add(file)
            listed = files[name].endswith("/__init__.py") and ("pkgutil" in text or "catalog" in text)
            if listed and not any(other.startswith(f"{name}.") for other in names):
                for each in within[str(Path(files[name]).parent)]:
                    found[each].add(file)
        if "pkgutil" in text and "__path__" in text:
            for each in within[str(Path(file).parent)]:
                found[each].add(file)
        if file.startswith("tests"):
            for folder in Path(file).parents[:-1]:
                found[f"{folder}/conftest.py"].add(file)
    return {file: who - {file} for file, who in found.items() if who - {file}}


def distances(start: Iterable[str], using: Mapping[str, set[str]]) -> dict[str, int]:
    """Return how many imports away from some files others are, the files themselves among them.

    >>> distances(["a"], {"a": {"b"}, "b": {"c", "a"}, "d": {"e"}})
    {'a': 0, 'b': 1, 'c': 2}
    """
    found, edge = dict.fromkeys(sorted(start), 0), list(start)
    while edge:
        edge = sorted({who for file in edge for who in using.get(file, ())} - found.keys())
        found |= {file: max(found.values()) + 1 for file in edge}
    return found


def selection(durations: Mapping[str, float]) -> tuple[dict[str, int], int]:
    """Return the files whose doctests or tests to run, the nearest first, with distances; and how many are left out.

    There are no more than fill the time, for to collect others costs some, too.
    """
    sources = {
        str(file.relative_to(ROOT)): file.read_text(encoding="utf-8")
        for top in ("evercrawl", "tests") for file in (ROOT / top).rglob("*.py")
    }  # fmt: skip
    differ = changed()
    others = {Path(file).name for file in differ if not file.endswith(".py")}
    near = {file for file, text in sources.items() for name in others if name in text}
    found = distances((differ & sources.keys()) | near, users(sources))
    folders = {Path(file).parent.name for file in differ}
    tests = [file for file in found if Path(file).name.startswith("test_")]
    tests.sort(key=lambda file: (found[file], Path(file).parent.name not in folders))
    doctests = [file for file in sorted(differ & sources.keys()) if ">>> " in sources[file] and file not in tests]
    takes_s = defaultdict[str, float](float)
    for name, took_s in durations.items():
        takes_s[name.partition("::")[0]] += took_s
    ends_s = list(accumulate(takes_s.get(file, FILE_S) for file in tests))
    count = bisect_left(ends_s, SECONDS * (os.cpu_count() or 1)) + 1
    return dict.fromkeys(doctests, 0) | {file: found[file] for file in tests[:count]}, len(tests[count:])


def pytest_configure(config: pytest.Config) -> None:
    """Choose the files, unless some are named; workers are told which."""
    if config.args_source == pytest.Config.ArgsSource.ARGS:
        return
    if not hasattr(config, "workerinput"):
        os.environ[BEGAN] = str(time.monotonic())
        order, left_out = selection(known(config))
        os.environ[ORDER], os.environ[LEFT_OUT] = json.dumps(order), str(left_out)
    config.args = list(json.loads(os.environ[ORDER])) or ["tests/test_tree.py"]


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Count what is left out apart."""
    return ("left out", "", "") if report.skipped and NO_TIME in str(report.longrepr) else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many files were chosen."""
    if ORDER in os.environ:
        count, left_out = len(json.loads(os.environ[ORDER])), int(os.environ[LEFT_OUT])
        more = f", and {left_out} that are further away are left out" if left_out else ""
        terminalreporter.write_line(f"{count} files need what differs from {MAIN}{more}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the nearest first, and of these the quickest."""
    order, durations = json.loads(os.environ.get(ORDER, "{}")), known(config)
    items.sort(key=lambda item: (order.get(item.nodeid.partition("::")[0], 0), durations.get(item.nodeid, UNKNOWN_S)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what would end too late."""
    left_s = float(os.environ.get(BEGAN, "inf")) + SECONDS - ENDING_S - time.monotonic()
    if known(item.config).get(item.nodeid, UNKNOWN_S) > left_s:
        pytest.skip(NO_TIME)


def known(config: pytest.Config) -> dict[str, float]:
    """Return how long tests took (s), by name."""
    found = config.stash.get(_DURATIONS, None)
    if found is None:
        cache = getattr(config, "cache", None)
        found = config.stash[_DURATIONS] = (cache.get(DURATIONS, None) if cache else None) or {}
    return found


_DURATIONS = pytest.StashKey[dict[str, float]]()
