"""The encoding of a page's first bytes, against html5lib's tests; the characters of each, against the standard's."""

import base64
import hashlib
import json
from pathlib import Path

import pytest

from evercrawl.parse.encoding import decode, sniff
from evercrawl.parse.prescan import prescan
from evercrawl.parse.web_codecs import decoded

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


CHARACTERS = [json.loads(line) for line in (DATA.parent / "encoding_characters.jsonl").read_text("utf-8").splitlines()]
LEADS = {"shift_jis": [*range(0x81, 0xA0), *range(0xE0, 0xFD)], "euc-jp": list(range(0xA1, 0xFF))}


@pytest.mark.parametrize("row", [row for row in CHARACTERS if "upper" in row], ids=lambda row: row["encoding"])
def test_every_byte_of_an_encoding_is_what_browsers_show(row):
    assert decoded(bytes(range(0x100)), row["encoding"]) == bytes(range(0x80)).decode() + row["upper"]


@pytest.mark.parametrize(
    "row", [row for row in CHARACTERS if "pairs" in row], ids=lambda row: row["encoding"] + row["prefix"]
)
def test_every_pair_of_an_encoding_is_what_browsers_show(row):
    """Two of Big5 stay as Python decodes them: a fraction's slash and a small backslash become the wide ones."""
    name, prefix = row["encoding"], bytes.fromhex(row["prefix"])
    seen = []
    for lead in LEADS.get(name, range(0x81, 0xFF)):
        for trail in range(0x40, 0xFF):
            pair = prefix + bytes([lead, trail])
            text = decoded(pair, name)
            if "\ufffd" not in text and (name, pair.hex()) not in (("big5", "a241"), ("big5", "a242")):
                seen.append(f"{pair.hex()} {text}")
    assert len(seen) == row["pairs"]
    assert hashlib.sha256("\n".join(seen).encode()).hexdigest() == row["sha256"]
