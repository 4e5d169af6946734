"""URLs against the web platform's tests."""

import json
from pathlib import Path

import pytest

from evercrawl.parse.urls import hostname, normalise, origin, path_query, resolve

pytestmark = pytest.mark.golden
DATA = Path(__file__).parent / "data"


def rows(name):
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def expected(row):
    """What the row's URL is to a crawler: http or https, without fragment and credentials, or nothing."""
    if row.get("failure") or row["protocol"] not in ("http:", "https:"):
        return None
    return f"{row['protocol']}//{row['host']}{row['pathname']}{row['search']}" + (
        "?" if not row["search"] and row["href"].split("#")[0].endswith("?") else ""
    )


URLS = rows("whatwg_url")


def test_the_table_is_whole():
    assert len(URLS) == 482
    assert sum(expected(row) is not None for row in URLS) == 124


@pytest.mark.parametrize("row", URLS, ids=lambda row: ascii(row["input"])[:60])
def test_whatwg(row):
    want = expected(row)
    assert normalise(row["input"], row["base"]) == want
    if row["base"] and normalise(row["base"]):
        assert resolve(row["base"], [row["input"], row["input"]]) == ([want] if want else [])
    if want:
        assert normalise(want) == want
        assert hostname(want) == row["hostname"]
        assert origin(want) == f"{row['protocol']}//{row['host']}"
        assert path_query(want) == want[len(origin(want)) :]


@pytest.mark.parametrize("row", rows("whatwg_toascii"), ids=lambda row: ascii(row["input"])[:60])
def test_international_hosts(row):
    want = f"https://{row['output']}/x" if row["output"] is not None else None
    assert normalise(f"https://{row['input']}/x") == want


def test_where_another_normaliser_goes_further():
    """Another crawler also unescapes, squeezes slashes and sorts queries; we keep what servers tell apart."""
    table = [row for row in rows("url_normalize") if row["url"].startswith(("http://", "https://"))]
    same = sum(normalise(row["url"]) == row["normalized"] for row in table)
    assert (same, len(table)) == (27, 54)
