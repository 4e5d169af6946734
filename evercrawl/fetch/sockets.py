"""curl's sockets in one epoll set, and an eye on those of kept connections."""

import contextlib
import os
import resource
import select
import socket
from collections.abc import Callable

import pycurl

__all__ = ["Sockets", "spare_connections"]

FILES = 256
"""Descriptors for all else than connections: files, workers, names that are looked up."""

_INTEREST = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}
_FAMILIES = (socket.AF_INET, socket.AF_INET6)


class Sockets:
    """The sockets that curl waits for, and those of idle connections.

    A socket that curl lets go of stays in the set, for on a kept connection it will soon be asked for again. Should the
    far end speak up before that, it says something that nobody asked for, and curl would take it as the next answer: it
    looks for such input once a second only. So that connection is shut down, which makes curl open another.

    Parameters
    ----------
    renewed
        Called with the old `fileno` when there is a new one; the old is closed afterwards.
    """

    def __init__(self, renewed: Callable[[int], None]) -> None:
        self._renewed = renewed
        self._epoll = select.epoll()
        self._inodes: dict[int, int] = {}  # of the sockets in the set; those that curl has closed stay, too
        self._wanted: dict[int, int] = {}  # what curl waits for now, as epoll says it
        self._multiplexed: set[int] = set()

    def fileno(self) -> int:
        """Return the descriptor that is readable while some socket is ready."""
        return self._epoll.fileno()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._epoll.closed

    def close(self) -> None:
        """Let go of the set, not of the sockets."""
        self._epoll.close()

    def watch(self, event: int, fd: int, _multi: object, _data: object) -> None:
        """Do as curl's socket callback is told."""
        if event == pycurl.POLL_REMOVE:
            self._wanted.pop(fd, None)
            return
        self._wanted[fd] = interest = _INTEREST[event]
        if not (fd in self._inodes and self._modify(fd, interest)):
            self._epoll.register(fd, interest)
            self._inodes[fd] = os.fstat(fd).st_ino
            self._multiplexed.discard(fd)

    def multiplexes(self, fd: int) -> None:
        """Note that the far end may speak at any time on the connection of `fd`, as HTTP/2 allows."""
        self._multiplexed.add(fd)

    def hang_up(self, fd: int) -> None:
        """Shut the connection of `fd` down, so that curl cannot use it again; nothing happens where there is none."""
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(fd)) as connection:
            if connection.family in _FAMILIES:
                connection.shutdown(socket.SHUT_RDWR)

    def ready(self) -> list[tuple[int, int]]:
        """Return the sockets that curl waits for and that are ready, each with curl's word for what it is ready for."""
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
        except FileNotFoundError:  # it was closed, which takes it out of the set, and its number is another's now
            return False
        return True

    def _hush(self, fd: int) -> None:
        """Shut down an idle connection on which the far end has spoken or hung up, and watch it no longer."""
        if not self._same(fd, self._inodes.pop(fd, 0)):
            self._renew()
            return
        self._epoll.unregister(fd)
        if fd not in self._multiplexed:
            self.hang_up(fd)

    def _renew(self) -> None:
        """Make the set anew: a socket that curl has closed lives on in a process forked from this one, and is ready.

        The set cannot be rid of such a socket in any other way.
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
    """Return how many connections may be kept idle beside: as many again, as far as there are descriptors."""
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
