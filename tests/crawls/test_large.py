"""The measurement of large crawls: a small run of it goes through the shipped loop, and counts what there is."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench"
SMALL = ("--hosts", "200", "--read", "400", "--every", "1000", "--again", "1.5", "--latency", "0.01")


def test_a_small_run_counts_what_there_is(tmp_path):
    words = [sys.executable, str(BENCH / "large.py"), *SMALL, "--dir", str(tmp_path / "large"), "--json"]
    ran = subprocess.run([*words, "--", "delay_s=0.1"], check=False, capture_output=True, text=True)
    assert ran.returncode in (0, 1), ran.stderr  # at this size nothing is as fast as it gets
    found = json.loads(ran.stdout)
    figures = {row["name"]: row["value"] for row in found["figures"]}
    lines = found["lines"]
    assert lines[-1]["read"] >= 300
    assert all(before["known"] <= after["known"] for before, after in itertools.pairwise(lines))
    assert len(lines) >= 2
    assert lines[-1]["known"] > 10 * lines[-1]["read"] / 2
    assert lines[-1]["hosts"] <= 200
    assert lines[-1]["cpu_s"] > lines[-1]["made_cpu_s"] > 0
    assert figures["longest step of the loop"] > 0
    assert figures["again: pages"] > 0
    assert 0 < figures["again: first page"] < 30
    assert (tmp_path / "large" / "crawl" / "crawl.toml").exists()
