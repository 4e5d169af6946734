"""Exports and the archive go to object storage: to a real one, and what it refuses is said."""

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import fastwarc
import pyarrow.parquet as pq
import pytest
from object_server import BUCKET, object_server

from evercrawl.cli.main import main
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback
from evercrawl.store.objects.pushing import push, pushed_to
from evercrawl.store.objects.target import ObjectTarget


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with object_server(tmp_path_factory.mktemp("objects")) as environment:
        yield environment


@pytest.fixture
def bucket(served: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in served.items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}"


def test_a_table_and_the_archive_reach_a_bucket_whole_and_again_only_what_changed(bucket, crawled, capsys):
    assert main(["export", "pages", "-o", f"{bucket}/tables/pages.parquet", "--dir", crawled]) == 0
    there = ObjectTarget(f"{bucket}/tables").get("pages.parquet")
    assert pq.read_table(io.BytesIO(there)).num_rows > 24
    capsys.readouterr()
    command = ["export", "archive", "-o", f"{bucket}/one", "--dir", crawled, "--json"]
    assert main(command) == 0
    first = json.loads(capsys.readouterr().out)
    target = ObjectTarget(f"{bucket}/one")
    local = {path.name: path.read_bytes() for path in Path(crawled, "archive").iterdir() if ".warc" in path.name}
    assert first["copied_files"] == first["files"] == len(target.names()) == 2 * len(local)
    for name, data in local.items():
        assert target.get(name) == data
        found = [record for record in fastwarc.ArchiveIterator(io.BytesIO(data)) if record.is_http]
        assert len(found) >= 24
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["copied_files"] == 0
    forgotten = max(indexed(target), key=len)
    assert main(["forget", forgotten, "--yes", "--dir", crawled]) == 0
    assert f"copy in {bucket}/one holds it until" in capsys.readouterr().out
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["copied_files"] > 0
    assert forgotten not in indexed(target)


def indexed(target: ObjectTarget) -> set[str]:
    rows = [row for name in target.names() if name.endswith(".cdxj") for row in target.get(name).decode().splitlines()]
    return {json.loads(row[row.index("{") :])["url"] for row in rows}


def test_a_running_crawl_copies_what_it_closed(bucket, site: Loopback, tmp_path):
    directory = tmp_path / "crawl"
    directory.mkdir()
    (directory / "crawl.toml").write_text("[store]\nsegment_bytes = 2000\n")
    flags = ["--delay", "0.02", "--allow-net", NETWORK, "--refresh-after", "0.1", "--quiet"]
    more = ["--archive-to", f"{bucket}/two", "--dir", str(directory)]
    running = subprocess.Popen([sys.executable, "-m", "evercrawl", "crawl", *site.seeds, *flags, *more])
    target = ObjectTarget(f"{bucket}/two")
    try:
        end = time.monotonic() + 90.0
        while len(found := [name for name in target.names() if name.endswith(".gz")]) < 3:
            assert time.monotonic() < end, "nothing was copied"
            assert running.poll() is None
            time.sleep(0.1)
    finally:
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
    for name in found:
        assert target.get(name) == (directory / "archive" / name).read_bytes()
    assert pushed_to(directory) == [f"{bucket}/two"]


def test_a_folder_serves_too_and_what_is_being_written_is_left_out_where_asked(crawled, tmp_path):
    target = ObjectTarget(f"file://{tmp_path}/copies")
    assert push(Path(crawled), target, closed=True).files == 0
    made = push(Path(crawled), target)
    assert made.copied_bytes == sum(target.size(name) or 0 for name in target.names())
    Path(crawled, "derived", "pushed.json").write_bytes(b"{not json")
    assert push(Path(crawled), target).copied_files == made.copied_files


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3://nobody/x/pages.jsonl", "check the bucket's name and the credentials"),
        ("s3://pages.jsonl", "names no object"),
        ("s3://name:word@bucket/pages.jsonl", "must not contain credentials"),
        ("s3://bucket/pages.csv", "ends in .parquet or .jsonl"),
    ],
)
def test_what_cannot_be_written_is_said(bucket, crawled, capsys, url, said):
    assert main(["export", "pages", "-o", url, "--dir", crawled]) in (2, 3)
    printed = capsys.readouterr()
    assert said in printed.err
    assert "wrote" not in printed.out


def test_where_the_package_is_missing_the_extra_is_named(crawled, capsys, monkeypatch):
    monkeypatch.setattr("evercrawl.extras.find_spec", lambda name: None)
    assert main(["export", "archive", "-o", "s3://bucket/x", "--dir", crawled]) == 2
    assert "pip install 'evercrawl[cloud]'" in capsys.readouterr().err
