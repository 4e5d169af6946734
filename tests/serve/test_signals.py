"""IndexNow and WebSub, as publishers and hubs speak them, over real connections of this machine."""

import asyncio
import contextlib
import hmac
import http.client
import json
import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

import pytest
import uvicorn
from serving import serving

from evercrawl.config import Config
from evercrawl.crawl.hearing import Hearing
from evercrawl.fetch.small import SmallAnswer
from evercrawl.serve.signals.allowance import of_visits
from evercrawl.serve.signals.indexnow import AGAIN_S, AT_A_SITE, PROOFS, PROVED_S, KeyProver, Submission
from evercrawl.serve.signals.receiver import CLIENT_BURST, INDEXNOW_BYTES, SignalReceiver
from evercrawl.serve.signals.websub import FILE, RETRY_S, Subscriptions, links_of
from evercrawl.store import signals
from evercrawl.store.signals import Signal, SignalFile, append_signals, signals_in

KEY = "0123456789abcdef"


@dataclass
class Publisher:
    """A site with a key, a feed and a hub of its own; what it was asked is in `asked`."""

    port: int = 0
    files: dict[str, tuple[dict[str, str], bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    subscribed: list[dict[str, str]] = field(default_factory=list)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    made = Publisher()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append(self.path)
            headers, body = made.files.get(self.path, ({}, b""))
            self.send_response(200 if self.path in made.files else 404)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["content-length"])).decode()
            made.subscribed.append({name: values[0] for name, values in parse_qs(sent).items()})
            self.send_response(202)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as server:
        made.port = server.server_port
        yield made


OPEN = Config(allow_net=("127.0.0.0/8",), delay_s=1.0)


@contextlib.contextmanager
def listening(directory, topics=(), config=OPEN, hosts=("127.0.0.1",)):
    """Run the receiver on a socket of its own; give how to ask it, and the receiver."""
    receiver = SignalReceiver(directory, config, lambda host: host in hosts, "http://127.0.0.1:1", tuple(topics))
    server = uvicorn.Server(uvicorn.Config(receiver.app(), port=0, log_level="error", proxy_headers=False))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    until = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < until
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]

    def ask(method, path, body=None, headers=None) -> tuple[int, str]:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        line.request(method, path, body, headers or {})
        got = line.getresponse()
        found = got.status, got.read().decode()
        line.close()
        return found

    try:
        yield ask, receiver
    finally:
        server.should_exit = True
        thread.join(20)


def heard(directory):
    """Return what a crawl in this directory is told."""
    told = list[str]()
    hearing = Hearing(SignalFile(directory), lambda urls, dates, at: told.extend(urls) or True)
    hearing.turn(time.time())
    return told


def submission(publisher, *paths: str, **more: str) -> str:
    fields = {"host": f"127.0.0.1:{publisher.port}", "key": KEY, "urlList": [publisher.base + path for path in paths]}
    return json.dumps(fields | more)


def test_a_publisher_with_its_key_names_pages_by_get_and_by_post(tmp_path, publisher):
    publisher.files[f"/{KEY}.txt"] = ({}, f"{KEY}\n".encode())
    with listening(tmp_path) as (ask, _):
        assert ask("GET", f"/indexnow?url={publisher.base}/new&key={KEY}")[0] == 200
        assert ask("POST", "/indexnow", submission(publisher, "/a", "/b", "/a"))[0] == 200
        assert publisher.asked == [f"/{KEY}.txt"], "a key that was found is not asked for again"
    assert heard(tmp_path) == [f"{publisher.base}/{path}" for path in ("new", "a", "b")]


def test_who_cannot_prove_that_the_host_is_his_is_not_heard(tmp_path, publisher):
    publisher.files[f"/{KEY}.txt"] = ({}, b"another-key")
    with listening(tmp_path) as (ask, _):
        status, said = ask("POST", "/indexnow", submission(publisher, "/a"))
        assert (status, "does not hold the key" in said) == (403, True)
        assert ask("POST", "/indexnow", submission(publisher, "/a"))[0] == 429
        assert len(publisher.asked) == 1, "however often it is tried, a host is asked now and then"
    assert heard(tmp_path) == []


def test_nothing_of_a_foreign_host_or_of_one_that_is_not_crawled(tmp_path, publisher):
    publisher.files[f"/{KEY}.txt"] = publisher.files[f"/sub/{KEY}.txt"] = ({}, KEY.encode())
    foreign = json.loads(submission(publisher, "/a"))
    foreign["urlList"].append("https://victim.example/")
    with listening(tmp_path) as (ask, _):
        assert ask("POST", "/indexnow", json.dumps(foreign))[0] == 422
        elsewhere = submission(publisher, "/a", keyLocation="https://evil.example/key.txt")
        assert ask("POST", "/indexnow", elsewhere)[0] == 422
        below = f"{publisher.base}/sub/{KEY}.txt"
        assert ask("POST", "/indexnow", submission(publisher, "/a", keyLocation=below))[0] == 422
        assert ask("POST", "/indexnow", submission(publisher, host="victim.example"))[0] == 400
        assert publisher.asked == []
        assert ask("POST", "/indexnow", submission(publisher, "/sub/a", keyLocation=below))[0] == 200
    with listening(tmp_path, hosts=()) as (ask, _):
        publisher.asked.clear()
        assert ask("POST", "/indexnow", submission(publisher, "/a"))[0] == 422
        assert publisher.asked == []
    assert heard(tmp_path) == [f"{publisher.base}/sub/a"]


def test_the_guard_stands_before_keys_too(tmp_path, publisher):
    publisher.files[f"/{KEY}.txt"] = ({}, KEY.encode())
    with listening(tmp_path, config=Config()) as (ask, _):
        status, said = ask("POST", "/indexnow", submission(publisher, "/a"))
    assert status == 403
    assert "cannot be read" in said
    assert publisher.asked == []


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"\xff", b'{"host": 3}', b'{"host":"a","key":"short","urlList":["http://a/"]}',
     b'{"host":"a.example","key":"0123456789","urlList":[]}', b'{"host":"","key":"0123456789","urlList":["x"]}'],
)  # fmt: skip
def test_what_is_no_submission_is_told_so(tmp_path, body):
    with listening(tmp_path) as (ask, _):
        status, said = ask("POST", "/indexnow", body)
    assert status in (400, 422)
    assert json.loads(said)["detail"]


def test_a_flood_is_bounded_for_each_host_and_each_client(tmp_path, publisher):
    publisher.files[f"/{KEY}.txt"] = ({}, KEY.encode())
    slow = Config(allow_net=("127.0.0.0/8",), delay_s=60.0)
    with listening(tmp_path, config=slow) as (ask, _):
        status, said = ask("POST", "/indexnow", submission(publisher, *(f"/{i}" for i in range(5000))))
        assert (status, said) == (200, "100 taken, 4900 beyond what can be visited")
        assert ask("POST", "/indexnow", submission(publisher, "/more"))[0] == 429
        assert ask("POST", "/indexnow", b" " * (INDEXNOW_BYTES + 1))[0] == 413
        answers = {ask("GET", "/nothing")[0] for _ in range(3)} | {
            ask("GET", "/websub/x")[0] for _ in range(int(CLIENT_BURST) + 50)
        }
        assert 429 in answers
    assert len(heard(tmp_path)) == 100


def test_clients_behind_a_proxy_of_this_machine_have_turns_of_their_own(tmp_path, publisher):
    """Else a false submission would keep the owner of a host from being heard, and a flood everybody."""
    publisher.files[f"/{KEY}.txt"] = ({}, KEY.encode())
    false = json.dumps(json.loads(submission(publisher, "/a")) | {"key": KEY[::-1]})
    evil, own = ({"X-Forwarded-For": f"198.51.100.1, {client}"} for client in ("192.0.2.1", "2001:db8::1"))
    with listening(tmp_path) as (ask, _):
        assert ask("POST", "/indexnow", false, evil)[0] == 403
        again = json.dumps(json.loads(false) | {"key": "another-key"})
        assert ask("POST", "/indexnow", again, {"X-Forwarded-For": "192.0.2.99"})[0] == 429, "of the same network"
        flood = {ask("GET", "/websub/x", headers=evil)[0] for _ in range(int(CLIENT_BURST) + 50)}
        assert 429 in flood
        assert ask("POST", "/indexnow", submission(publisher, "/a"), own)[0] == 200
    assert heard(tmp_path) == [f"{publisher.base}/a"]


def test_an_allowance_is_what_can_be_visited():
    allowed = of_visits(10.0)
    assert allowed.take("a", 10_000, 0.0) == 360
    assert [allowed.take("a", 100, at) for at in (0.0, 50.0, 50.0)] == [0, 5, 0]
    assert allowed.take("b", 1, 50.0) == 1


def test_a_proof_lasts_a_day():
    asked = list[str]()

    def fetch(url: str) -> SmallAnswer:
        asked.append(url)
        return SmallAnswer(200, "", KEY.encode())

    prover, given = KeyProver(lambda host: True, fetch), Submission("a.example", KEY, ["https://a.example/x"])
    for at in (0.0, PROVED_S - 1.0, PROVED_S + 1.0):
        assert prover.judge(given, at).status == 200
    assert asked == [f"https://a.example/{KEY}.txt"] * 2
    other = Submission("a.example", "fedcba9876543210", ["https://a.example/x"])
    assert prover.judge(other, PROVED_S + 2.0).status == 403
    assert prover.judge(other, PROVED_S + 3.0).status == 429
    assert prover.judge(given, PROVED_S + 4.0).status == 200, "a wrong key displaces nothing"
    assert len(asked) == 3


def test_false_keys_keep_no_owner_from_being_heard():
    """Neither one whose key is known, nor one who comes for the first time, nor at the owner's own location."""
    asked = list[str]()

    def fetch(url: str) -> SmallAnswer:
        asked.append(url)
        return SmallAnswer(200, "", KEY.encode()) if url.endswith(f"/{KEY}.txt") else SmallAnswer(404)

    prover, own = KeyProver(lambda host: True, fetch), Submission("a.example", KEY, ["https://a.example/x"])
    heard = list[int]()
    for minute in range(60):
        at = minute * (AGAIN_S + 0.5)
        for number in range(AT_A_SITE):
            false = Submission("a.example", f"aaaaaaaa{number}", ["https://a.example/"])
            prover.judge(false, at, "192.0.2.0/24")
        taken = Submission("a.example", "aaaaaaaaa", ["https://a.example/"], f"https://a.example/{KEY}.txt")
        assert prover.judge(taken, at, "192.0.2.0/24").status in (403, 429)
        heard += [prover.judge(own, at + second, "198.51.100.1").status for second in (1.0, 30.0)]
    assert set(heard) == {200}
    assert len(asked) <= 2 * 60  # one for the false keys of one network, one at the owner's location
    assert prover.judge(own, PROVED_S + 9e3, "192.0.2.0/24").status == 200, "a file that held a key has its own turn"


def test_a_key_that_is_replaced_is_found_and_one_site_fills_no_memory():
    files = dict[str, str]()
    prover = KeyProver(lambda host: True, lambda url: SmallAnswer(200, "", files[url].encode()))
    place = "https://a.example/key.txt"
    for number, key in enumerate((KEY, KEY[::-1])):
        files[place] = key
        given = Submission("a.example", key, ["https://a.example/x"], place)
        assert prover.judge(given, number * AGAIN_S).status == 200
    for number in range(PROOFS + 1):
        files[f"https://a.example/{number}/k.txt"] = KEY
        more = Submission("a.example", KEY, [f"https://a.example/{number}/x"], f"https://a.example/{number}/k.txt")
        assert prover.judge(more, (number + 2) * AGAIN_S).status == 200
    assert prover.judge(more, (PROOFS + 2) * AGAIN_S + 1.0).status == 200
    files.clear()
    with pytest.raises(KeyError):  # the oldest is read again
        prover.judge(given, (PROOFS + 2) * AGAIN_S + 1.0, "192.0.2.0/24")


def test_keys_are_asked_for_once_in_a_while_for_a_site_and_nothing_is_said_of_its_ports():
    """Else a submission would have the crawl request what somebody likes, and tell which ports are open."""
    asked = list[str]()

    def fetch(url: str) -> SmallAnswer:
        asked.append(url)
        return SmallAnswer(0, error="Failed to connect: Connection refused")

    prover = KeyProver(lambda host: True, fetch)
    found = [
        prover.judge(Submission(host, KEY, [f"http://{host}/x"]), 0.0, "192.0.2.0/24")
        for host in ("a.example:8000", "a.example:8001", "b.a.example", "a.example.:22", "a.example")
    ]
    assert [one.status for one in found] == [403, 429, 429, 429, 429]
    assert "refused" not in found[0].detail
    assert len(asked) == 1
    others = [Submission(f"{name}.a.example", KEY, [f"http://{name}.a.example/x"]) for name in "bcd"]
    answers = [prover.judge(one, 0.0, f"198.51.{n}.1").status for n, one in enumerate(others)]
    assert answers == [403, 403, 429]
    for where in ("/private/delete?id=1", "/private/delete", f"/{KEY}.txt?x"):
        given = Submission("c.example", KEY, ["http://c.example/private/x"], location=f"http://c.example{where}")
        assert prover.judge(given, 0.0).status == 422
    assert len(asked) == 3


# WebSub

ATOM = b"""<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><id>x</id>
<link rel="hub" href="%(base)s/hub"/><link rel="self" href="%(base)s/feed"/>
<entry><id>1</id><link href="%(base)s/news/1"/></entry><entry><id>2</id><link href="https://victim.example/"/></entry></feed>"""


def atom(publisher) -> bytes:
    return ATOM % {b"base": publisher.base.encode()}


def wait_for(found):
    until = time.monotonic() + 20
    while not (value := found()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return value


def test_a_feed_is_subscribed_to_and_what_its_hub_signs_is_heard(tmp_path, publisher):
    publisher.files["/feed"] = ({"content-type": "application/atom+xml"}, atom(publisher))
    with listening(tmp_path, topics=[f"{publisher.base}/feed"]) as (ask, receiver):
        asked = wait_for(lambda: publisher.subscribed)[0]
        assert (asked["hub.mode"], asked["hub.topic"]) == ("subscribe", f"{publisher.base}/feed")
        path = urlsplit(asked["hub.callback"]).path
        intent = f"{path}?hub.mode=subscribe&hub.topic={publisher.base}/feed&hub.challenge=c-1&hub.lease_seconds=600"
        assert ask("GET", intent.replace("/feed&", "/other&"))[0] == 404
        assert ask("GET", intent.replace("mode=subscribe", "mode=unsubscribe"))[0] == 404
        assert ask("GET", intent.replace(path, "/websub/unknown"))[0] == 404
        assert ask("GET", intent) == (200, "c-1")
        (one,) = receiver.subscriptions.all.values()
        assert (one.state, round(one.until - time.time(), -2)) == ("active", 600.0)
        kind = {"content-type": "application/atom+xml"}
        right = hmac.new(asked["hub.secret"].encode(), atom(publisher), "sha256").hexdigest()
        for signature in ("", "sha256=00", f"md5={right}", f"sha256={right[:-1]}"):
            assert ask("POST", path, atom(publisher), kind | {"x-hub-signature": signature})[0] == 204
        assert heard(tmp_path) == []
        assert ask("POST", path, atom(publisher), kind | {"x-hub-signature": f"sha256={right}"})[0] == 204
        assert ask("POST", "/websub/unknown", b"x")[0] == 410
    assert heard(tmp_path) == [f"{publisher.base}/feed", f"{publisher.base}/news/1"], "of a foreign host nothing"
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000, b'[{"a":' + b"[" * 100_000, b"{}", b"[1]", b"\xff", b"[{}]",
        b'[{"url": 1, "name": "n", "secret": "s"}]',
        b'[{"url": "u", "name": "n", "secret": "s", "next_at": "soon"}]',
        b'[{"url": "u", "name": ["n"], "secret": "s"}]',
    ],
    ids=range(9),
)  # fmt: skip
def test_a_list_of_subscriptions_that_is_none_means_subscribing_again(tmp_path, text):
    (tmp_path / FILE).write_bytes(text)
    found = Subscriptions(tmp_path, "http://a.example/hub", lambda url, body, fields: SmallAnswer(404))
    assert found.all == {}
    found.want(["http://a.example/feed"])
    found.turn(1e9)
    assert len(Subscriptions(tmp_path, "", lambda *_: SmallAnswer(404)).all) == 1


def test_a_lease_is_renewed_in_time_and_outlives_a_restart(tmp_path):
    sent = list[str]()

    def request(url, body, fields) -> SmallAnswer:
        sent.append(url)
        return SmallAnswer(202) if body else SmallAnswer(200, 'Link: <https://hub.example/>; rel="hub"')

    first = Subscriptions(tmp_path, "https://us.example/websub", request)
    first.want(["https://a.example/feed"])
    assert first.turn(0.0) == 1
    assert sent == ["https://a.example/feed", "https://hub.example/"]
    (one,) = first.all.values()
    query = {"hub.mode": "subscribe", "hub.topic": one.topic, "hub.challenge": "c", "hub.lease_seconds": "9000"}
    assert first.verified(one.name, query, 10.0) == "c"
    again = Subscriptions(tmp_path, "https://us.example/websub", request)
    again.want(["https://a.example/feed"])
    assert list(again.all) == [one.name]
    assert again.turn(6000.0) == 0
    assert again.turn(6011.0) == 1
    assert sent[2:] == ["https://hub.example/"]
    assert again.turn(6011.0 + RETRY_S - 1.0) == 0
    again.want([])
    assert again.all == Subscriptions(tmp_path, "", request).all == {}


def test_hubs_are_found_in_fields_pages_and_feeds():
    page = b"<head><link href='/h?a&amp;b' rel=hub><LINK REL=self HREF=/s></head>"
    assert links_of(SmallAnswer(200, "", page), "https://a.example/x") == (
        "https://a.example/h?a&b",
        "https://a.example/s",
    )
    two = 'link: </s>; rel="self"\r\nLink: <https://hub.example/1>; rel="hub", <https://hub.example/2>; rel="hub"'
    assert links_of(SmallAnswer(200, two, page), "https://a.example/x") == (
        "https://hub.example/1",
        "https://a.example/s",
    )
    assert links_of(SmallAnswer(200, "", b"<p>none"), "https://a.example/x") == ("", "")


# The crawl


def test_a_crawl_hears_all_once_and_again_after_a_restart_or_where_the_file_was_shortened(tmp_path, monkeypatch):
    told = list[str]()

    def hearing() -> Hearing:
        return Hearing(SignalFile(tmp_path), lambda urls, dates, at: told.extend(urls) or True)

    first = hearing()
    first.turn(0.0)
    append_signals(tmp_path, [Signal(1.0, "indexnow", ("https://a.example/1", "https://a.example/#not-normal"))])
    first.turn(0.5)
    assert told == []
    first.turn(1.5)
    with (tmp_path / signals.FILE).open("ab") as file:
        file.write(b'{"at": torn')
    append_signals(tmp_path, [Signal(2.0, "websub", ("https://a.example/2",))])
    first.turn(2.5)
    assert told == ["https://a.example/1", "https://a.example/2"]
    first.turn(4.0)
    hearing().turn(0.0)
    assert told == ["https://a.example/1", "https://a.example/2"] * 2
    monkeypatch.setattr(signals, "MOST_BYTES", 300)
    for i in range(3, 9):
        append_signals(tmp_path, [Signal(float(i), "websub", (f"https://a.example/{i}",))])
    assert (tmp_path / signals.FILE).stat().st_size <= 300
    kept, _ = signals_in((tmp_path / signals.FILE).read_bytes())
    assert kept[-1].urls == ("https://a.example/8",)
    told.clear()
    first.turn(9.0)
    assert told == [url for one in kept for url in one.urls]


def test_who_else_may_write_there_is_not_listened_to(tmp_path):
    append_signals(tmp_path, [Signal(1.0, "websub", ("https://a.example/",))])
    (tmp_path / signals.FILE).chmod(0o666)
    assert heard(tmp_path) == []


def test_an_announcement_is_taken_as_a_sitemaps_is_and_its_trust_learned_by_site(crawl):
    known = crawl.state.known.count
    urls = [f"https://{name}" for name in ("a.example/", "b.example/", "a.example/new", "out.example/x")]
    append_signals(crawl.directory, [Signal(crawl.now + 5.0, "indexnow", tuple(urls))])
    hearing = Hearing(SignalFile(crawl.directory), crawl.learner.admit_listing)
    hearing.turn(crawl.now + 9.0)
    assert crawl.state.known.count == known + 1, "one new page of a host that is in scope, and none of another"
    assert crawl.state.find(urls)[2] == known
    crawl.visit(urls[0], crawl.page("Tea", text="all about coffee, as was said"))
    crawl.visit(urls[1], crawl.page("Ships <script>", text="all about ships"))
    of = {name: int(crawl.state.site_of[crawl.state.hosts.find(name)]) for name in ("a.example", "b.example")}
    kept = crawl.state.accounts.sites
    assert [int(kept["listed_true"][of[name]]) for name in of] == [1, 0]
    assert [int(kept["listed_false"][of[name]]) for name in of] == [0, 1]
