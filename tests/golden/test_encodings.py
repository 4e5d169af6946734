"""The encoding of a page's first bytes, against html5lib's tests."""

import base64
import json
from pathlib import Path

import pytest

from evercrawl.parse.encoding import decode, sniff
from evercrawl.parse.prescan import prescan

pytestmark = pytest.mark.golden
DATA = Path(__file__).parent / "data" / "encoding_sniff.jsonl"
ROWS = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]


def test_the_table_is_whole():
    assert len(ROWS) == 44


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['file']}-{i}" for i, row in enumerate(ROWS)])
def test_sniffing(row):
    """The declared encoding is the table's; three rows declare it late, as browsers find it while they parse.

    Where nothing is declared the table wants windows-1252; we look first whether the bytes are UTF-8.
    """
    body, want = base64.b64decode(row["b64"]), row["encoding"].lower()
    assert (prescan(body, len(body)) or "windows-1252") == want
    found = sniff(body)
    assert decode(body)[1] == found
    if prescan(body) is not None:
        assert found == want
    elif found != want:
        assert found == "utf-8"
        assert body.decode("utf-8")
