"""On how much of a crawl an answer rests, and answers that are known already."""

import threading
import time

import pytest

from evercrawl.serve import sequences
from evercrawl.serve.live import Live

FIELD = "evercrawl-sequence"


def test_an_answer_waits_for_what_it_is_to_rest_on(client, crawl):
    before = client.get("/api/v1/status").headers[FIELD]
    assert client.get(f"/api/v1/status?at_least={before}").json()["visits"] == 3
    now = sequences.sequence_of(before, crawl.partition.birth.id)
    later = sequences.written(crawl.partition.birth.id, now + 1)

    def write() -> None:
        crawl.visit("https://b.example/", crawl.page("Ships", text="other words"))
        crawl.save()

    asked = list[int]()
    asking = threading.Thread(target=lambda: asked.append(client.get(f"/api/v1/visits?at_least={later}").status_code))
    asking.start()
    write()
    asking.join(20)
    assert asked == [200]
    assert client.get(f"/api/v1/visits?at_least={later}").json()["visits"]


def test_what_the_journal_does_not_have_is_told_after_a_while(client, crawl, monkeypatch):
    monkeypatch.setattr(sequences, "WAITS_S", 0.05)
    never = sequences.written(crawl.partition.birth.id, 10**9)
    answer = client.get(f"/api/v1/status?at_least={never}")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize("token", ["", "12", "x" * 300, "\u202e", "kqNhYmOSAQ", "lQEB", "-1"])
def test_what_is_no_token_gets_a_sentence(client, token):
    answer = client.get("/api/v1/status", params={"at_least": token})
    assert (answer.status_code, answer.json()["status"]) == (400, 400)


def test_a_token_of_another_crawl_is_refused(client):
    token = sequences.written("another crawl's", 1)
    assert "another crawl" in client.get(f"/api/v1/status?at_least={token}").json()["detail"]
    assert client.get(f"/api/v1/status?at_least={token}&at_least={token}").status_code == 400


def test_an_answer_that_is_known_is_not_sent_again(client):
    first = client.get("/api/v1/content?url=https://b.example/")
    name = first.headers["etag"]
    again = client.get("/api/v1/content?url=https://b.example/", headers={"if-none-match": f'"x", {name}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", name)
    assert FIELD in again.headers
    other = client.get("/api/v1/content?url=https://a.example/", headers={"if-none-match": name})
    assert other.status_code == 200
    assert "etag" not in client.get("/api/v1/content?url=https://never.example/").headers


def test_a_stream_goes_on_where_it_broke_off(client, crawl):
    def first(**headers: str) -> tuple[str, str]:
        with client.stream("GET", "/api/v1/events", headers=headers) as stream:
            lines = stream.iter_lines()
            token, _, data = (next(lines) for _ in range(3))
        return token.removeprefix("id: "), data

    token, _ = first()
    crawl.visit("https://b.example/", crawl.page("Ships", text="other words"))
    crawl.save()
    until = time.monotonic() + 20
    while not client.get("/api/v1/visits").json()["visits"] and time.monotonic() < until:
        time.sleep(0.01)
    resumed, data = first(**{"last-event-id": token})
    assert '"url":"https://b.example/"' in data
    assert '"recent":[]' in first(**{"last-event-id": resumed})[1]
    assert '"url":"https://b.example/"' in first(**{"last-event-id": "of another crawl"})[1]


def test_each_event_has_the_visits_since_the_one_before():
    asked = list[int]()
    live = Live()

    def gather(after: int) -> dict[str, object]:
        asked.append(after)
        return {"token": "t", "sequence": after + 10}

    async def follow() -> None:
        live.begin(gather)
        stream = live.stream()
        assert (await anext(stream)).startswith(b"id: t\n")
        live.told(1)
        await anext(stream)
        live.told(1)
        await anext(stream)
        await stream.aclose()

    import asyncio

    asyncio.run(asyncio.wait_for(follow(), 10))
    assert asked == [-1, -1, 9]
