"""The command line asks the server that runs, says the same as without, and opens the directory where none answers."""

import json
import math
import socket
from typing import Any

import pytest
from starlette.testclient import TestClient

from evercrawl.ask.remote import LENGTH, NAME, remote
from evercrawl.ask.status import Status
from evercrawl.cli.main import main
from evercrawl.serve.app import app
from evercrawl.store.disk.listening import reachable

QUESTIONS = (
    ("why", "https://a.example/"),
    ("why", "https://a.example/ships"),
    ("why", "https://unknown.example/"),
    ("top",),
    ("status",),
    ("search", "tea"),
    ("search", "ships", "--limit", "1", "--site", "b.example"),
    ("get", "https://a.example/"),
    ("changes", "--since", "30d", "--diff"),
)
TIMED = {"at", "at_s", "took_s", "rank_s"}


def asked(capsys, *words: str) -> list[Any]:
    capsys.readouterr()
    main(list(words))
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def alike(one: Any, other: Any) -> bool:
    """Whether two answers are the same but for the instant at which they were given."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(name in TIMED or alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-6)
    return bool(one == other)


@pytest.mark.parametrize("words", QUESTIONS, ids=" ".join)
def test_the_answer_is_the_same_with_a_server_and_without(crawl, capsys, words):
    options = ("--json", "--dir", str(crawl.directory))
    if words[0] == "search":
        crawl.stop()
        main(["reindex", *options])
    alone = asked(capsys, *words, *options)
    served = app(crawl.directory, "t" * 40)
    with TestClient(served, base_url="http://127.0.0.1:8400"):
        told = asked(capsys, *words, *options)
        assert served.state.line.answered == 1
    assert alone
    assert alike(alone, told), (alone, told)
    assert not (crawl.directory / NAME).exists()


def test_the_server_tells_what_was_written_just_before(crawl):
    with TestClient(app(crawl.directory, "t" * 40), base_url="http://127.0.0.1:8400"):
        for number in range(5):
            crawl.visit("https://b.example/", crawl.page("more", f"/new/{number}"))
            crawl.save()
            found = remote(crawl.directory, Status, "status")
            assert found is not None
            assert found.visits == crawl.partition.state.visits


def test_where_nobody_answers_the_directory_is_opened(crawl, capsys):
    with reachable(crawl.directory, NAME) as path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(path)  # as a server that was killed leaves it
    assert remote(crawl.directory, Status, "status") is None
    assert asked(capsys, "status", "--json", "--dir", str(crawl.directory))[0]["known"] == 3
    with TestClient(app(crawl.directory, "t" * 40), base_url="http://127.0.0.1:8400"):
        assert remote(crawl.directory, Status, "status") is not None, "the next server takes its place"


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1", LENGTH.pack(1 << 30), LENGTH.pack(3) + b"abc"])
def test_what_is_no_question_ends_its_own_connection_alone(crawl, sent):
    with TestClient(app(crawl.directory, "t" * 40), base_url="http://127.0.0.1:8400"):
        with reachable(crawl.directory, NAME) as path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(5)
            line.connect(path)
            line.sendall(sent)
            line.shutdown(socket.SHUT_WR)
            assert line.recv(10) == b""
        assert remote(crawl.directory, Status, "wrong") is None
        assert remote(crawl.directory, Status, "why", page="no such parameter") is None
        assert remote(crawl.directory, Status, "status") is not None
