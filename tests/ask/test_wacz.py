"""An archive as one WACZ file: what the format wants, held by py-wacz where it is installed."""

import hashlib
import io
import json
import os
import shutil
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest
from archived import page, taken, write_warc
from warcio.archiveiterator import ArchiveIterator

from evercrawl.cli.main import main

ROOT = Path(__file__).parents[2]
BESIDE = ROOT / ".venv-replay" / "bin" / "wacz"
WACZ = str(BESIDE) if BESIDE.exists() else shutil.which("wacz")
pytestmark = pytest.mark.filterwarnings("ignore:Unclosed file <tempfile.SpooledTemporaryFile")  # warcio's


@pytest.fixture
def made(tmp_path, capsys):
    """Return a WACZ file of a crawl with three pages, one of them in two versions."""
    dates = [f"2026-0{month}-01T10:00:00Z" for month in (1, 2)]
    captures = [
        (f"http://a.example/{n}", date, page(f"page {n}", date if n else "")) for date in dates for n in range(3)
    ]
    write_warc(tmp_path / "a.warc.gz", captures)
    taken(tmp_path / "crawl", tmp_path / "a.warc.gz")
    path = tmp_path / "a.wacz"
    assert main(["export", "wacz", "-o", str(path), "--dir", str(tmp_path / "crawl"), "--json"]) == 0
    end = json.loads(capsys.readouterr().out)
    assert (end["pages"], end["captures"]) == (3, 6)
    return path


def test_readers_that_look_at_the_directory_alone_find_the_entries(made):
    """ReplayWeb.page takes the extra field of an entry to be empty where that in the directory is."""
    data = made.read_bytes()
    with zipfile.ZipFile(made) as whole:
        for entry in whole.infolist():
            name_bytes, extra_bytes = struct.unpack_from("<HH", data, entry.header_offset + 26)
            start = entry.header_offset + 30 + name_bytes + (extra_bytes if entry.extra else 0)
            assert data[start : start + entry.file_size] == whole.read(entry.filename)


def test_everything_in_it_has_its_digest_and_the_index_leads_to_the_records(made):
    with zipfile.ZipFile(made) as whole:
        package = json.loads(whole.read("datapackage.json"))
        assert package["wacz_version"] == "1.1.1"
        assert {row["path"] for row in package["resources"]} == set(whole.namelist()) - {
            "datapackage.json", "datapackage-digest.json"}  # fmt: skip
        for row in package["resources"]:
            data = whole.read(row["path"])
            assert (row["hash"], row["bytes"]) == (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))
        assert all(
            entry.compress_type == zipfile.ZIP_STORED for entry in whole.infolist() if "archive/" in entry.filename
        )
        digest = json.loads(whole.read("datapackage-digest.json"))["hash"]
        assert digest == f"sha256:{hashlib.sha256(whole.read('datapackage.json')).hexdigest()}"
        lines = whole.read("indexes/index.cdx").decode().splitlines()
        assert lines == sorted(lines)
        for line in lines:
            facts = json.loads(line.split(" ", 2)[2])
            data = whole.read(f"archive/{facts['filename']}")[int(facts["offset"]) :]
            with io.BytesIO(data) as file:
                record = next(ArchiveIterator(file))
                assert record.rec_headers.get_header("WARC-Target-URI") == facts["url"]
        rows = [json.loads(row) for row in whole.read("pages/pages.jsonl").decode().splitlines()]
        assert rows[0]["format"] == "json-pages-1.0"
        assert [row["title"] for row in rows[1:]] == ["page 0", "page 1", "page 2"]


@pytest.mark.skipif(WACZ is None, reason="no py-wacz; .ci/replay installs it")
def test_py_wacz_finds_it_valid(made):
    assert WACZ is not None
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([WACZ, "validate", "-f", str(made)], capture_output=True, text=True, env=bare)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the passed WACZ is valid" in done.stdout + done.stderr


def test_another_name_is_refused(tmp_path, capsys):
    assert main(["export", "wacz", "-o", str(tmp_path / "a.zip"), "--dir", str(tmp_path)]) == 2
    assert "should end in .wacz" in capsys.readouterr().err
