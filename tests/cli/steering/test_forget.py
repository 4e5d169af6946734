"""evercrawl forget, as people use it."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from evercrawl.ask.orders.give import listens
from evercrawl.cli.main import main
from evercrawl.cluster.birth import ClusterBirth, WholeCopy, read_birth, write_birth
from evercrawl.parse.sites import site_rules
from evercrawl.store.disk.lock import Lock
from evercrawl.store.partition import Partition


def test_a_page_is_forgotten_and_every_question_says_so(crawled, site, capsys):
    url = f"{site.seeds[0]}p/2"
    assert main(["forget", url, "--dir", crawled, "--json"]) == 2
    assert "Give --yes" in capsys.readouterr().err
    assert main(["forget", "--dir", crawled]) == 2
    capsys.readouterr()
    assert main(["forget", url, "--dir", crawled, "--yes", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["event"], told["pages"], told["hosts"]) == ("forgotten", 1, 0)
    assert told["archive_bytes"] > 0
    assert told["beyond"]
    assert main(["verify", "--dir", crawled]) == 0
    assert "1 forgotten URL" in capsys.readouterr().out
    assert main(["why", url, "--dir", crawled]) == 0
    assert "never requested again" in capsys.readouterr().out
    for verb in (["export", "pages", "-o", "-"], ["export", "visits", "-o", "-"], ["top"], ["search", "page"],
                 ["export", "content", "-o", "-"], ["changes", "--since", "2020-01-01"]):  # fmt: skip
        main([*verb, "--dir", crawled])
        out = capsys.readouterr().out
        assert f"{url}\n" not in out
        assert f'"{url}"' not in out
        assert "forgotten.invalid" not in out
    assert main(["crawl", url, "--dir", crawled, "--quiet", "--seconds", "1"]) == 2
    assert "was forgotten" in capsys.readouterr().err


def test_finishing_where_nothing_was_begun_says_so(crawled, capsys):
    assert main(["forget", "--finish", "--dir", crawled]) == 0
    assert "no interrupted removal" in capsys.readouterr().out


def test_the_next_backup_into_the_same_directory_forgets_too(crawled, site, tmp_path, capsys):
    copy, url = str(tmp_path / "copy"), f"{site.seeds[0]}p/2"
    assert main(["backup", copy, "--dir", crawled]) == 0
    assert main(["forget", url, "--dir", crawled, "--yes"]) == 0
    assert main(["backup", copy, "--dir", crawled]) == 0
    assert main(["verify", "--dir", copy]) == 0
    assert "1 forgotten URL" in capsys.readouterr().out
    for path in ("journal-0000000000000000.log", "forgotten.bin"):
        assert (tmp_path / "copy" / path).read_bytes() == (tmp_path / "crawl" / path).read_bytes()


def test_a_running_crawl_forgets_and_goes_on(crawled, site, capsys):
    url, flags = f"{site.seeds[0]}p/2", ["--delay", "0.05", "--allow-net", "127.0.0.0/8", "--quiet"]
    command = [sys.executable, "-m", "evercrawl", "crawl", "--dir", crawled, *flags]
    with subprocess.Popen(command) as running:
        until = time.monotonic() + 60
        while not listens(Path(crawled)) and time.monotonic() < until:
            time.sleep(0.05)
        assert main(["forget", url, "--dir", crawled, "--yes", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["do"], told["state"]) == ("forget", "done")
        assert "forgot 1 page and" in told["result"]
        while not listens(Path(crawled)) and time.monotonic() < until:  # it goes on
            time.sleep(0.05)
        assert running.poll() is None
        running.terminate()
        assert running.wait(30) == 0
    assert main(["verify", "--dir", crawled]) == 0
    assert "1 forgotten URL" in capsys.readouterr().out


def test_copies_on_other_machines_do_not_count_once_something_is_forgotten(tmp_path, capsys):
    birth = ClusterBirth(1, "c", 2, "00" * 16, site_rules(), copies={n: WholeCopy("another disk", 3) for n in (0, 1)})
    write_birth(tmp_path, birth)
    for number in (0, 1):
        part = tmp_path / f"part-{number}"
        part.mkdir()
        with contextlib.closing(Partition(part, os.urandom, now=1.0, share=birth.share(number))) as partition:
            partition.journal.write(partition.journal.seal())
    words = ["forget", "https://private.example/", "--dir", str(tmp_path)]
    assert main(words) == 2
    assert "Give --yes" in capsys.readouterr().err
    with Lock.take(tmp_path, "evercrawl crawl", 1.0):  # a run that could write down otherwise
        assert main([*words, "--yes"]) == 3
    assert "is in use by" in capsys.readouterr().err
    assert sorted(read_birth(tmp_path).copies) == [0, 1]
    assert main([*words, "--yes"]) == 0
    assert read_birth(tmp_path).copies == {}
