"""What a crawl changes is delivered beside it: signed, at least once, also where everything is killed on the way."""

import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import feedparser
import pytest

from evercrawl.cli.delivering import FOLDER, feed_names

SECRET = "a secret"


class Receiver:
    """Takes deliveries; refuses as many as it is told to."""

    def __init__(self) -> None:
        self.taken = list[dict[str, Any]]()
        self.ids, self.refused, self.refuse = list[str](), list[str](), 0
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                at, code = (part.partition("=")[2] for part in self.headers["Evercrawl-Signature"].split(","))
                signed = hmac.new(SECRET.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
                assert hmac.compare_digest(code, signed)
                name = self.headers["Evercrawl-Delivery"]
                if receiver.refuse:
                    receiver.refuse -= 1
                    receiver.refused.append(name)
                    self.send_response(503)
                else:
                    receiver.taken.append(json.loads(body))
                    receiver.ids.append(name)
                    self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def sequences(self) -> list[int]:
        return [change["sequence"] for delivery in self.taken for change in delivery["changes"]]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


class Pages:
    """Two pages, of which one says something else each time that it is read."""

    def __init__(self) -> None:
        self.reads = 0
        pages = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                word = ""
                if self.path == "/news/":
                    pages.reads += 1
                    word = f"the headline is {'abcdefghijklmnopqrstuvwxyz'[pages.reads % 26] * 5} today"
                body = f"<html><title>{self.path}</title><p>many words stand here {word}<a href=/news/>n</a>".encode()
                self.send_response(200 if self.path in ("/", "/news/") else 404)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def pages() -> Iterator[Pages]:
    made = Pages()
    yield made
    made.server.shutdown()
    made.server.server_close()


def until(true: Any, within_s: float = 60.0) -> None:
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


def test_a_crawl_delivers_at_least_once_also_when_it_is_killed(pages, receiver, tmp_path):
    directory = tmp_path / "crawl"
    flags = ["--allow-net", "127.0.0.0/8", "--delay", "0.05", "--refresh-after", "0.2", "--quiet"]
    hooks = ["--webhook-url", receiver.url, "--webhook-secret", "env:HOOK", "--feeds", "all", "--feeds", "/news/"]
    command = [sys.executable, "-m", "evercrawl", "crawl", "--dir", str(directory), *flags, *hooks]

    def started(*seeds: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*command, *seeds], env={**os.environ, "HOOK": SECRET})

    receiver.refuse = 1
    first = started(pages.url)
    until(lambda: receiver.taken)
    assert receiver.ids[0] == receiver.refused[0]  # the same delivery, made again
    receiver.refuse = 10_000  # nothing is taken while it is killed
    reads = pages.reads
    until(lambda: pages.reads > reads + 2)
    first.send_signal(signal.SIGKILL)
    first.wait()
    receiver.refuse = 0
    before, reads = len(receiver.sequences), pages.reads
    second = started()
    until(lambda: pages.reads > reads + 3)  # it runs, and obeys signals: what the first had begun delivers for a while
    until(lambda: len(receiver.sequences) > before + 1)
    second.send_signal(signal.SIGTERM)
    assert second.wait(30) == 0
    changes = {*told(directory, min(receiver.sequences))}
    assert changes >= {*receiver.sequences}
    if not changes <= {*receiver.sequences}:  # its last seconds were too few: the next run delivers the rest
        third = started()
        until(lambda: changes <= {*receiver.sequences})
        third.send_signal(signal.SIGTERM)
        assert third.wait(30) == 0
    for name in feed_names(["all", "/news/"]).values():
        found = feedparser.parse((directory / FOLDER / name).read_bytes())
        assert found.entries
        assert all(entry.link == f"{pages.url}news/" for entry in found.entries)


def told(directory: Any, first: int) -> list[int]:
    """Return the sequences of all changes of a crawl from one on."""
    from evercrawl.ask.changes.following import FollowedCrawl
    from evercrawl.ask.changes.question import ChangeQuestion

    following = FollowedCrawl(directory)
    try:
        found, at = list[int](), first - 1
        while at < following.sequence:
            part = following.part(ChangeQuestion(after=at))
            found += [change.sequence for change in part.changes]
            at = part.upto
        return found
    finally:
        following.close()
