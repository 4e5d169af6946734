"""Keeps curl's sockets in one epoll set, and watches those of kept connections."""

import contextlib
import os
import resource
import select
import socket
from collections.abc import Callable

import pycurl

__all__ = ["Sockets", "spare_connections"]

FILES = 256
"""Descriptors reserved for everything but connections: files, workers, look-ups."""

_INTEREST = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}
_FAMILIES = (socket.AF_INET, socket.AF_INET6)


class Sockets:
    """The sockets that curl waits for, and those of idle connections.

    A socket that curl releases stays in the set, because it is often used again soon as a kept connection. Data
    that the server sends before that was not requested, but curl would take it as the next answer: it checks for such
    input only once a second. So that connection is shut down, which makes curl open another.

    Parameters
    ----------
    renewed
        Called with the old `fileno` when there is a new one; the old one is closed afterwards.
    """

    def __init__(self, renewed: Callable[[int], None]) -> None:
        self._renewed = renewed
        self._epoll = select.epoll()
        self._inodes: dict[int, int] = {}  # of the sockets in the set, including those that curl has closed
        self._wanted: dict[int, int] = {}  # what curl waits for now, in epoll's terms
        self._multiplexed: set[int] = set()

    def fileno(self) -> int:
        """Return the descriptor that is readable while some socket is ready."""
        return self._epoll.fileno()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._epoll.closed

    def close(self) -> None:
        """Close the set, but not the sockets."""
        self._epoll.close()

    def watch(self, event: int, fd: int, _multi: object, _data: object) -> None:
        """Handle a call of curl's socket callback."""
        if event == pycurl.POLL_REMOVE:
            self._wanted.pop(fd, None)
            return
        self._wanted[fd] = interest = _INTEREST[event]
        if not (fd in self._inodes and self._modify(fd, interest)):
            self._epoll.register(fd, interest)
            self._inodes[fd] = os.fstat(fd).st_ino
            self._multiplexed.discard(fd)

    def multiplexes(self, fd: int) -> None:
        """Note that the server may send at any time on the connection of `fd`, as HTTP/2 allows."""
        self._multiplexed.add(fd)

    def hang_up(self, fd: int) -> None:
        """Shut the connection of `fd` down, so that curl cannot use it again; do nothing if there is none."""
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(fd)) as connection:
            if connection.family in _FAMILIES:
                connection.shutdown(socket.SHUT_RDWR)

    def ready(self) -> list[tuple[int, int]]:
        """Return the sockets that curl waits for and that are ready, each with curl's event flags."""
        ready: list[tuple[int, int]] = []
        for fd, events in self._epoll.poll(0):
            if fd in self._wanted:
                ready.append((fd, _curl_events(events)))
            else:
                self._hush(fd)
        return ready

    def _modify(self, fd: int, interest: int) -> bool:
        try:
            self._epoll.modify(fd, interest)
        except FileNotFoundError:  # it was closed, which removed it from the set, and its number is reused
            return False
        return True

    def _hush(self, fd: int) -> None:
        """Shut down an idle connection on which the server has sent data or hung up, and watch it no longer."""
        if not self._same(fd, self._inodes.pop(fd, 0)):
            self._renew()
            return
        self._epoll.unregister(fd)
        if fd not in self._multiplexed:
            self.hang_up(fd)

    def _renew(self) -> None:
        """Rebuild the set: a socket that curl has closed lives on in a process forked from this one, and is ready.

        There is no other way to remove such a socket from the set.
        """
        old, self._epoll = self._epoll, select.epoll()
        self._inodes = {fd: inode for fd, inode in self._inodes.items() if self._same(fd, inode)}
        for fd in self._inodes:
            self._epoll.register(fd, self._wanted.get(fd, select.EPOLLIN))
        self._renewed(old.fileno())
        old.close()

    @staticmethod
    def _same(fd: int, inode: int) -> bool:
        try:
            return os.fstat(fd).st_ino == inode
        except OSError:
            return False


def spare_connections(connections: int) -> int:
    """Return how many more connections may be kept idle: as many again, as far as there are descriptors."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return connections
    return min(max(descriptors - connections - FILES, 0), connections)


def _curl_events(ready: int) -> int:
    events = pycurl.CSELECT_IN if ready & (select.EPOLLIN | select.EPOLLHUP) else 0
    if ready & select.EPOLLOUT:
        events |= pycurl.CSELECT_OUT
    if ready & select.EPOLLERR:
        events |= pycurl.CSELECT_ERR
    return events
