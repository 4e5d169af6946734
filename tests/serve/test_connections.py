"""Connections that keep the server waiting, or are too many of one network."""

import asyncio
import contextlib
import resource
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from evercrawl.serve.connections import FILES, ConnectionLimits, bounded, room_for
from evercrawl.serve.problems import HANDLERS

ASKED = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LARGE = 16 << 20


async def answers(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a word, with very much at once or in pieces, after a while, or before the body is there."""
    path = scope["path"]
    if path == "/pieces":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(256):
            await send({"type": "http.response.body", "body": bytes(LARGE // 256), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return
    if path == "/later":
        await asyncio.sleep(0.4)
    if scope["method"] == "POST" and path != "/early":
        while (await receive()).get("more_body"):
            pass
    text = "x" * LARGE if path == "/large" else "tea"
    await PlainTextResponse(text)(scope, receive, send)


@contextlib.contextmanager
def serving(limits: ConnectionLimits, served: ASGIApp = answers) -> Iterator[tuple[str, int]]:
    bound, begun = socket.create_server(("127.0.0.1", 0)), threading.Event()

    class Told(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            begun.set()

    config = uvicorn.Config(served, http=bounded(limits), ws="none", log_level="error", lifespan="off")
    server = Told(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([bound])))
    thread.start()
    assert begun.wait(10)
    try:
        yield bound.getsockname()
    finally:
        server.should_exit = True
        thread.join()


def connected(stack: contextlib.ExitStack, place: tuple[str, int], address: str = "127.0.0.1") -> socket.socket:
    return stack.enter_context(socket.create_connection(place, 10.0, source_address=(address, 0)))


def answered(line: socket.socket) -> bool:
    """Whether a request gets an answer; not where the connection is closed."""
    try:
        line.sendall(ASKED)
        found = b""
        while not found.endswith(b"tea"):
            if not (more := line.recv(1000)):
                return False
            found += more
        return found.startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def ended(line: socket.socket) -> bool:
    try:
        return line.recv(1000) == b""
    except ConnectionResetError:
        return True


def test_an_address_that_opens_too_many_leaves_room_for_others_and_gets_its_places_back():
    with serving(ConnectionLimits(of_network=5)) as place, contextlib.ExitStack() as stack:
        with contextlib.ExitStack() as first:
            held = [connected(first, place) for _ in range(5)]
            assert all(answered(line) for line in held)
            assert all(ended(connected(stack, place)) for _ in range(20))
            assert answered(connected(stack, place, "127.0.0.2"))
            assert all(answered(line) for line in held)
        assert any(answered(connected(stack, place)) for _ in range(1000))


class FarTransport(asyncio.Transport):
    """A connection from another address."""

    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 5000), "sockname": ("192.0.2.1", 8400)})
        self.closed = False

    def abort(self) -> None:
        self.closed = True


def test_addresses_of_a_network_share_its_connections():
    async def taken(addresses: list[str]) -> list[bool]:
        protocol = bounded(ConnectionLimits(of_network=3))
        config = uvicorn.Config(answers, http=protocol, lifespan="off")
        config.load()
        state, made = ServerState(), [FarTransport(address) for address in addresses]
        for each in made:
            protocol(config=config, server_state=state, app_state={}).connection_made(each)
        return [not each.closed for each in made]

    several = [f"2001:db8:0:{i}::1" for i in range(5)] + ["2001:db8:1::1", "192.0.2.7", "::ffff:192.0.2.8"]
    assert asyncio.run(taken(several)) == [True] * 3 + [False] * 2 + [True] * 3


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"G",
        b"GET / HTTP/1.1\r\nHost: a\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
        b"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{",
        ASKED,
        ASKED + b"GET / HT",
        b"no request\r\n\r\n",
    ],
)
def test_a_connection_whose_client_keeps_it_waiting_is_closed(sent):
    with serving(ConnectionLimits(idle_s=0.1, request_s=0.1)) as place, contextlib.ExitStack() as stack:
        line = connected(stack, place)
        line.sendall(sent)
        began = time.monotonic()
        while not ended(line):
            assert time.monotonic() < began + 5


@pytest.mark.parametrize("piece", [b"\r\n", b"GET /", b"a"])
def test_a_client_that_sends_a_few_bytes_now_and_then_gains_no_time(piece):
    with serving(ConnectionLimits(idle_s=0.2, request_s=0.2)) as place, contextlib.ExitStack() as stack:
        line = connected(stack, place)
        line.settimeout(0.05)
        began, more = time.monotonic(), piece
        while time.monotonic() < began + 5:
            try:
                line.sendall(more)
                if not line.recv(1000):
                    break
            except TimeoutError:
                more = piece if piece == b"\r\n" else b"a"
            except OSError:
                break
        assert time.monotonic() < began + 2


@pytest.mark.parametrize(("path", "how"), [("large", ""), ("large", "Connection: close\r\n"), ("pieces", "")])
def test_who_does_not_read_an_answer_does_not_keep_its_connection(path, how):
    limits = ConnectionLimits(of_network=1, idle_s=0.1, request_s=0.1, unread_s=0.1)
    with serving(limits) as place, contextlib.ExitStack() as stack:
        line = connected(stack, place)
        line.sendall(f"GET /{path} HTTP/1.1\r\nHost: a\r\n{how}\r\n".encode())
        until = time.monotonic() + 8
        while not answered(connected(stack, place)):  # there is no place until the first has lost it
            assert time.monotonic() < until
            time.sleep(0.02)
        read = 0
        with contextlib.suppress(OSError):
            while more := line.recv(1 << 20):
                read += len(more)
        assert read < LARGE


def test_a_client_that_hangs_up_within_its_request_leaves_no_traceback_in_the_log(capsys):
    async def reads(request: Request) -> PlainTextResponse:
        return PlainTextResponse(await request.body())

    served = Starlette(routes=[Route("/", reads, methods=["POST"])], exception_handlers=HANDLERS)
    with serving(ConnectionLimits(request_s=0.1), served) as place, contextlib.ExitStack() as stack:
        lines = [connected(stack, place) for _ in range(2)]
        for line in lines:
            line.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
        lines[0].close()
        assert ended(lines[1])
    assert "Traceback" not in capsys.readouterr().err


def test_who_waits_for_an_answer_that_takes_long_gets_it():
    with serving(ConnectionLimits(idle_s=0.1, request_s=0.1)) as place, contextlib.ExitStack() as stack:
        line = connected(stack, place)
        line.sendall(b"GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
        assert line.recv(1000).startswith(b"HTTP/1.1 200")


def test_who_asks_again_before_an_answer_that_takes_long_gets_both():
    with serving(ConnectionLimits(idle_s=0.1, request_s=0.1)) as place, contextlib.ExitStack() as stack:
        line = connected(stack, place)
        line.sendall(ASKED + b"GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
        found = b""
        while more := line.recv(1000):
            found += more
        assert found.count(b"HTTP/1.1 200") == 2


def test_the_time_for_a_request_does_not_begin_anew_when_the_one_before_is_answered():
    with serving(ConnectionLimits(idle_s=60.0, request_s=0.1)) as place, contextlib.ExitStack() as stack:
        line = connected(stack, place)
        line.settimeout(2.0)
        line.sendall(ASKED + b"GET / HT")
        while not ended(line):
            pass


def test_who_has_its_answer_before_its_request_is_complete_keeps_its_connection_no_longer():
    with serving(ConnectionLimits(idle_s=0.1, request_s=60.0)) as place, contextlib.ExitStack() as stack:
        line = connected(stack, place)
        line.settimeout(2.0)
        line.sendall(b"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
        assert line.recv(1000).startswith(b"HTTP/1.1 200")
        line.sendall(b"12345678")
        while not ended(line):
            pass


def test_no_connection_makes_room_whose_client_waits_for_the_server():
    with serving(ConnectionLimits(of_all=2)) as place, contextlib.ExitStack() as stack:
        held = [connected(stack, place) for _ in range(2)]
        for line in held:
            line.sendall(b"GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
        time.sleep(0.05)  # until they are read
        assert answered(connected(stack, place))
        assert all(line.recv(1000).startswith(b"HTTP/1.1 200") for line in held)


def test_when_all_places_are_taken_those_who_wait_longest_make_room():
    with serving(ConnectionLimits(of_all=6)) as place, contextlib.ExitStack() as stack:
        other = connected(stack, place, "127.0.0.3")
        held = [connected(stack, place, "127.0.0.2") for _ in range(5)]
        for line in (other, *held):
            line.sendall(b"GET / HTTP/1.1\r\n")
        assert answered(connected(stack, place))
        assert ended(held[0])
        assert answered(connected(stack, place))
        assert ended(held[1])
        other.sendall(b"Host: a\r\n\r\n")
        assert other.recv(1000).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("soft", "hard", "room", "raised"),
    [
        (1024, 65536, 2000, 2000 + FILES),
        (1024, 1024, 1024 - FILES, 1024),
        (1024, -1, 2000, 2000 + FILES),
        (65536, 65536, 2000, None),
        (-1, -1, 2000, None),
        (64, 64, 50, 64),
    ],
)
def test_there_is_room_for_as_many_as_files_may_be_open(monkeypatch, soft, hard, room, raised):
    assert resource.RLIM_INFINITY == -1
    set_to = list[int]()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: set_to.append(limits[0]))
    assert room_for(2000) == room
    assert set_to == ([] if raised is None else [raised])
