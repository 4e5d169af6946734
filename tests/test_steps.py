"""What the loop does for a visit does not grow with all that the crawl knows, or as its logarithm."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "helpers" / "touched.py"
SMALL, LARGE = 1 << 12, 1 << 18
MOST_KIB = 3072
"""More for 32 visits where 64 times as much is known: six levels of a heap or a tree, on pages of 4 KiB each, take up
to 768 KiB, and a busy machine adds as much again; of all that is known the least is some 4 MiB."""


@pytest.fixture(scope="module")
def touched() -> dict[str, dict[str, int]]:
    """Return the KiB of memory that operations touch, by size."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("this kernel does not tell which memory was touched")
    first = _measured()
    if all(sizes[str(LARGE)] - sizes[str(SMALL)] < MOST_KIB for sizes in first.values()):
        return first
    again = _measured()  # what others did to this machine adds to one of them, and what an operation does to both
    return {
        operation: min((sizes, again[operation]), key=lambda each: each[str(LARGE)] - each[str(SMALL)])
        for operation, sizes in first.items()
    }


def _measured() -> dict[str, dict[str, int]]:
    command = [sys.executable, str(PROGRAM), str(SMALL), str(LARGE)]
    found = subprocess.run(command, check=True, capture_output=True, timeout=300)
    return dict(json.loads(found.stdout))


OPERATIONS = ("learning", "valuing", "foretelling", "auditing", "saving", "choosing", "parting", "pacing", "fitting")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_of_64_times_as_much_hardly_more_is_looked_at(operation: str, touched: dict[str, dict[str, int]]) -> None:
    small, large = (touched[operation][str(size)] for size in (SMALL, LARGE))
    assert small > 0
    assert large - small < MOST_KIB, f"{operation}: {small} KiB, then {large} KiB"
