"""Messages between processes: each is its length in four bytes, followed by MessagePack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    import socket

RECEIVED_BYTES: Final = 1 << 18  # read from a channel at once
_LENGTH_BYTES: Final = 4


class Outbox:
    """Messages that wait to be sent."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._encoder = msgspec.msgpack.Encoder()

    def __len__(self) -> int:
        """Return the number of bytes that wait to be sent."""
        return len(self._data)

    def put(self, message: object) -> int:
        """Add a message; return its size in bytes."""
        at = len(self._data)
        self._data += bytes(_LENGTH_BYTES)
        self._encoder.encode_into(message, self._data, at + _LENGTH_BYTES)
        size = len(self._data) - at - _LENGTH_BYTES
        self._data[at : at + _LENGTH_BYTES] = size.to_bytes(_LENGTH_BYTES, "big")
        return size

    def send(self, channel: socket.socket) -> None:
        """Send as much as the channel takes now; the channel must be non-blocking.

        Raises
        ------
        OSError
            The other end is closed.
        """
        sent = 0
        with memoryview(self._data) as data:
            try:
                while sent < len(data):
                    sent += channel.send(data[sent:])
            except BlockingIOError:
                pass
        del self._data[:sent]


class Inbox:
    """Reads messages from a channel.

    Examples
    --------
    >>> import socket
    >>> here, there = socket.socketpair()
    >>> for end in (here, there): end.setblocking(False)
    >>> outbox, inbox = Outbox(), Inbox()
    >>> outbox.put(["a", 1])
    4
    >>> outbox.send(here)
    >>> inbox.receive(there)
    >>> msgspec.msgpack.decode(inbox.take()), inbox.take()
    (['a', 1], None)
    >>> here.close(); there.close()
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self._at = 0

    def receive(self, channel: socket.socket) -> None:
        """Read what has arrived, if anything has; the channel must be non-blocking.

        Raises
        ------
        EOFError
            The other end is closed.
        OSError
            The channel is broken.
        """
        try:
            data = channel.recv(RECEIVED_BYTES)
        except BlockingIOError:
            return
        if not data:
            raise EOFError
        del self._data[: self._at]
        self._at = 0
        self._data += data

    def take(self) -> bytearray | None:
        """Return the next complete message; None if there is none."""
        start = self._at + _LENGTH_BYTES
        end = start + int.from_bytes(self._data[self._at : start], "big")
        if len(self._data) < max(start, end):
            return None
        self._at = end
        return self._data[start:end]
