"""The server as a process: its socket, its link, and how it ends."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvicorn

from evercrawl.errors import ConfigError
from evercrawl.serve.app import app
from evercrawl.serve.guard import token_of

_BACKLOG: Final = 512
_MOST: Final = 1000
"""Connections and requests at once; who comes later gets a 503."""
_IDLE_S: Final = 30
_GRACE_S: Final = 3
_SWITCH_S: Final = 0.0005
"""After so long a thread that computes lets another go on: by default who answers would wait ten times as long."""


def serve(
    directory: Path, address: str, port: int, hosts: frozenset[str], public: str, ready: Callable[[str], None],
    *, record: bool = True,
) -> None:  # fmt: skip
    """Serve the crawl in `directory` until a signal ends it.

    Parameters
    ----------
    directory
        Of the crawl; it may run.
    address, port
        To listen on; port 0 takes a free one.
    hosts, public
        As of `RequestGuard`.
    ready
        Called with the link once it can be opened.
    record
        As of `app`.

    Raises
    ------
    ConfigError
        There is no crawl, or the port cannot be had.
    StoreError
        The crawl is damaged.
    """
    sys.setswitchinterval(_SWITCH_S)
    token = token_of(directory) if directory.is_dir() else ""
    made = app(directory, token, hosts | {address.lower()}, public, record=record)
    bound = _bound(address, port)
    config = uvicorn.Config(
        made, http="httptools", ws="none", log_level="error", access_log=False, server_header=False, date_header=True,
        backlog=_BACKLOG, limit_concurrency=_MOST, timeout_keep_alive=_IDLE_S, timeout_graceful_shutdown=_GRACE_S,
        proxy_headers=False,
    )  # fmt: skip
    name = f"[{address}]" if ":" in address else address
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(address, name)
    _Server(config, lambda: ready(f"http://{shown}:{bound.getsockname()[1]}/#token={token}")).run([bound])


class _Server(uvicorn.Server):
    """A server that says when it can be asked."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # by which asyncio knows to send at once
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((address, port))
    except OSError as error:
        made.close()
        why = error.strerror or str(error)
        raise ConfigError(f"cannot listen on {address}:{port}: {why}; name another with --port or --bind") from error
    return made
