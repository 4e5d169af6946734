"""Crawls that a program runs itself: visits as they come, and records of pages, once a version."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from pyarrow.parquet import read_table
from serving import serving

import evercrawl
from evercrawl import catalog
from evercrawl.errors import ConfigError
from tests.helpers.open_modes import open_to_others

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "LIBRARY.md"
PAGES = 12
SETTINGS = {"delay_s": 0, "allow_net": ["127.0.0.0/8"], "workers": "0", "index": False, "sitemaps": False}
SCRIPT = """
import sys, evercrawl
with evercrawl.crawl(sys.argv[1], dir=sys.argv[2], until_idle=True, delay_s=0.1, allow_net=["127.0.0.0/8"], workers="0",
                     index=False, sitemaps=False) as crawl:
    @crawl.page("/[0-9]+$")
    def titles(page):
        return [{"title": page.title, "half": half} for half in (1, 2)]
    for visit in crawl:
        pass
"""


class Numbers(BaseHTTPRequestHandler):
    """A page for each number, which leads to the next two."""

    protocol_version = "HTTP/1.1"
    edition = ""

    def do_GET(self):
        number = self.path.partition("?")[0].strip("/")
        known = number.isdigit() and int(number) < PAGES
        links = "".join(f'<a href="/{n}">{n}</a>' for n in (2 * int(number) + 1, 2 * int(number) + 2)) if known else ""
        body = f"<html><title>{number}{self.edition}</title><body>Number {number}{links}</body></html>".encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):  # noqa: A002, ANN002
        pass


@pytest.fixture
def site():
    with serving(type("OneSite", (Numbers,), {})) as server:
        yield server


def seed(site):
    return f"http://127.0.0.1:{site.server_port}/0"


def titles(page):
    return {"title": page.title, "links": len(page.links), "text": page.text[:8]}


async def first_run(url, directory):
    async with evercrawl.crawl(url, dir=directory, until_idle=True, **SETTINGS) as crawl:
        crawl.page(r"/[0-9]+$")(titles)
        crawl.page("/3$", name="three")(lambda page: 1 / 0)
        visits = [visit async for visit in crawl]
    return crawl, visits


async def second_run(directory):
    async with evercrawl.crawl(dir=directory, pages=3, refresh_after_s=0.01, **SETTINGS) as crawl:
        crawl.page(r"/[0-9]+$")(titles)
        await crawl.run()
    return crawl


def test_visits_come_as_they_are_made_and_hooks_make_records_of_new_versions(site, tmp_path):
    crawl, visits = asyncio.run(first_run(seed(site), tmp_path))
    assert crawl.summary.reason == "idle"
    assert [visit.outcome for visit in visits].count("ok") == PAGES
    assert next(visit for visit in visits if visit.url.endswith("/0")).body.startswith(b"<html><title>0<")
    rows = list(crawl.records("titles"))
    assert len(rows) == PAGES
    assert {row["title"] for row in rows} == {str(n) for n in range(PAGES)}
    assert all(row["version"] == 0 and row["at"].tzinfo and row["links"] == 2 for row in rows)
    assert crawl.records("titles").write(tmp_path / "titles.parquet") == PAGES
    assert crawl.records("titles").write(tmp_path / "titles.jsonl") == PAGES
    assert list(crawl.records("three")) == [], "what a hook raises costs its record alone"
    with evercrawl.Crawl.open(tmp_path) as stored:
        assert stored.records("titles").arrow().num_rows == PAGES
        with pytest.raises(ConfigError, match="these hooks have: titles"):
            stored.records("others")

    site.RequestHandlerClass.edition = " anew"

    rows = list(asyncio.run(second_run(tmp_path)).records("titles"))
    assert PAGES < len(rows) <= PAGES + 3
    assert all(row["title"].endswith(" anew") for row in rows if row["version"] == 1)


def test_a_program_that_the_caller_names_may_be_run(tmp_path):
    (tmp_path / "named").touch(0o700)
    with evercrawl.crawl("https://example.org/", dir=tmp_path / "crawl", browser=str(tmp_path / "named")):
        pass
    assert catalog.trusts_program(str(tmp_path / "named"))
    assert not catalog.trusts_program(str(tmp_path / "other"))


def test_the_examples_of_the_page_run(site, tmp_path, monkeypatch, capsys):
    _, sync, asynchronous = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    settings = {"SETTINGS": {**SETTINGS, "refresh_after_s": 0.01}}
    code = sync.replace("https://docs.python.org/3/", seed(site)).replace("pages=100", "pages=3, **SETTINGS")
    exec(code.replace("/library/", "/1$"), settings)
    assert capsys.readouterr().out.splitlines().count(f"{seed(site)} ok True") == 1
    assert [row["title"] for row in read_table("modules.parquet").to_pylist()] == ["1"]
    exec(asynchronous.replace("pages=20", "pages=2, **SETTINGS"), settings)
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["ok", "ok"]


def test_a_plain_loop_runs_it_in_a_thread_and_leaving_it_ends_the_run(site, tmp_path):
    with evercrawl.crawl(seed(site), dir=tmp_path, **SETTINGS) as crawl:
        for count, visit in enumerate(crawl):
            assert visit.url.startswith("http://127.0.0.1")
            if count == 2:
                break
    assert crawl.summary.reason == "stopped"
    assert not any(thread.name == "evercrawl" for thread in threading.enumerate())
    with pytest.raises(ConfigError, match="is not a URL"):
        evercrawl.crawl("http://[", dir=tmp_path)
    with pytest.raises(ConfigError, match="not a regular expression"):
        evercrawl.crawl(dir=tmp_path).page("(")
    with pytest.raises(ConfigError, match="name a seed"), evercrawl.crawl(dir=tmp_path / "none") as crawl:
        list(crawl)


def test_a_hook_is_not_kept_busy_by_an_address_made_for_its_pattern(site, tmp_path):
    found = []
    with evercrawl.crawl(seed(site) + "?" + "a" * 60, dir=tmp_path, until_idle=True, **SETTINGS) as crawl:
        crawl.page("([a-z]+)+[?]([a-z]+)+!$")(titles)
        crawl.page("([a-z]+)+$", name="found")(lambda page: found.append(page.url))
        list(crawl)
    assert found == [seed(site) + "?" + "a" * 60]


def test_nobody_else_may_write_what_it_makes_though_the_umask_lets_everyone(site, tmp_path):
    command = [sys.executable, "-c", SCRIPT, seed(site), str(tmp_path / "new" / "crawl")]
    environment = {**os.environ, "PYTHONPATH": str(Path(evercrawl.__file__).parents[1])}
    subprocess.run(command, env=environment, check=True, timeout=120, umask=0)
    assert made(tmp_path / "new")
    assert open_to_others(tmp_path / "new") == []


def test_records_survive_a_kill_and_are_there_once(site, tmp_path):
    command = [sys.executable, "-c", SCRIPT, seed(site), str(tmp_path / "crawl")]
    environment = {**os.environ, "PYTHONPATH": str(Path(evercrawl.__file__).parents[1])}
    running = subprocess.Popen(command, env=environment)
    until = time.monotonic() + 60
    while time.monotonic() < until and len(made(tmp_path)) < 4 and running.poll() is None:
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert made(tmp_path)
    subprocess.run(command, env=environment, check=True, timeout=120)
    assert sorted(made(tmp_path)) == sorted((str(n), half) for n in range(PAGES) for half in (1, 2))


def made(tmp_path):
    from evercrawl.library.records import RecordTable

    return [(row["title"], row["half"]) for row in RecordTable(tmp_path / "crawl", "titles")]
