"""`evercrawl crawl --partitions`: real processes on this machine."""

import json
import os
import random
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from evercrawl.ask.orders.give import listens
from evercrawl.cli.main import main
from evercrawl.cluster.birth import ClusterBirth, part_directories, read_birth, write_birth
from evercrawl.config import load
from evercrawl.model.stored.reader import opened
from evercrawl.parse.sites import site_rules
from evercrawl.simulate.parted.reached import reached
from evercrawl.simulate.worlds.made_web import Answer, MadeWeb


def test_a_crawl_is_divided_and_nothing_is_lost_when_processes_are_killed(served):
    crawl = served.start("--partitions", "4", "--until-idle", "--quiet")
    draw, killed = random.Random(1), 0
    for _ in range(3):
        while crawl.poll() is None and not (there := served.processes()):
            time.sleep(0.05)
        if crawl.poll() is None:
            os.kill(draw.choice(there), signal.SIGKILL)
            killed += 1
        time.sleep(1.5)
    out, err = crawl.communicate(timeout=120)
    assert crawl.returncode == 0, out + err
    assert killed, "the crawl was over before anything was killed"
    found = served.read()
    assert found.wrong == []
    assert found.under_way == 0.0
    assert reached(served.server.web, served.server.seed) == set(found.visited)
    assert len({number for parts in found.visited.values() for number in parts}) > 1
    lives = read_birth(served.directory).lives
    said = {
        (sample.name, sample.labels["partition"]): sample.value
        for family in text_string_to_metric_families((served.directory / "partitions.prom").read_text())
        for sample in family.samples
    }
    assert sum(said["evercrawl_partition_lives_total", str(number)] for number in range(4)) == lives
    assert lives >= 4 + killed
    known = [opened(part) for part in part_directories(served.directory)]
    for number, partition in enumerate(known):
        both = (
            said["evercrawl_partition_known_urls", str(number)] + said["evercrawl_partition_foreign_urls", str(number)]
        )
        assert both == partition.state.known.count
        assert said["evercrawl_partition_at_rest", str(number)] == 1.0
        partition.close()


def test_a_killed_coordinator_leaves_nothing_behind_and_the_crawl_resumes(served):
    crawl = served.start("--partitions", "2", "--quiet")
    while not (there := served.processes()) or len(served.server.asked) < 30:
        assert crawl.poll() is None, crawl.communicate()
        time.sleep(0.05)
    crawl.kill()
    crawl.communicate()
    until = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() and b"spawn" in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in there):
        assert time.monotonic() < until, "the processes of partitions end with their coordinator"
        time.sleep(0.1)
    assert served.read().wrong == []
    again = served.start("--until-idle", "--quiet", seed=False)
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, out + err
    assert served.read().wrong == []
    assert read_birth(served.directory).lives >= 4


def test_no_more_pages_are_visited_than_were_asked_for(served):
    crawl = served.start(
        "--partitions", "2", "--pages", "25", "--quiet", "--archive-to", f"file://{served.folder}/objects"
    )
    out, err = crawl.communicate(timeout=120)
    assert crawl.returncode == 0, out + err
    found = served.read()
    assert found.wrong == []
    assert 15 <= len(found.visited) <= 25
    for number, part in enumerate(part_directories(served.directory)):  # each has a prefix, for names are alike
        copied = served.folder / "objects" / f"part-{number}"
        there = sorted(file.name for file in (part / "archive").glob("evercrawl-*"))
        assert there == sorted(file.name for file in copied.iterdir())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--partitions", "3"], "power of two"),
        (["--partitions", "2", "--importance", "aopic"], "one partition"),
        (["--partitions", "2", "--policy", "webfountain"], "plans over all pages"),
        (["--partitions", "2", "--durable", "keeper"], "keeper_dir is not set"),
        (["--partitions", "2", "--cluster", "auto", "--durable", "keeper", "--keeper-dir", "/"], "keeper_dir out"),
        (["--durable", "keeper"], "needs a crawl in partitions"),
    ],
)
def test_what_cannot_be_gets_a_sentence_and_nothing_is_written(served, given, said):
    done = subprocess.run(served.crawling(*given), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert not served.directory.exists() or not list(served.directory.iterdir())


def test_the_number_of_partitions_is_for_good_and_two_crawls_do_not_share_a_directory(served):
    crawl = served.start("--partitions", "2", "--quiet")
    while len(served.server.asked) < 10:
        assert crawl.poll() is None, crawl.communicate()
        time.sleep(0.05)
    other = subprocess.run(served.crawling("--partitions", "4"), capture_output=True, text=True, check=False)
    assert (other.returncode, "2 partitions, which cannot be changed" in other.stderr) == (2, True), other.stderr
    second = subprocess.run(served.crawling(), capture_output=True, text=True, check=False)
    assert (second.returncode, "evercrawl crawl" in second.stderr) == (3, True), second.stderr
    crawl.send_signal(signal.SIGTERM)
    out, err = crawl.communicate(timeout=60)
    assert crawl.returncode == 0, out + err
    alone = served.run("crawl", "--dir", str(served.directory / "part-1"), code=2)
    assert "one of 2 partitions" in alone.stderr


class Pictured:
    """A web each of whose pages shows a picture of its own host, and one that all share."""

    def __init__(self, web: MadeWeb, shared: str) -> None:
        self._web, self._shared = web, shared

    def __getattr__(self, name: str) -> object:
        return getattr(self._web, name)

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        if path.endswith(".png"):
            return Answer(200, {"Content-Type": "image/png"}, f"{origin}{path}".encode())
        found = self._web.answer(origin, path, headers | {"accept-encoding": "identity"}, at)
        shown = found.body.replace(b"</html>", f"<img src=/own.png><img src={self._shared}></html>".encode())
        return replace(found, body=shown)


def test_the_verbs_answer_for_all_partitions(served, capsys):
    shared = f"{served.server.seed.partition('/p/')[0].rstrip('/')}/shared.png"
    served.server.web = Pictured(served.server.web, shared)
    crawl = served.start("--partitions", "2", "--until-idle", "--quiet", "--requisites")
    out, err = crawl.communicate(timeout=120)
    assert crawl.returncode == 0, out + err
    found = served.read()

    def verb(*given: str, code: int = 0) -> tuple[str, str]:
        capsys.readouterr()
        assert main([*given, "--dir", str(served.directory)]) == code
        return capsys.readouterr()

    def rows(*given: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in verb(*given, "--json")[0].splitlines()]

    (status,) = rows("status")
    assert (status["partitions"], status["answered"], status["running"]) == (2, 2, False)
    assert status["known"] == len(found.visited)
    assert status["letters"] > 0 == status["letters_under_way"]
    pictures = {url: count for url, count in served.server.asked.items() if url.endswith(".png")}
    own = [count for url, count in pictures.items() if url.endswith("/own.png")]
    assert set(own) == {1}
    assert len(own) > 2
    assert pictures[shared] in (1, 2)  # needed in both; one that still waits for its address keeps no crawl going
    counts = status["requisites"]
    assert counts["archived"] == len(own) + pictures[shared]
    assert counts["owed"] == counts["known"] - counts["archived"]
    assert status["visits"] == sum(served.server.asked.values()) - sum(
        count for url, count in served.server.asked.items() if url.endswith(("/robots.txt", ".png"))
    ) + sum(1 for url in found.visited if "/private/" in url)

    top = rows("top", "1000")
    importance, whole = found.importance, sum(found.importance.values())
    assert [row["rank"] for row in top] == list(range(1, len(top) + 1))
    for row in top[:20]:
        assert row["importance"] == pytest.approx(importance[row["url"]] / whole, rel=0.02)
    assert sum(row["importance"] for row in top) == pytest.approx(1.0, abs=0.01)

    hits = rows("search", "frontier", "--limit", "20")
    assert len({hit["url"] for hit in hits}) == 20
    assert len({hit["site"] for hit in hits}) > 1
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)

    for number in range(2):
        page = next(url for url, parts in found.visited.items() if "/p/" in url and number in parts)
        verb("get", page)
        verb("why", page)
    verified = rows("verify")
    assert [row["of"] for row in verified] == ["part-0", "part-1", "between partitions"]
    assert all(row["fine"] for row in verified)
    assert verified[-1]["checked"]["letters"] == status["letters"]

    output = served.folder / "pages.jsonl"
    verb("export", "pages", "-o", str(output))
    written = [
        line for number in (0, 1) for line in (served.folder / f"pages-part-{number}.jsonl").read_text().splitlines()
    ]
    assert len(written) == len(found.visited)
    assert [row["event"] for row in rows("changes")] == ["end", "end"]  # nothing of this web changes
    assert "has 2 partitions" in verb("plan", code=2)[1]
    (served.directory / "part-1" / "crawl.json").write_bytes(b"no")
    (served.directory / "part-1" / "crawl-copy.json").write_bytes(b"no")
    assert "1 of 2 partitions answered" in verb("top")[1]


def config(directory: Path, name: str) -> object:
    return getattr(load(directory / "crawl.toml"), name)


def test_orders_change_all_partitions_and_what_bounds_the_crawl_is_shared_out(served, capsys):
    crawl = served.start("--partitions", "2", "--quiet", "--rate", "40")
    while len(served.server.asked) < 20 or not all(listens(part) for part in part_directories(served.directory)):
        assert crawl.poll() is None, crawl.communicate()
        time.sleep(0.05)

    def verb(*given: str, code: int = 0) -> str:
        assert main([*given, "--dir", str(served.directory)]) == code
        return "".join(capsys.readouterr())

    verb("exclude", "/p/1", "--wait")
    verb("set", "rate_per_s", "30", "--wait")
    assert "plans over all pages" in verb("set", "policy", "webfountain", code=2)
    asked = {url for url in served.server.asked if "/p/1" in url}
    parts = part_directories(served.directory)
    assert [config(each, "exclude") for each in [served.directory, *parts]] == [("/p/1",)] * 3
    assert [config(each, "rate_per_s") for each in [served.directory, *parts]] == [30.0, 15.0, 15.0]
    assert {config(each, "policy") for each in [served.directory, *parts]} == {"price"}
    time.sleep(1.0)
    crawl.send_signal(signal.SIGTERM)
    out, err = crawl.communicate(timeout=60)
    assert crawl.returncode == 0, out + err
    assert {url for url in served.server.asked if "/p/1" in url} == asked
    verb("exclude", "/p/1", "--lift")
    assert config(served.directory, "exclude") == ()
    assert "has no '/p/1' to lift" in verb("exclude", "/p/1", "--lift", code=2)
    page = next(url for url in served.server.asked if "/p/2" in url)
    verb("forget", page, "--yes")
    verb("verify")
    said = verb("suspects")
    assert said.count("suspicions among") == 2
    assert "sites in several are not seen" in said
    rows = [json.loads(line) for line in verb("suspects", "--json").splitlines() if line.startswith("{")]
    assert [row["event"] for row in rows].count("end") == 2
    site = page.split("/")[2].removeprefix("www.").partition(":")[0]
    assert site in verb("plan", "--site", site, "--json")
    assert page not in served.read().visited


@pytest.mark.parametrize("verb", ["plan", "select", "copies", "import"])
def test_a_verb_about_one_partition_says_so(tmp_path, capsys, verb):
    """They are asked before anything is read, so the directory need not hold more than what it says of itself."""
    write_birth(tmp_path, ClusterBirth(1, "c", 2, "00" * 16, 0))
    given = {"copies": ["https://a.example/"], "import": ["x.warc"], "select": ["--budget", "1"]}.get(verb, [])
    assert main([verb, *given, "--dir", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "part-0" in said
    assert ("do not add up" in said) == (verb == "plan")


def test_another_suffix_list_is_refused_and_nothing_is_written(tmp_path, capsys):
    write_birth(tmp_path, ClusterBirth(1, "c", 2, "00" * 16, 12345))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(["crawl", "--dir", str(tmp_path)]) == 2
    assert "install the version of publicsuffixlist that the crawl began with" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_crawl_in_partitions_does_not_go_on_once_its_settings_are_lost(tmp_path, capsys):
    """Excluded pages would be requested again, and nobody would notice."""
    write_birth(tmp_path, ClusterBirth(1, "crawl", 2, "00" * 16, site_rules()))
    before = {path.name for path in tmp_path.iterdir()}
    for more in ([], ["http://127.0.0.1:9/"], ["--exclude", "/private/"]):
        assert main(["crawl", *more, "--dir", str(tmp_path), "--quiet", "--seconds", "0"]) == 2
        assert f"{tmp_path / 'crawl.toml'} is missing" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} - {"lock"} == before


def test_settings_with_a_password_are_closed_to_others_in_partitions_too(tmp_path, capsys):
    file = tmp_path / "crawl.toml"
    file.write_text('[network]\nproxy = "http://me:secret@127.0.0.1:9"\n')
    file.chmod(0o644)
    asked = ["crawl", "http://127.0.0.1:9/", "--dir", str(tmp_path), "--partitions", "2", "--seconds", "0"]
    assert main(asked) == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert "could be read by others" in "".join(capsys.readouterr())
