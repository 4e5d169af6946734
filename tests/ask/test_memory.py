"""What takes how much memory: by item, by the system, and per URL, page, host and folder."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from evercrawl.ask.memory import memory
from evercrawl.cli.main import main
from evercrawl.cli.show.memory import lines
from evercrawl.config import Config
from evercrawl.crawl import crawl
from evercrawl.model import footprint
from evercrawl.model.footprint import HOST, PAGE, URL, Footprint, MemoryItem, resident_bytes
from evercrawl.progress import Limits
from evercrawl.store.disk.lock import lock_for_crawl
from evercrawl.store.records.records import RECORD


def test_what_was_opened_is_told_item_by_item(filled):
    found = memory(filled.directory)
    items = {item.name: item for item in found.opened}
    assert items["records"] == MemoryItem("records", PAGE, 10, 10 * RECORD.itemsize)
    assert [(unit.of, unit.count) for unit in found.units] == [(URL, 11), (PAGE, 10), (HOST, 1)]
    assert found.crawl is None
    assert found.running_bytes is None
    assert lines(found)[0] == "no crawl has recorded its memory use yet"


def test_a_crawl_leaves_what_it_had_by_item_and_by_the_system(tmp_path, capsys):
    seeds = [f"http://host{number}.invalid/" for number in range(3)]
    asyncio.run(crawl(tmp_path, Config(), seeds, Limits(seconds=0.0)))
    found = memory(tmp_path)
    assert found.crawl is not None
    assert found.crawl.pid == os.getpid()
    names = [item.name for item in found.crawl.items]
    assert len(names) == len(set(names)) >= 12
    assert {item.of for item in found.crawl.items} <= {URL, PAGE, HOST, "folder"}
    assert found.crawl.resident_bytes > found.crawl.named_bytes > 0
    assert found.running_bytes is None, "nobody crawls there any more"
    assert main(["status", "--memory", "--dir", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert f"crawl process {os.getpid()} at " in told
    assert "other: program, libraries, buffers" in told
    assert main(["status", "--memory", "--json", "--dir", str(tmp_path)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["crawl"]["named_bytes"] == sum(item["bytes"] for item in said["crawl"]["items"])
    assert [unit["count"] for unit in said["units"] if unit["of"] == HOST] == [3]


def test_what_a_running_process_takes_is_asked_of_the_system(made, tmp_path):
    made.stop()
    footprint.keep_footprint(made.partition.disk, Footprint(1.0, os.getpid(), 7, ()))
    lock = lock_for_crawl(made.directory)
    try:
        found = memory(made.directory)
    finally:
        lock.release()
    assert found.running_bytes == pytest.approx(resident_bytes(), rel=0.2)


def test_the_system_is_right_about_what_a_process_takes():
    code = (
        "from evercrawl.model.footprint import resident_bytes as now\n"
        "before = now(); held = bytearray(b'x') * (64 << 20); print(now() - before)"
    )
    took = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(took.stdout) == pytest.approx(64 << 20, rel=0.05)
    assert resident_bytes(0x7FFFFFFF) is None


def test_a_damaged_file_is_as_none(filled):
    (filled.directory / footprint.FOOTPRINT_FILE).write_bytes(b"{")
    assert memory(filled.directory).crawl is None


def test_one_answer_at_a_time(tmp_path, capsys):
    assert main(["status", "--memory", "--calibration", "--dir", str(tmp_path)]) == 2
    assert "give one of them" in capsys.readouterr().err
