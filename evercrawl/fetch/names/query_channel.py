"""Queries to a name server through c-ares, with sockets that the asyncio loop watches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import pycares

    Answered: TypeAlias = Callable[[pycares.DNSResult | None, int | None], None]

__all__ = ["QueryChannel"]

_TICK_S: Final = 0.1  # c-ares notices late answers only when it is called; its shortest timeout is 0.25 s
_NO_SOCKET: Final = -1


class QueryChannel:
    """A c-ares channel that runs in the asyncio loop.

    c-ares could run in a thread of its own, but that would have to acquire the interpreter lock and wake the loop for
    each answer. In a crawl of many hosts, this took a twentieth of the CPU time.

    Parameters
    ----------
    server
        "address:port", with brackets around an IPv6 address.
    timeout_s
        Timeout of a query's first attempt; the query is repeated once.
    """

    def __init__(self, server: str, timeout_s: float) -> None:
        import pycares  # takes 20 ms, so it is imported only when used

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
            `host` is not a valid name; `answered` may have been called already.
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
        """Cancel all queries, and close the sockets."""
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
        """Watch a socket as c-ares requires; False twice means that it closes the socket."""
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
