"""Registrable domains against the public suffix list's own tests."""

import json
from pathlib import Path

import pytest

from evercrawl.parse.sites import registrable, site

pytestmark = pytest.mark.golden
DATA = Path(__file__).parent / "data" / "psl_cases.jsonl"
ROWS = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]


def test_the_table_is_whole():
    assert len(ROWS) == 41


@pytest.mark.parametrize("row", ROWS, ids=lambda row: ascii(row["host"]))
def test_registrable_domain(row):
    assert registrable(row["host"]) == row["registrable"]
    assert site(row["host"]) == (row["registrable"] or row["host"])
