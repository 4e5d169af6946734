"""Connections that say nothing, or are too many of one address."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator

import uvicorn
from starlette.responses import PlainTextResponse

from evercrawl.serve.connections import bounded

ASKED = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@contextlib.contextmanager
def serving(most: int, idle_s: float) -> Iterator[tuple[str, int]]:
    bound, begun = socket.create_server(("127.0.0.1", 0)), threading.Event()

    class Told(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            begun.set()

    config = uvicorn.Config(
        PlainTextResponse("tea"), http=bounded(most), ws="none", log_level="error", timeout_keep_alive=idle_s,  # type: ignore[arg-type]
        lifespan="off",
    )  # fmt: skip
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
    with serving(5, 30.0) as place, contextlib.ExitStack() as stack:
        with contextlib.ExitStack() as first:
            held = [connected(first, place) for _ in range(5)]
            assert all(answered(line) for line in held)
            assert all(ended(connected(stack, place)) for _ in range(20))
            assert answered(connected(stack, place, "127.0.0.2"))
            assert all(answered(line) for line in held)
        assert any(answered(connected(stack, place)) for _ in range(1000))


def test_a_connection_that_says_nothing_is_closed():
    with serving(5, 0.05) as place, contextlib.ExitStack() as stack:
        silent, idle = connected(stack, place), connected(stack, place)
        assert answered(idle) or ended(idle)
        assert ended(silent)
