"""What people saw and opened is on disk before they are answered, once, and by tickets that only this server makes."""

import asyncio
import http.client
import json
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from evercrawl.crawl.learn.reindex import reindex
from evercrawl.errors import StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.model.worth.usage import USAGE_FILE, Question, Tail, UsageWriter
from evercrawl.model.worth.usage_counts import UsageCounts
from evercrawl.serve import clicks, tickets
from evercrawl.serve.app import app
from evercrawl.serve.clicks import UsageRecorder, prefetched
from evercrawl.serve.guard import token_of
from evercrawl.serve.problems import RequestError
from evercrawl.serve.tickets import LASTS_S, AnswerTicket, HitTicket, TicketOffice

TOKEN = "t" * 40
A, B = "https://a.example/", "https://b.example/"
ENTERED = {"sec-fetch-user": "?1"}


@pytest.fixture
def directory(crawl):
    directory = crawl.directory
    crawl.stop()
    reindex(directory)
    return directory


@pytest.fixture
def asking(directory):
    with TestClient(app(directory, TOKEN), base_url="http://127.0.0.1", client=("127.0.0.1", 1)) as client:
        client.follow_redirects = False
        yield client


def written(directory):
    return list(Tail(directory / USAGE_FILE).all())


def shown(page):
    """Return the ticket of the answer that a page shows, and the links of its hits with their tickets."""
    (answer,) = re.findall(r'data-retrieval="([^"]+)"', page.text)
    return answer, re.findall(r'<a href="(/go/[^"]+)" data-ticket="([^"]+)" data-url="([^"]+)"', page.text)


def until(directory, count):
    end = time.monotonic() + 20
    while len(found := written(directory)) < count and time.monotonic() < end:
        time.sleep(0.01)
    return found


def test_what_was_seen_and_opened_is_recorded_once_with_its_place(asking, directory):
    answer, hits = shown(asking.get("/?q=all about"))
    assert written(directory) == [], "what was asked for is not seen yet"
    for _ in range(2):
        assert asking.post("/api/v1/retrievals", json={"ticket": answer}).status_code == 204
        link, ticket, url = hits[1]
        assert (
            asking.post("/api/v1/clicks", content=json.dumps({"ticket": ticket, "retrieval": answer})).status_code
            == 204
        )
        assert asking.get(link).headers["location"] == url, "the same click, told in two ways"
    seen, click = written(directory)
    assert (seen.query, seen.shown, seen.first) == ("all about", tuple(each for _, _, each in hits), 0)
    assert (click.clicked, click.places, click.follows, click.id) == ((url,), (1,), True, seen.id)


def test_a_click_tells_that_its_answer_was_seen(asking, directory):
    answer, hits = shown(asking.get("/?q=all about"))
    asking.post("/api/v1/clicks", json={"ticket": hits[0][1], "retrieval": answer})
    assert [len(question.shown) for question in written(directory)] == [2, 0]


def test_without_scripts_a_link_leads_through_the_server_to_its_page_and_no_other(asking, directory):
    page = asking.get("/?q=ships", headers=ENTERED)
    (entered,) = until(directory, 1)
    assert entered.query == "ships", "somebody entered it"
    link, _, url = shown(page)[1][0]
    answer = asking.get(link)
    assert (answer.status_code, answer.headers["location"]) == (303, url)
    assert written(directory)[1].clicked == (url,)
    other = TicketOffice("another token")
    forged = other.written(HitTicket("0", time.time(), "tea", 0, "https://evil.example/"))
    body, _, mac = link.rpartition("/")[2].partition(".")
    for wrong in (forged, f"{forged.partition('.')[0]}.{mac}", body, f".{mac}", "x", "é", "a" * 60_000):
        refused = asking.get(f"/go/{wrong}")
        assert (refused.status_code, "location" in refused.headers) == (400, False), wrong
    assert asking.get(f"/go/{body}.{mac}?to=https://evil.example/").status_code == 400
    assert len(written(directory)) == 2


def test_what_a_browser_asks_for_beforehand_counts_for_nothing(asking, directory):
    ahead = {"sec-purpose": "prefetch"}
    link = shown(asking.get("/?q=tea", headers=ENTERED | ahead))[1][0][0]
    assert asking.get(link, headers=ahead).status_code == 303
    assert asking.head(link).status_code == 303
    assert prefetched({"x-moz": "prefetch"})
    assert written(directory) == []


@pytest.mark.parametrize("path", ["retrievals", "clicks"])
def test_tickets_that_are_forged_of_another_kind_or_old_are_refused(asking, directory, path, monkeypatch):
    office, now = TicketOffice(TOKEN), time.time()
    answer, hit = AnswerTicket("1", now, "tea", 0, (A,)), HitTicket("1", now, "tea", 0, A)
    right, wrong = (answer, hit) if path == "retrievals" else (hit, answer)
    given = office.written(right)
    for body in (
        {"ticket": office.written(wrong)}, {"ticket": given[:-3]}, {"ticket": "A" + given}, {"ticket": 1}, {}, [],
        {"ticket": given, "more": 1},
    ):  # fmt: skip
        refused = asking.post(f"/api/v1/{path}", json=body)
        assert (refused.status_code, bool(refused.json()["detail"])) == (400, True), body
    assert asking.post(f"/api/v1/{path}?x=1", json={"ticket": given}).status_code == 400
    assert asking.post(f"/api/v1/{path}", content=b"x" * (70 << 10)).status_code == 413
    assert asking.post(f"/api/v1/{path}", content=b"\xff").status_code == 400
    monkeypatch.setattr(tickets.time, "time", lambda: now + LASTS_S + 1)
    assert asking.post(f"/api/v1/{path}", json={"ticket": given}).status_code == 410
    assert written(directory) == []


def test_no_token_is_needed_but_another_site_cannot_tell_anything(asking, directory):
    body = {"ticket": TicketOffice(TOKEN).written(AnswerTicket("1", time.time(), "tea", 0, (A,)))}
    for foreign in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
        assert asking.post("/api/v1/retrievals", json=body, headers=foreign).status_code == 403
    own = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}
    assert asking.post("/api/v1/retrievals", json=body, headers=own).status_code == 204
    with TestClient(app(directory, TOKEN, frozenset({"crawl.example"})), base_url="http://crawl.example") as far:
        assert far.post("/api/v1/retrievals", json=body).status_code == 204
        assert far.put("/api/v1/retrievals", json=body).status_code == 401
    assert len(written(directory)) == 1, "also another server of the directory knows what is there"


def test_neither_address_nor_browser_is_written_down(asking, directory):
    page = asking.get("/?q=tea", headers={"user-agent": "Somebody/7"})
    asking.post("/api/v1/retrievals", json={"ticket": shown(page)[0]}, headers={"cookie": "a=b"})
    assert not any("set-cookie" in each.headers for each in (page, asking.get("/")))
    (line,) = (directory / USAGE_FILE).read_text().splitlines()
    assert set(json.loads(line)) == {"at", "query", "shown", "id"}
    assert "Somebody" not in line
    assert "127.0.0.1" not in line


def test_where_nothing_is_to_be_recorded_there_are_no_tickets(directory):
    with TestClient(
        app(directory, TOKEN, record=False), base_url="http://127.0.0.1", client=("127.0.0.1", 1)
    ) as client:
        page = client.get("/?q=tea", headers=ENTERED)
        assert "/go/" not in page.text
        assert "data-retrieval" not in page.text
        assert f'href="{A}"' in page.text
        refused = client.post("/api/v1/retrievals", json={"ticket": "x"})
        assert (refused.status_code, "--no-record" in refused.json()["detail"]) == (404, True)
        assert "ticket" not in client.get("/api/v1/search?q=tea", headers={"authorization": f"Bearer {TOKEN}"}).json()
    assert not (directory / USAGE_FILE).exists()


def test_programs_get_tickets_too(asking, directory):
    found = asking.get("/api/v1/search?q=all about&skip=1").json()
    (hit,) = found["hits"]
    assert (
        asking.post("/api/v1/clicks", json={"ticket": hit["ticket"], "retrieval": found["ticket"]}).status_code == 204
    )
    seen, click = written(directory)
    assert (seen.first, seen.shown, click.places) == (1, (hit["url"],), (1,))
    assert 'path="/api/v1/clicks",status="204"' in asking.get("/metrics").text
    assert "evercrawl_usage_recorded_total 2.0" in asking.get("/metrics").text


def test_a_disk_that_takes_nothing_is_told_and_keeps_nobody_from_a_page(asking, directory, monkeypatch):
    answer, hits = shown(asking.get("/?q=tea"))

    def full(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(UsageWriter, "add", full)
        refused = asking.post("/api/v1/retrievals", json={"ticket": answer})
        assert (refused.status_code, refused.json()["detail"]) == (503, "the disk is full")
        assert asking.get(hits[0][0]).status_code == 303
    assert asking.post("/api/v1/retrievals", json={"ticket": answer}).status_code == 204, "and it is tried again"
    assert len(written(directory)) == 1


def test_more_than_can_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(clicks, "MOST_WAITING", 3)

    async def told() -> tuple[list[BaseException | None], UsageRecorder]:
        recorder = UsageRecorder(tmp_path)
        recorder.begin()
        answers = [AnswerTicket(str(i), time.time(), "tea", 0, (A,)) for i in range(5)]
        found = await asyncio.gather(*map(recorder.retrieved, answers), return_exceptions=True)
        await recorder.end()
        return found, recorder

    found, recorder = asyncio.run(told())
    assert [isinstance(each, RequestError) for each in found] == [False] * 3 + [True] * 2
    assert (recorder.recorded, recorder.failed, len(written(tmp_path))) == (3, 2, 3)


def test_places_of_clicks_and_of_continued_answers_are_counted(directory):
    crawl = opened(directory)
    counts = UsageCounts(crawl.state)
    counts.learn([Question(1.0, "all", (A, B), id="1", first=10), Question(2.0, clicked=(B,), id="1", places=(11,))])
    crawl.close()
    assert (counts.questions, counts.clicks_at.nonzero()[0].tolist()) == (1, [11])
    assert counts.shown_at.sum(0).nonzero()[0].tolist() == [10, 11]


LOAD_S = 0.7


def test_what_was_answered_outlives_kill_9(directory):
    """A real server; browsers of eight addresses tell of clicks until it is killed, three times."""
    office, acknowledged, lock = TicketOffice(token_of(directory)), set[str](), threading.Lock()

    def tells(port: int, source: str) -> None:
        browser = http.client.HTTPConnection("127.0.0.1", port, timeout=10, source_address=(source, 0))
        try:
            while True:
                answer = office.answer("tea", 0, [A, B])
                body = {"ticket": office.hits(answer)[1], "retrieval": office.written(answer)}
                browser.request("POST", "/api/v1/clicks", json.dumps(body))
                response = browser.getresponse()
                response.read()
                if response.status == 204:
                    with lock:
                        acknowledged.add(answer.id)
        except (OSError, http.client.HTTPException):
            browser.close()

    for _ in range(3):
        before = len(acknowledged)
        with serving(directory) as (process, port):
            threads = [threading.Thread(target=tells, args=(port, f"127.0.0.{i}")) for i in range(2, 10)]
            for thread in threads:
                thread.start()
            end = time.monotonic() + 20
            while len(acknowledged) < before + 100 and time.monotonic() < end:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            for thread in threads:
                thread.join()
        assert len(acknowledged) >= before + 100
    found = written(directory)
    clicked = [question.id for question in found if question.follows]
    seen = [question.id for question in found if not question.follows]
    assert acknowledged <= set(clicked)
    assert acknowledged <= set(seen)
    assert (len(set(clicked)), len(set(seen))) == (len(clicked), len(seen)), "each once"


class serving:  # noqa: N801
    """A server in a process of its own."""

    def __init__(self, directory: Path) -> None:
        command = [sys.executable, "-m", "evercrawl", "serve", "--dir", str(directory), "--port", "0", "--json"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> tuple[subprocess.Popen[str], int]:
        assert self._process.stdout is not None
        link = urlsplit(json.loads(self._process.stdout.readline())["link"])
        assert link.port is not None
        return self._process, link.port

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
