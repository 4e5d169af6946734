"""What clients without the token report of a public search is bounded per network, page and day."""

import asyncio
import time

import pytest
from starlette.testclient import TestClient

from evercrawl.crawl.learn.reindex import reindex
from evercrawl.errors import StoreError
from evercrawl.model.worth import usage
from evercrawl.model.worth.usage import USAGE_FILE, Question, Tail, UsageWriter
from evercrawl.serve import clicks, strangers
from evercrawl.serve.app import app
from evercrawl.serve.clicks import UsageRecorder
from evercrawl.serve.problems import RequestError
from evercrawl.serve.strangers import StrangerShares
from evercrawl.serve.tickets import AnswerTicket, HitTicket

TOKEN = "t" * 40


def recorded(directory):
    return list(Tail(directory / USAGE_FILE).all())


def opened(client, **headers: str):
    """Search anew and open the first hit; return the status."""
    return opened_by(client, list(headers.items()))


def opened_by(client, headers):
    hit = client.get("/api/v1/search?q=all about", headers=headers).json()["hits"][0]
    return client.post("/api/v1/clicks", json={"ticket": hit["ticket"]}, headers=headers).status_code


def test_a_network_opens_a_page_once_a_day_however_often_it_searches(crawl):
    directory = crawl.directory
    crawl.stop()
    reindex(directory)
    made, addresses = app(directory, TOKEN, public="search"), ["203.0.113.9"]

    async def connected(scope, receive, send) -> None:
        await made(scope | {"client": (addresses[-1], 1)}, receive, send)

    with TestClient(connected, base_url="http://127.0.0.1") as client:
        assert [opened(client) for _ in range(4)] == [204, 202, 202, 202]
        assert opened(client, **{"x-forwarded-for": "198.51.100.1"}) == 202, "whoever is connected may claim that"
        assert opened(client, authorization=f"Bearer {TOKEN}") == 204
        ticket = client.get("/api/v1/search?q=all about").json()["hits"][0]["ticket"]
        assert client.get(f"/go/{ticket}", follow_redirects=False).status_code == 303
        addresses.append("127.0.0.1")
        forwarded = [f"203.0.113.{i}" for i in range(3)] + ["198.51.100.1, 192.0.2.7", "192.0.2.9"]
        assert [opened(client, **{"x-forwarded-for": each}) for each in forwarded] == [202, 202, 202, 204, 202]
        lines = [("x-forwarded-for", each) for each in ("198.18.0.1", "192.0.2.9")]
        assert opened_by(client, lines) == 202, "the last line is the proxy's"
        assert [opened(client) for _ in range(3)] == [204] * 3, "on this machine"
    found = [question for question in recorded(directory) if question.clicked]
    assert [question.stranger for question in found] == [True, False, True, False, False, False]
    assert not any(each in (directory / USAGE_FILE).read_text() for each in ("203.0", "192.0", "198.51"))


def test_a_network_has_a_share_of_the_day(monkeypatch):
    monkeypatch.setattr(strangers, "OPENINGS", 3)
    shares = StrangerShares()
    assert [shares.opens("n", f"u{i}", 0.0) for i in range(5)] == [True] * 3 + [False] * 2
    assert shares.opens("other", "u9", 0.0)
    shares.give_back("n", "u0", 0.0)
    assert [shares.opens("n", f"u{i}", 0.0) for i in (1, 0, 4)] == [False, True, False]
    assert shares.opens("n", "u0", strangers.DAY_S)


def test_what_is_remembered_of_a_day_is_bounded(monkeypatch):
    monkeypatch.setattr(strangers, "PAIRS", 3)
    monkeypatch.setattr(strangers, "NETWORKS", 2)
    shares = StrangerShares()
    assert [shares.opens(f"n{i}", "u", 0.0) for i in range(4)] == [True] * 3 + [False]
    assert [shares.sees(f"n{i}", 9, 0.0) for i in (0, 1, 2, 0)] == [True, True, False, True]


def test_results_that_strangers_saw_are_recorded_up_to_so_many_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(strangers, "BYTES", 100)

    async def told() -> list[bool]:
        recorder = UsageRecorder(tmp_path)
        recorder.begin()
        answers = [AnswerTicket(str(i), time.time(), "tea", 0, ("http://a.example/",) * 2) for i in range(4)]
        found = [await recorder.retrieved(answer, "192.0.2.0/24") for answer in (*answers, answers[0])]
        found.append(await recorder.retrieved(answers[3]))
        await recorder.end()
        return found

    assert asyncio.run(told()) == [True, True, False, False, True, True]
    assert len(recorded(tmp_path)) == 3


def test_what_could_not_be_recorded_counts_towards_no_share(tmp_path, monkeypatch):
    """A full disk, and a server with too much to write, do not use up what a network may report."""
    monkeypatch.setattr(strangers, "BYTES", 50)
    monkeypatch.setattr(strangers, "OPENINGS", 1)
    hit = HitTicket("x", time.time(), "tea", 0, "http://a.example/")

    async def told() -> UsageRecorder:
        recorder = UsageRecorder(tmp_path)
        recorder.begin()
        with monkeypatch.context() as broken:
            broken.setattr(UsageWriter, "add", lambda *_, **__: raised(StoreError("no room")))
            for _ in range(3):
                with pytest.raises(StoreError):
                    await recorder.clicked(hit, network="192.0.2.0/24")
        with monkeypatch.context() as crowded:
            crowded.setattr(clicks, "MOST_WAITING", 0)
            for _ in range(3):
                with pytest.raises(RequestError):
                    await recorder.clicked(hit, network="192.0.2.0/24")
        assert await recorder.clicked(hit, network="192.0.2.0/24")
        await recorder.end()
        return recorder

    asyncio.run(told())
    assert [(question.query, question.clicked) for question in recorded(tmp_path)] == [("tea", ()), ("", (hit.url,))]


def test_what_could_not_be_recorded_yesterday_changes_nothing_today(monkeypatch):
    monkeypatch.setattr(strangers, "OPENINGS", 1)
    monkeypatch.setattr(strangers, "BYTES", 9)
    shares = StrangerShares()
    assert shares.opens("n", "u", 0.0)
    assert shares.sees("n", 9, 0.0)
    today = strangers.DAY_S
    assert shares.opens("n", "u", today)
    assert shares.sees("n", 9, today)
    shares.give_back("n", "u", 0.0)
    shares.give_back_bytes("n", 9, 0.0)
    assert not shares.opens("n", "u", today)
    assert not shares.sees("n", 9, today)
    shares.give_back_bytes("n", 4, today)
    assert shares.sees("n", 4, today)


def raised(error: Exception) -> None:
    raise error


def test_when_the_file_is_full_the_oldest_goes_first_what_strangers_reported(tmp_path, monkeypatch):
    writer = UsageWriter(tmp_path)
    writer.add([Question(float(i), f"tea {i}", stranger=i % 2 == 0) for i in range(100)], once=False)
    tail, size = Tail(tmp_path / USAGE_FILE), (tmp_path / USAGE_FILE).stat().st_size
    assert len(list(tail.all())) == 100
    monkeypatch.setattr(clicks, "MOST_BYTES", size - 1)

    async def told() -> None:
        recorder = UsageRecorder(tmp_path)
        recorder.begin()
        await recorder.clicked(HitTicket("x", time.time(), "tea", 0, "http://a.example/"))
        await recorder.end()
        assert (recorder.recorded, recorder.failed) == (2, 0)

    asyncio.run(told())
    found = recorded(tmp_path)
    assert (tmp_path / USAGE_FILE).stat().st_size < 0.6 * size
    kept = [question for question in found if question.id != "x"]
    own = [question.at for question in kept if not question.stranger]
    assert own == [float(i) for i in range(1, 100, 2)]
    assert all(question.at > 70 for question in kept if question.stranger)
    assert tail.more()
    assert tail.read()[0], "whoever follows the file begins anew"
    writer.add([Question(1e9, "later")], once=False)
    assert recorded(tmp_path)[-1].query == "later"
    assert [file.name for file in tmp_path.iterdir()] == [USAGE_FILE]


def test_nothing_is_written_to_a_file_that_was_shortened_meanwhile(tmp_path, monkeypatch):
    """Whoever waits for the lock of the old file writes to the one that has replaced it."""
    writer, other, lock = UsageWriter(tmp_path), UsageWriter(tmp_path), usage.fcntl.flock
    other.add([Question(float(i), "tea") for i in range(100)], once=False)
    first = iter([True])

    def late(file: int, how: int) -> None:
        if next(first, False):
            other.shorten(1_000)
        lock(file, how)

    monkeypatch.setattr(usage.fcntl, "flock", late)
    writer.add([Question(1e9, "later")], once=False)
    assert recorded(tmp_path)[-1].query == "later"
    assert len(recorded(tmp_path)) < 100


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_shortened_file_is_as_closed_as_it_was(tmp_path, mode):
    writer = UsageWriter(tmp_path)
    writer.add([Question(float(i), "tea") for i in range(100)], once=False)
    (tmp_path / USAGE_FILE).chmod(mode)
    writer.shorten(1_000)
    about = (tmp_path / USAGE_FILE).stat()
    assert about.st_size <= 500
    assert about.st_mode & 0o777 == mode


def test_what_is_reported_is_recorded_although_the_file_cannot_be_shortened(tmp_path, monkeypatch):
    UsageWriter(tmp_path).add([Question(float(i), "tea") for i in range(100)], once=False)
    (tmp_path / f"{USAGE_FILE}.new").mkdir()
    monkeypatch.setattr(clicks, "MOST_BYTES", 100)

    async def told() -> None:
        recorder = UsageRecorder(tmp_path)
        recorder.begin()
        await recorder.clicked(HitTicket("x", time.time(), "tea", 0, "http://a.example/"))
        await recorder.end()
        assert recorder.failed == 0

    asyncio.run(told())
    assert recorded(tmp_path)[-1].id == "x"


def test_a_file_that_cannot_be_shortened_stays_as_it_is(tmp_path, monkeypatch):
    writer = UsageWriter(tmp_path)
    writer.add([Question(float(i), "tea") for i in range(100)], once=False)
    before = (tmp_path / USAGE_FILE).read_bytes()
    (tmp_path / f"{USAGE_FILE}.new").mkdir()
    with pytest.raises(Exception, match=USAGE_FILE):
        writer.shorten(100)
    assert (tmp_path / USAGE_FILE).read_bytes() == before
