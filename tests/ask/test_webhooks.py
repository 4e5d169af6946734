"""Deliveries to a real server on this machine, which takes them, refuses, hangs or dies; and the feed."""

import hashlib
import hmac
import http.server
import json
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import feedparser
import pytest

from evercrawl.ask.changes.atom import ENTRIES, atom
from evercrawl.ask.changes.following import FollowedCrawl
from evercrawl.ask.changes.page_change import PageChange
from evercrawl.ask.changes.question import ChangeQuestion
from evercrawl.ask.changes.texts import word_diff
from evercrawl.ask.changes.webhooks import LONGEST_WAIT_S, Webhook
from evercrawl.errors import ConfigError, StoreError
from evercrawl.fetch.webhook import Posted, post
from evercrawl.store.cursors import FILE, Cursors
from tests.helpers.hand_made import SITE, HandMade

SECRET = "a secret of 32 characters, or more"
WAIT_S = 20.0


class Hooks(http.server.ThreadingHTTPServer):
    """Takes deliveries; `plan` says what is answered to the next ones: a status, "hang" or "die"; else 200."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Hook)
        self.plan, self.taken, self.asked = list[object](), list[dict[str, object]](), 0
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class Hook(http.server.BaseHTTPRequestHandler):
    """One delivery."""

    server: Hooks

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked += 1
        step = self.server.plan.pop(0) if self.server.plan else 200
        if step == "hang":
            self.server.released.wait(WAIT_S)
        if step in ("hang", "die"):
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if step == 200:
            stamp, code = (part.partition("=")[2] for part in self.headers["Evercrawl-Signature"].split(","))
            expected = hmac.new(SECRET.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
            assert hmac.compare_digest(code, expected)
            assert json.loads(body)["delivery"] == self.headers["Evercrawl-Delivery"]
            self.server.taken.append(json.loads(body))
        self.send_response(int(step))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hooks() -> Iterator[Hooks]:
    server = Hooks()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


class Clock:
    """Time that passes when it is told to."""

    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def changing(made: HandMade) -> HandMade:
    made.seed(f"{SITE}/")
    for text in ("one", "two", "three", "four"):
        made.visit(f"{SITE}/", made.page("Home", text=f"words of page {text}"))
    made.save()
    return made


def hook_of(directory: Path, url: str, clock: Clock, cursors: Cursors, timeout_s: float = 10.0) -> Webhook:
    question = ChangeQuestion(after=cursors.get(url) or 0, all=True)

    def carry(url: str, body: bytes, fields: dict[str, str]) -> Posted:
        return post(url, body, fields, timeout_s=timeout_s)

    return Webhook(url, SECRET, question, cursors, carry, clock, lambda change: {"sequence": change.sequence})


def sequences(hooks: Hooks) -> list[int]:
    return [change["sequence"] for taken in hooks.taken for change in taken["changes"]]


def turned(hook: Webhook, following: FollowedCrawl) -> None:
    """Take one turn, the answer waited for."""
    hook.turn(following.crawl.birth.id, following.part, WAIT_S)


def test_changes_are_delivered_once_signed_and_in_order(changing, hooks):
    following, cursors = FollowedCrawl(changing.directory), Cursors(changing.directory)
    hook = hook_of(changing.directory, hooks.url, Clock(), cursors)
    turned(hook, following)
    assert len(sequences(hooks)) == 3
    changing.visit(f"{SITE}/", changing.page("Home", text="words of page five"))
    changing.save()
    following.turn()
    for _ in range(3):
        turned(hook, following)
    assert len(hooks.taken) == 2
    assert sequences(hooks) == sorted(set(sequences(hooks)))
    assert cursors.get(hooks.url) == hook.sequence == following.sequence
    cursors.close()
    following.close()


def test_what_is_not_taken_is_sent_again_with_back_off(changing, hooks):
    following, cursors, clock = FollowedCrawl(changing.directory), Cursors(changing.directory), Clock()
    hook = hook_of(changing.directory, hooks.url, clock, cursors, timeout_s=0.5)
    hooks.plan = [500, "die", "hang", 404, 302]
    waits = list[float]()
    while not hooks.taken:
        turned(hook, following)
        failed = hook.failed
        if failed:
            assert hook.error
            asked, start = hooks.asked, clock.now
            while hooks.asked == asked and not hooks.taken:
                clock.now += 0.5
                turned(hook, following)
            waits.append(clock.now - start)
            assert clock.now - start < 100
        assert cursors.get(hooks.url) == (hook.sequence if hooks.taken else None)
    assert len(sequences(hooks)) == 3
    assert [round(wait) for wait in waits[:4]] == pytest.approx([1, 2, 4, 8], abs=1)
    assert (hook.failed, hook.error) == (0, "")
    cursors.close()
    following.close()


def test_waits_are_bounded(changing):
    following, cursors, clock = FollowedCrawl(changing.directory), Cursors(changing.directory), Clock()
    refused = list[float]()

    def carry(*_: object) -> Posted:
        refused.append(clock.now)
        return Posted(503, "status 503")

    hook = Webhook("http://a.example/", "", ChangeQuestion(all=True), cursors, carry, clock, lambda _: {})
    for _ in range(3_000):
        turned(hook, following)
        clock.now += 60.0
    assert max(b - a for a, b in pairwise(refused)) <= 1.2 * LONGEST_WAIT_S
    assert len(refused) > 40
    cursors.close()
    following.close()


def test_a_server_that_hangs_holds_up_nothing(changing, hooks):
    following, cursors = FollowedCrawl(changing.directory), Cursors(changing.directory)
    hook = hook_of(changing.directory, hooks.url, Clock(), cursors)
    hooks.plan = ["hang"]
    began = time.monotonic()
    for _ in range(5):
        assert not hook.turn(following.crawl.birth.id, following.part, 0.01)
    assert time.monotonic() - began < 5.0
    assert hook.sequence == 0
    hooks.released.set()
    cursors.close()
    following.close()


def deliver(directory: Path, url: str, most: int) -> None:
    """Deliver change by change, and be killed after some."""
    clock, cursors = Clock(), Cursors(directory)
    following = FollowedCrawl(directory)
    hook = hook_of(directory, url, clock, cursors)
    for turn in range(1_000):
        hook.turn(following.crawl.birth.id, lambda question, _: following.part(question, 1), WAIT_S)
        if turn + 1 == most:
            os.kill(os.getpid(), signal.SIGKILL)
        if hook.sequence == following.sequence:
            break


def test_after_a_kill_nothing_is_left_out(changing, hooks):
    for step in range(12):
        changing.visit(f"{SITE}/", changing.page("Home", text=f"words of page {step}"))
    changing.save()
    fork = multiprocessing.get_context("fork")
    for most in (1, 3, 2, 0):
        child = fork.Process(target=deliver, args=(changing.directory, hooks.url, most))
        child.start()
        child.join(60)
        assert child.exitcode == (-signal.SIGKILL if most else 0)
    found = sequences(hooks)
    assert len(set(found)) == 15
    assert list(dict.fromkeys(found)) == sorted(set(found))  # in order; perhaps some of them twice


def test_one_process_delivers_at_a_time_and_a_damaged_file_is_said_so(tmp_path):
    cursors = Cursors(tmp_path)
    cursors.put("http://a.example/?secret=1", 7)
    with pytest.raises(StoreError, match="another process delivers"):
        Cursors(tmp_path)
    cursors.close()
    again = Cursors(tmp_path)
    assert (again.get("http://a.example/?secret=1"), again.get("http://b.example/")) == (7, None)
    again.close()
    assert b"secret" not in (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(b'{"a": ')
    with pytest.raises(StoreError, match="delete it"):
        Cursors(tmp_path)
    (tmp_path / FILE).unlink()
    Cursors(tmp_path).close()


def test_private_addresses_are_connected_to_as_the_setting_says(hooks):
    refused = post(hooks.url, b"{}", {}, private=False)
    assert (refused.status, hooks.asked) == (0, 0)
    assert "loopback" in refused.error
    hooks.plan = [418]
    assert post(hooks.url, b"{}", {}) == Posted(418, "status 418")


def test_a_target_that_is_no_http_url_is_refused(tmp_path):
    cursors = Cursors(tmp_path)
    with pytest.raises(ConfigError, match="http or https"):
        Webhook("file:///etc/passwd", "", ChangeQuestion(), cursors, post, Clock(), lambda _: {})
    cursors.close()


def change(sequence: int, **more: object) -> PageChange:
    fields = {
        "sequence": sequence, "url": f"{SITE}/?a=1&b=2", "title": "A < B", "kind": "changed",
        "at": 1_700_000_000.0 + sequence, "before_at": 1.0, "extent": 0.5, "times": 1, "importance": 0.1,
        "status": 200, "noise": False, "version": 2, "before": 1, "slot": 0,
    }  # fmt: skip
    return PageChange(**fields | more)  # type: ignore[arg-type]


def test_a_feed_is_valid_and_its_identifiers_are_stable():
    hostile = "</content><script>alert(1)</script>\x00\x1b\ud800 & ]]>"
    rows = [
        (change(9, title=hostile), word_diff(["old", "<b>"], ["new", hostile, "<i>"])),
        (change(8, kind="appeared", title=""), None),
    ]
    made = atom(rows, "c0ffee", ChangeQuestion(site="example.org"), 0.0)
    found = feedparser.parse(made)
    assert not found.bozo
    assert found.version == "atom10"
    assert found.feed.title == "Changes of example.org"
    assert [entry.link for entry in found.entries] == [f"{SITE}/?a=1&b=2"] * 2
    assert found.entries[0].updated == "2023-11-14T22:13:29.000Z"
    assert found.entries[1].title == f"{SITE}/?a=1&b=2 (appeared)"
    assert "<script" not in found.entries[0].content[0].value
    assert "<ins>" in found.entries[0].content[0].value
    again = feedparser.parse(atom(rows[1:], "c0ffee", ChangeQuestion(site="example.org"), 9e8))
    assert (again.feed.id, again.entries[0].id) == (found.feed.id, found.entries[1].id)
    others = [atom(rows, "c0ffee", ChangeQuestion(), 0.0), atom(rows, "other", ChangeQuestion(site="example.org"), 0.0)]
    assert all(feedparser.parse(other).feed.id != found.feed.id for other in others)


def test_a_feed_is_bounded_and_may_be_empty():
    assert (
        len(feedparser.parse(atom([(change(i), None) for i in range(ENTRIES + 9)], "c", ChangeQuestion(), 0.0)).entries)
        == ENTRIES
    )
    empty = feedparser.parse(atom([], "c", ChangeQuestion(), 0.0))
    assert (empty.bozo, empty.entries, empty.feed.updated) == (False, [], "1970-01-01T00:00:00.000Z")
