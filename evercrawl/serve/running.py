"""The server process: its socket, its link, and its shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import uvicorn

from evercrawl.errors import ConfigError
from evercrawl.serve.app import app
from evercrawl.serve.connections import ConnectionLimits, bounded, room_for
from evercrawl.serve.guard import token_of
from evercrawl.serve.parted.app import parted_app
from evercrawl.serve.signals.receiver import SignalReceiver

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from evercrawl.ask.parted import PartedQuestions
    from evercrawl.serve.replica import CrawlReplica

_BACKLOG: Final = 512
_AT_ONCE: Final = 64
"""Maximum number of connections that are accepted in one step; `room_for` leaves more descriptors than that."""
_MOST: Final = 2000
"""Maximum number of connections of the server; a new one then replaces one that waits for its client."""
_STRANGERS: Final = 700
"""The same for the receiver of publishers' notifications."""
_RESERVE: Final = 100
"""Number of connections beyond that if none waits for its client; requests on further ones get a 503."""
_GRACE_S: Final = 3
_SWITCH_S: Final = 0.0005
"""Time after which a computing thread lets another run; with the default, answers would wait ten times as long."""


@dataclass(frozen=True, slots=True)
class SignalOptions:
    """Settings of the receiver for publishers' change notifications.

    Attributes
    ----------
    address, port
        Address and port to listen on.
    public_url
        Public URL of that port, without a trailing slash.
    topics
        Pages and feeds to subscribe to at their hubs, normalised.
    """

    address: str
    port: int
    public_url: str
    topics: tuple[str, ...] = ()


def serve(
    directory: Path, address: str, port: int, hosts: frozenset[str], public: str, ready: Callable[[str], None],
    *, record: bool = True, signals: SignalOptions | None = None, parted: PartedQuestions | None = None,
) -> None:  # fmt: skip
    """Serve the crawl in `directory` until a signal ends it.

    Parameters
    ----------
    directory
        The crawl's directory; the crawl may be running.
    address, port
        Address and port to listen on; port 0 takes a free one.
    hosts, public
        As of `RequestGuard`.
    ready
        Called with the link once the server accepts connections.
    record
        As for `app`.
    signals
        Settings of the receiver for publishers; None for no receiver.
    parted
        Answers queries for all partitions, if the crawl has several.

    Raises
    ------
    ConfigError
        There is no crawl, or the port is not available.
    StoreError
        The crawl is damaged.
    """
    sys.setswitchinterval(_SWITCH_S)
    token = token_of(directory) if directory.is_dir() else ""
    names = hosts | {address.lower()}
    if parted is not None:
        made = parted_app(parted, token, names, public)
    else:
        made = app(directory, token, names, public, record=record)
    bound = _bound(address, port)
    most = room_for(_MOST if signals is None else _MOST + _STRANGERS)
    strangers = 0 if signals is None else most * _STRANGERS // (_MOST + _STRANGERS)
    config = _config(made, most - strangers)
    beside = _receiving(directory, made, signals, strangers) if signals is not None else None
    name = f"[{address}]" if ":" in address else address
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(address, name)
    link = f"http://{shown}:{bound.getsockname()[1]}/#token={token}"
    _Server(config, lambda: ready(link), beside).run([bound])


class _Server(uvicorn.Server):
    """A server that reports when it is ready, and may run a second one."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], beside: _Beside | None = None) -> None:
        super().__init__(config)
        self._ready, self._beside = ready, beside

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, and report it."""
        await super().startup(sockets)
        _listen_on(sockets)
        if self.started and self._beside is not None:
            await self._beside.begin()
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop both servers."""
        if self._beside is not None:
            await self._beside.end()
        await super().shutdown(sockets)


class _Beside(uvicorn.Server):
    """A server that starts and stops with another."""

    def __init__(self, config: uvicorn.Config, bound: socket.socket) -> None:
        super().__init__(config)
        self._bound, self._begun = bound, asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Start listening."""
        self._task = asyncio.create_task(self.serve([self._bound]))
        await asyncio.wait({self._task, asyncio.create_task(self._begun.wait())}, return_when=asyncio.FIRST_COMPLETED)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, and let the main server continue."""
        await super().startup(sockets)
        _listen_on(sockets)
        self._begun.set()

    async def end(self) -> None:
        """Close everything open."""
        self.should_exit = True
        if self._task is not None:
            await self._task

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals to the main server."""
        yield


def _listen_on(sockets: list[socket.socket] | None) -> None:
    """Let more connections wait than are accepted in one step; asyncio uses `backlog` for both."""
    for each in sockets or ():
        each.listen(_BACKLOG)


def _receiving(directory: Path, made: Starlette, options: SignalOptions, most: int) -> _Beside:
    """Return the receiver of publishers' notifications, for at most `most` connections."""
    replica: CrawlReplica = made.state.context.replica

    def knows(host: str) -> bool:
        with replica.reading() as view:
            return view.state.hosts.find(host) is not None

    with replica.reading() as view:
        config = view.config
    receiver = SignalReceiver(directory, config, knows, options.public_url, options.topics)
    bound = _bound(options.address, options.port)
    return _Beside(_config(receiver.app(), most), bound)


def _config(made: Starlette, most: int) -> uvicorn.Config:
    """Return how an app is served over at most `most` connections."""
    return uvicorn.Config(
        made, http=bounded(ConnectionLimits(of_all=most)), ws="none", log_level="error", access_log=False,
        server_header=False, backlog=_AT_ONCE, limit_concurrency=most + _RESERVE, timeout_graceful_shutdown=_GRACE_S,
        proxy_headers=False,
    )  # fmt: skip


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # which tells asyncio to send without delay
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((address, port))
    except OSError as error:
        made.close()
        why = error.strerror or str(error)
        raise ConfigError(f"cannot listen on {address}:{port}: {why}; name another with --port or --bind") from error
    return made
