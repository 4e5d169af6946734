"""Drives libcurl's multi handle from the running asyncio loop.

All of curl's sockets are in one epoll set, and the loop watches only that set: a round of readiness costs the loop
one callback, however many sockets are ready. Unchanged pages cost a quarter less than with one reader per socket in
the loop.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import pycurl

from evercrawl.fetch.sockets import Sockets

__all__ = ["SPOKE_EARLY", "CurlLoop", "Ended"]

Ended: TypeAlias = tuple[pycurl.Curl, int, str]
"""A handle that has ended, curl's error number (0 for success) or SPOKE_EARLY, and a message."""

_VERSION_3 = 30  # CURL_HTTP_VERSION_3
SPOKE_EARLY = -1
"""The error if a kept connection delivered an answer before the request could be answered: the answer is not ours."""


class CurlLoop:
    """A multi handle whose transfers proceed while the asyncio loop runs.

    Parameters
    ----------
    on_ended
        Called from the loop with the handles that have ended since the last call; they are already removed from the
        multi handle and may be added again. It must not raise.
    max_connections
        The highest number of connections open at a time; idle ones make room for new ones.
    kept_idle
        How many more may be open if as many are idle, because a new connection costs more than an exchange.

    Attributes
    ----------
    worked_s
        The time spent on transfers when called by the loop.
    """

    def __init__(self, on_ended: Callable[[list[Ended]], None], *, max_connections: int, kept_idle: int = 0) -> None:
        self._on_ended = on_ended
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sockets = Sockets(self._attach)
        self._due_at = math.inf
        self._alarm: asyncio.TimerHandle | None = None
        self._stepping = False
        self.worked_s = 0.0
        self._begun: list[tuple[pycurl.Curl, Sequence[object]]] = []  # added since curl last started transfers
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._sockets.watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._multi.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, max_connections + kept_idle)
        self._multi.setopt(pycurl.M_MAXCONNECTS, max_connections + kept_idle)

    def add(self, curl: pycurl.Curl, heard: Sequence[object]) -> None:
        """Start the transfer that `curl` is set up for; an asyncio loop must be running.

        `heard` must fill as soon as anything of the answer arrives.
        """
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._attach(-1)
        self._begun.append((curl, heard))
        self._multi.add_handle(curl)

    def remove(self, curl: pycurl.Curl) -> None:
        """Abort the transfer of `curl`."""
        self._multi.remove_handle(curl)

    def close(self) -> None:
        """Close every connection; no handle may be under way. A second call does nothing."""
        if self._sockets.closed:
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._multi.close()
        if self._loop is not None:
            self._loop.remove_reader(self._sockets.fileno())
        self._sockets.close()

    def _attach(self, old_fd: int) -> None:
        assert self._loop is not None
        if old_fd >= 0:
            self._loop.remove_reader(old_fd)
        self._loop.add_reader(self._sockets.fileno(), self._step)

    def _set_timer(self, timeout_ms: int) -> None:
        """Note when curl wants to be called; this may happen while curl runs, so nothing is called from here."""
        assert self._loop is not None
        self._due_at = math.inf if timeout_ms < 0 else self._loop.time() + timeout_ms / 1000
        if not self._stepping:
            self._arm()

    def _arm(self) -> None:
        """Have the loop call us no later than `_due_at`; an earlier alarm is left in place, as most are postponed."""
        assert self._loop is not None
        if self._alarm is not None:
            if self._alarm.when() <= self._due_at:
                return
            self._alarm.cancel()
            self._alarm = None
        if self._due_at < math.inf:
            self._alarm = self._loop.call_at(self._due_at, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._step()

    def _step(self) -> None:
        """Tell curl the time and which sockets are ready; then report the handles that have ended."""
        assert self._loop is not None
        began = self._loop.time()
        self._stepping = True
        ready = self._sockets.ready()
        ended = self._begin()
        for fd, events in ready:
            self._multi.socket_action(fd, events)
        self._tell_time()
        ended += self._reap()
        self._stepping = False
        self._arm()
        if ended:
            self._on_ended(ended)
        self.worked_s += self._loop.time() - began

    def _tell_time(self) -> bool:
        """Let curl do what is due, if anything is."""
        assert self._loop is not None
        if self._due_at > self._loop.time():
            return False
        self._due_at = math.inf
        self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        return True

    def _begin(self) -> list[Ended]:
        """Start transfers on kept connections that were found silent; return those that received data at once.

        That data had been waiting in a buffer of curl or TLS, where the socket does not show it.
        """
        if not self._begun or not self._tell_time():
            return []
        early = [curl for curl, heard in self._begun if heard]
        self._begun.clear()
        for curl in early:
            self._multi.remove_handle(curl)
        return [(curl, SPOKE_EARLY, "an answer was there before the request") for curl in early]

    def _reap(self) -> list[Ended]:
        ended: list[Ended] = []
        while True:
            left, well, ill = self._multi.info_read()
            ended += [(curl, 0, "") for curl in well]
            ended += ill
            if not left:
                break
        for curl, _, _ in ended:
            version = curl.getinfo(pycurl.INFO_HTTP_VERSION)
            if version != pycurl.CURL_HTTP_VERSION_1_1:
                self._keep_unusual(int(curl.getinfo(pycurl.ACTIVESOCKET)), version)
            self._multi.remove_handle(curl)
        return ended

    def _keep_unusual(self, fd: int, version: object) -> None:
        if version in (pycurl.CURL_HTTP_VERSION_2, _VERSION_3):
            self._sockets.multiplexes(fd)
        elif version == pycurl.CURL_HTTP_VERSION_1_0:
            self._sockets.hang_up(fd)  # curl would use HTTP/1.0 on it, and we would not be told
