"""The measurement of wide webs: its servers say what they promise, and a small run of it counts what there is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"
SMALL = ("--hosts", "40", "--seconds", "4", "--again", "3", "--delay", "0.1", "--connections", "50")


@pytest.fixture(scope="module")
def found():
    words = [sys.executable, str(BENCH / "wide.py"), *SMALL, "--json", "--", "--workers", "0", "--no-index"]
    ran = subprocess.run(words, check=False, capture_output=True, text=True)
    assert ran.returncode in (0, 1), ran.stderr  # a goal of a million hosts may well be missed
    return json.loads(ran.stdout)


def test_a_small_run_counts_what_there_is(found):
    first, again = found["runs"]
    figures = {row["name"]: row["value"] for row in found["figures"]}
    assert figures["hosts known"] == first["robots"] == 40
    assert 40 < first["pages"] <= first["known"] <= 40 * 131
    assert figures["URLs known"] == first["known"]
    assert first["questions"] >= 40
    assert first["waiting"] <= first["peak_per_s"] <= first["questions"]
    assert len(first["fifths"]) == 5
    assert (first["errors"], again["errors"]) == ({}, {})
    assert again["pages"] > 0
    assert again["first_page_s"] < 3


def test_cpu_of_crawl_and_servers_is_told_apart(found):
    first = found["runs"][0]
    assert 0.1 < first["cpu_s"] < 30
    assert 0 < first["web_cpu_s"] < first["cpu_s"]
    assert 60 < first["memory_mib"] <= first["peak_mib"] < 600
