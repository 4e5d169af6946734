"""Sitemaps and feeds from the wild: each is read without a fault, and says what it says."""

import base64
import json
from pathlib import Path

import pytest

from evercrawl.parse.listings.sitemap import read_sitemap

pytestmark = pytest.mark.golden

DATA = Path(__file__).parent / "data" / "sitemap_samples.jsonl"
ROWS = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_sample_is_read_without_trouble(row):
    body = base64.b64decode(row["b64"])
    found = read_sitemap(body, f"http://www.example.com/{row['name']}")
    assert found.trouble == ""
    assert found.kind == ("text" if ".txt" in row["name"] else "feed" if row["name"].startswith("rss/") else "urlset")
    locations = body.count(b"<loc>") or body.count(b"<item>") or len(found.pages)
    assert len(found.pages) >= min(locations, 1)
    assert not found.children


def test_pages_of_an_extended_sitemap_are_its_locations():
    (row,) = [row for row in ROWS if "hebdenbridgetimes" in row["name"]]
    body = base64.b64decode(row["b64"])
    assert len(read_sitemap(body, "http://www.hebdenbridgetimes.co.uk/s.xml").pages) == body.count(b"<url>")
