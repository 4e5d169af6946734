"""Queries to a name server by c-ares, whose sockets the asyncio loop watches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import pycares

    Answered: TypeAlias = Callable[[pycares.DNSResult | None, int | None], None]

__all__ = ["QueryChannel"]

_TICK_S: Final = 0.1  # c-ares looks for late answers when it is called; it waits at least 0.25 s for each
_NO_SOCKET: Final = -1


class QueryChannel:
    """A channel of c-ares in the running loop.

    The thread that c-ares could start instead would have to hand over every answer: it would wait for the lock of the
    interpreter, and wake the loop. On a wide web, that took a twentieth of the crawl's CPU.

    Parameters
    ----------
    server
        "address:port", IPv6 in brackets.
    timeout_s
        How long the first answer to a query is waited for; the query is repeated once.
    """

    def __init__(self, server: str, timeout_s: float) -> None:
        import pycares  # takes 20 ms, so only when it is used

        self._loop = asyncio.get_running_loop()
        self._watched = set[int]()
        self._underway = set[object]()
        self._alarm: asyncio.TimerHandle | None = None
        self._closed = False
        self._channel = pycares.Channel(servers=[server], timeout=timeout_s, tries=2, sock_state_cb=self._watch)

    def query(self, host: str, record_type: int, answered: Answered) -> None:
        """Ask for the records of one type; `answered` is called once, with the answer or with c-ares's error number.

        Raises
        ------
        pycares.AresError, ValueError
            `host` cannot be a name; `answered` may have been called.
        """
        asked = object()

        def ended(result: pycares.DNSResult | None, code: int | None) -> None:
            self._underway.discard(asked)
            answered(result, code)

        self._underway.add(asked)
        try:
            self._channel.query(host, record_type, callback=ended)
        except Exception:
            self._underway.discard(asked)
            raise
        self._arm()

    def close(self) -> None:
        """End all queries without an answer, and release the sockets."""
        if self._closed:
            return
        self._channel.cancel()
        self._closed = True  # c-ares closes its sockets on another thread
        if self._alarm is not None:
            self._alarm.cancel()
        for fd in list(self._watched):
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
        self._channel.close()

    def _arm(self) -> None:
        if self._alarm is None and self._underway:
            self._alarm = self._loop.call_later(_TICK_S, self._tick)

    def _tick(self) -> None:
        """Let c-ares repeat or give up queries whose answers are late."""
        self._alarm = None
        self._channel.process_fd(_NO_SOCKET, _NO_SOCKET)
        self._arm()

    def _watch(self, fd: int, readable: bool, writable: bool) -> None:
        """Watch a socket for what c-ares waits for; nothing once it closes the socket."""
        if self._closed:
            return
        if readable or writable:
            self._watched.add(fd)
        else:
            self._watched.discard(fd)
        if readable:
            self._loop.add_reader(fd, self._channel.process_read_fd, fd)
        else:
            self._loop.remove_reader(fd)
        if writable:
            self._loop.add_writer(fd, self._channel.process_write_fd, fd)
        else:
            self._loop.remove_writer(fd)
