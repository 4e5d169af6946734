"""Scrapy's spiders under evercrawl: what they do without it, and more."""

import json
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from serving import serving

from tests.helpers.open_modes import open_to_others

pytest.importorskip("scrapy")

SPIDERS = Path(__file__).with_name("spiders.py")
ROOT = Path(__file__).parents[2]
PAGES = 4
ADDON = {"ADDONS": {"evercrawl.integrations.scrapy.Addon": 100}}


class Quotes(BaseHTTPRequestHandler):
    """A site of quotations: pages in a row, authors, a form, and what goes wrong."""

    protocol_version = "HTTP/1.1"
    asked: list[str]
    edition: dict[str, str]

    def do_GET(self):
        self.asked.append(self.path)
        kind, _, name = self.path.strip("/").partition("/")
        if self.path == "/moved":
            self.answer(301, "", (("Location", "/page/2/"),))
        elif kind == "page":
            number, said = int(name), self.edition.get(self.path, "")
            quotes = "".join(
                f'<div class="quote"><span>Quote {number}.{k}{said}</span>'
                f'<a class="author" href="/author/{k}/">A{k}</a><a class="tag">t{k}</a></div>'
                for k in range(3)
            )
            more = f'<li class="next"><a href="/page/{number + 1}/">Next</a></li>' if number < PAGES else ""
            self.answer(200, f"<html><title>{number}</title><body>{quotes}{more}</body></html>")
        elif kind == "author":
            self.answer(200, f"<html><h3>Author {name.strip('/')}</h3></html>")
        else:
            self.answer(500, "broken")

    def do_POST(self):
        self.asked.append(f"POST {self.path}")
        self.answer(200, self.rfile.read(int(self.headers["Content-Length"])).decode())

    def answer(self, status, text, headers=()):
        body = text.encode()
        self.send_response(status)
        for name, value in (("Content-Type", "text/html"), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):  # noqa: A002, ANN002
        pass


@pytest.fixture
def site():
    kind = type("OneSite", (Quotes,), {"asked": [], "edition": {}})
    with serving(kind) as server:
        yield server


def started(name, site, folder, settings=None, umask=-1):
    said = {**ADDON, "EVERCRAWL_DIR": str(folder), **(settings or {})}
    command = [sys.executable, str(SPIDERS), name, str(site.server_port), json.dumps(said)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, umask=umask)


def run(name, site, folder, settings=None, umask=-1):
    out, _ = started(name, site, folder, settings, umask).communicate(timeout=400)
    return json.loads(out)


def ask(words):
    out = subprocess.run(
        [sys.executable, "-m", "evercrawl", *words.split()], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return out.stdout


def test_nobody_else_may_write_what_it_makes_though_the_umask_lets_everyone(site, tmp_path):
    assert run("pages", site, tmp_path / "new" / "crawl", umask=0)["items"]
    assert open_to_others(tmp_path / "new") == []


def test_pages_in_a_row_are_read_once_and_again_only_where_they_changed(site, tmp_path):
    first = run("pages", site, tmp_path)
    assert [item["text"] for item in first["items"]] == [
        f"Quote {n}.{k}" for n in range(1, PAGES + 1) for k in range(3)
    ]
    assert first["stats"]["finish_reason"] == "finished"
    asked = site.RequestHandlerClass.asked
    assert asked == [f"/page/{n}/" for n in range(1, PAGES + 1)]
    assert "total cash" in ask(f"verify --dir {tmp_path}")
    top = json.loads(ask(f"top --json --dir {tmp_path}").splitlines()[0])
    assert top["url"].startswith("http://127.0.0.1")
    site.RequestHandlerClass.edition["/page/3/"] = " anew"
    again = run("pages", site, tmp_path, {"EVERCRAWL_REFRESH_AFTER_S": 1, "CLOSESPIDER_TIMEOUT": 20})
    assert "/page/1/" in asked[PAGES:], "a spider's first pages are asked for in each run"
    assert {item["text"] for item in again["items"]} <= {f"Quote 3.{k} anew" for k in range(3)}
    assert again["stats"]["evercrawl/unchanged"] >= 1


def test_two_callbacks_and_their_arguments_survive_being_killed(site, tmp_path):
    running = started("authors", site, tmp_path, {"DOWNLOAD_DELAY": 0.2})
    until = time.monotonic() + 60
    while len(site.RequestHandlerClass.asked) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    before = len(site.RequestHandlerClass.asked)
    rest = run("authors", site, tmp_path)
    asked = site.RequestHandlerClass.asked
    assert 2 <= before < PAGES + 3
    assert set(asked) == {*(f"/page/{n}/" for n in range(1, PAGES + 1)), *(f"/author/{k}/" for k in range(3))}
    assert all(item["name"] == f"Author {item['named'][1:]}" for item in rest["items"])
    assert rest["stats"]["finish_reason"] == "finished"


def test_forms_redirects_failures_and_repeats_are_what_they_are_without(site, tmp_path):
    ours = run("odd", site, tmp_path)
    usual = run("odd", site, tmp_path, {"ADDONS": {}})
    assert sorted(map(str, ours["items"])) == sorted(map(str, usual["items"]))
    assert len(ours["items"]) == 6
    assert ours["stats"]["finish_reason"] == "finished"
    shown = ask(f"why http://127.0.0.1:{site.server_port}/moved --dir {tmp_path}")
    assert "redirect" in shown
