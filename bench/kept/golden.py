"""The values that the golden tests compare."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest import mock

import numpy as np

from kept.notes import as_json

if TYPE_CHECKING:
    from kept.notes import Notes

ROOT: Final = Path(__file__).resolve().parents[2]
_close = np.testing.assert_allclose


class Values:
    """A pytest plugin that takes down how each test went, and the values that its assertions compared.

    Only numbers and strings are kept of an assertion, and no folder of a test's name: what is renamed stays the same.
    """

    def __init__(self) -> None:
        self.values: defaultdict[str, list[str]] = defaultdict(list)
        self._now = ""

    def pytest_runtest_call(self, item: Any) -> None:
        """Take down which test runs."""
        self._now = item.nodeid

    def close(self, found: Any, expected: Any, **how: Any) -> None:
        """Compare as numpy does, and take down what was found."""
        self.values[self._now].append(str(np.asarray(found).tolist()))
        _close(found, expected, **how)

    def pytest_assertion_pass(self, item: Any, expl: str) -> None:
        """Take down the values of an assertion."""
        line = re.sub(rf"0x[0-9a-f]+|(?:{ROOT}|{tempfile.gettempdir()})/[^\s'\"]*", "", expl.partition("\n")[0])
        found = re.findall(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|(?<![\w.])-?\d+(?:\.\d*)?(?:e[-+]?\d+)?", line)
        self.values[item.nodeid].append(" ".join(found))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take down how a test went."""
        if report.when == "call" or not report.passed:
            self.values[report.nodeid].append(report.outcome)


def golden(notes: Notes) -> None:
    """Run the golden tests."""
    import pytest

    values = Values()
    files = [str(file) for file in sorted((ROOT / "tests").rglob("test_*.py")) if "mark.golden" in file.read_text()]
    quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "golden", "-o", "enable_assertion_pass_hook=true"]
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(io.StringIO()) as out,
        mock.patch.object(np.testing, "assert_allclose", values.close),
        mock.patch.object(sys, "pycache_prefix", folder),  # compiled tests that lie there know nothing of the hook
    ):
        code = pytest.main([*quiet, "--rootdir", str(ROOT), *files], [values])
    if code:
        print(out.getvalue(), file=sys.stderr)
    tests: defaultdict[str, list[Any]] = defaultdict(list)
    for node, found in values.values.items():
        case = node.partition("::")[2]
        tests[case.partition("[")[0]].append([case, found])
    for test, cases in tests.items():
        notes.add(f"golden/{test}", as_json(sorted(cases)))
