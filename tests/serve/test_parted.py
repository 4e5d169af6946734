"""A crawl in several partitions, served: the answers are made here, how they come about is tested with partitions."""

import json
import re
import threading
import time

import pytest
from starlette.testclient import TestClient

from evercrawl.ask.parted import PartStates
from evercrawl.ask.parts_line import PartState
from evercrawl.ask.search.search import SearchAnswer
from evercrawl.errors import StoreError
from evercrawl.serve.parted import app
from evercrawl.serve.parted.app import parted_app

TOKEN = "t" * 40


class Answers:
    """What two partitions would say."""

    def __init__(self) -> None:
        self.asked, self.hold, self.trouble = list[str](), threading.Event(), ""
        self.hold.set()

    def states(self):
        parts = [
            PartState(0, "one", up=True, lives=2, known=7, under_way=3, leases=2),
            PartState(1, "two", let=1, refused=4),
        ]
        return PartStates(running=True, parts=parts, note="")

    def top(self, most):
        self.asked.append(f"top {most}")
        self.hold.wait(10)
        return [], "1 of 2 partitions answered (partition 1: its process is not running)"

    def search(self, words, narrow, limit):
        self.asked.append(f"search {words} {narrow.site} {limit}")
        if self.trouble:
            raise StoreError(self.trouble)
        return SearchAnswer((), more=False, took_s=0.001, instead="ships"), "1 of 2 partitions answered (...)"


@pytest.fixture
def answers():
    return Answers()


def asking(answers, host="127.0.0.1", client="127.0.0.1", public=""):
    served = parted_app(answers, TOKEN, frozenset({"crawl.example"}), public)
    return TestClient(served, base_url=f"http://{host}", client=(client, 5000))


def test_the_table_has_all_partitions_with_their_letters_and_leases(answers):
    with asking(answers) as client:
        told = client.get("/api/v1/partitions").json()
        page = client.get("/partitions")
    assert told["running"]
    assert [(part["number"], part["where"], part["up"], part["lives"]) for part in told["parts"]] == [
        (0, "one", True, 2), (1, "two", False, 0),
    ]  # fmt: skip
    assert [(part["under_way"], part["leases"], part["let"]) for part in told["parts"]] == [(3, 2, 0), (0, 0, 1)]
    script = re.findall(r'src="(/static/[^"]+js)"', page.text)[0]
    with asking(answers) as client:
        source = client.get(script).text
    for name in PartState.__struct_fields__:
        if name != "bytes_in" and name != "in_flight":
            assert f"part.{name}" in source or f'"{name}"' in source, f"{name} is not shown"
    for place in re.findall(r'place\("(\w+)"\)', source):
        assert f'id="{place}"' in page.text


def test_figures_of_each_partition_are_there_for_prometheus(answers):
    with asking(answers) as client:
        told = client.get("/metrics")
    assert told.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'evercrawl_partition_letters_under_way{partition="0"} 3' in told.text
    assert 'evercrawl_partition_up{partition="1"} 0' in told.text
    assert 'evercrawl_partition_messages_refused_total{partition="1"} 4' in told.text


def test_answers_say_how_many_partitions_answered(answers):
    with asking(answers) as client:
        assert client.get("/api/v1/top?limit=5").json() == {
            "pages": [], "note": "1 of 2 partitions answered (partition 1: its process is not running)",
        }  # fmt: skip
        found = client.get("/api/v1/search?q=tea&site=a.example&limit=3").json()
        page = client.get("/?q=tea").text
    assert (found["instead"], found["note"]) == ("ships", "1 of 2 partitions answered (...)")
    assert "1 of 2 partitions answered" in page
    assert "/?q=ships" in page
    assert answers.asked == ["top 5", "search tea a.example 3", "search tea  10"]


def test_what_is_asked_twice_is_answered_once(answers):
    answers.hold.clear()
    with asking(answers) as client:
        threads = [threading.Thread(target=client.get, args=("/api/v1/top",)) for _ in range(3)]
        for thread in threads:
            thread.start()
        answers.hold.set()
        for thread in threads:
            thread.join(10)
        client.get("/api/v1/top")
    assert answers.asked == ["top 20"]


def test_questions_that_others_keep_from_being_asked_are_refused_in_time(answers, monkeypatch):
    monkeypatch.setattr(app, "TURN_S", 0.05)
    answers.hold.clear()
    with asking(answers) as client:
        threads = [threading.Thread(target=client.get, args=(f"/api/v1/top?limit={most}",)) for most in (1, 2)]
        for thread in threads:
            thread.start()
        while len(answers.asked) < 2:
            time.sleep(0.005)
        refused = client.get("/api/v1/search?q=tea")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
        answers.hold.set()
        for thread in threads:
            thread.join(10)
        assert client.get("/api/v1/search?q=tea").status_code == 200


def test_what_is_wrong_is_told(answers):
    answers.trouble = "the index is damaged"
    with asking(answers) as client:
        assert client.get("/api/v1/search?q=tea").status_code == 503
        assert "the index is damaged" in client.get("/?q=tea").text
        assert client.get("/api/v1/search").status_code == 400
        assert client.get("/api/v1/partitions?all=1").status_code == 400
        assert "/api/v1/none" in json.loads(client.get("/api/v1/none").text)["detail"]


@pytest.mark.parametrize("path", ["/api/v1/partitions", "/api/v1/top", "/metrics", "/api/v1/search?q=tea"])
def test_from_another_machine_reading_needs_the_token(answers, path):
    with asking(answers, "crawl.example", "192.0.2.7") as far:
        assert far.get(path).status_code == 401
        assert far.get(path, headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert "link with the token" in far.get("/?q=tea").text
    with asking(answers, "crawl.example", "192.0.2.7", public="search") as far:
        assert far.get(path).status_code == (200 if "search" in path else 401)
