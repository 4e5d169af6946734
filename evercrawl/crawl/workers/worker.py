"""The main loop of a worker process: it receives bodies, and sends their contents back in the same order."""

import contextlib
import ctypes
import gc
import os
import resource
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.crawl.workers.frames import Inbox, Outbox
from evercrawl.kernels import warm
from evercrawl.model.stored.contents import Body, attempted

READY: Final = None  # the first message: the worker is ready
TOGETHER_BYTES: Final = 64 << 10  # answers are sent once they reach this size
TOGETHER_S: Final = 0.005  # or after this time
ROOM_BYTES: Final = 1 << 30  # address space beyond its size at the start
ROOM_OF_A_BODY: Final = 32  # plus this many times the longest body
_PR_SET_PDEATHSIG: Final = 1
_KILLED_FIRST: Final = "500"  # of 1000: if memory runs out, workers are killed first, as they can be replaced


def main(channel: int, owner: int, longest_bytes: int) -> None:
    """Parse bodies until the channel is closed.

    Parameters
    ----------
    channel
        The file descriptor of a socket.
    owner
        The process at its other end; this one ends with it.
    longest_bytes
        The limit on the size of a body.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the owner handles them
        signal.signal(number, signal.SIG_IGN)
    _end_with(owner)
    warm()
    _bound_memory(longest_bytes)
    gc.freeze()
    with socket.socket(fileno=channel) as ours, contextlib.suppress(EOFError, OSError):
        ours.setblocking(False)
        serve(ours)


def serve(channel: socket.socket) -> None:
    """Answer every body that arrives over a non-blocking channel.

    Answers are sent in groups, because each message wakes the owner; an idle worker sends what it has.

    Raises
    ------
    EOFError, OSError
        The other end is closed.
    """
    inbox, outbox, decoder = Inbox(), Outbox(), msgspec.msgpack.Decoder(Body)
    outbox.put(READY)
    since = 0.0
    while True:
        message = inbox.take()
        if message is None:
            _exchange(channel, inbox, outbox)
            continue
        if not outbox:
            since = time.monotonic()
        body = decoder.decode(message)
        if outbox and "text/html" not in body.headers.get("content-type", "text/html"):
            outbox.send(channel)  # a document may take long, and the owner is to know which it was
        outbox.put(attempted(body, documents=True))
        if len(outbox) > TOGETHER_BYTES or time.monotonic() > since + TOGETHER_S:
            outbox.send(channel)


def _exchange(channel: socket.socket, inbox: Inbox, outbox: Outbox) -> None:
    """Wait for data, and send pending data meanwhile."""
    outbox.send(channel)
    poll = select.poll()
    poll.register(channel, select.POLLIN | (select.POLLOUT if outbox else 0))
    poll.poll()
    inbox.receive(channel)


def _end_with(owner: int) -> None:
    """Have the kernel kill this process when the owner ends, whatever either of them is doing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_KILLED_FIRST)
    if os.getppid() != owner:  # the owner ended before the request took effect
        sys.exit()


def _bound_memory(longest_bytes: int) -> None:
    """Limit the address space, so that a body that needs too much memory is an error and ends no other process."""
    with contextlib.suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + ROOM_BYTES + ROOM_OF_A_BODY * longest_bytes
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
