"""What a worker process runs: bodies come in, and what they say goes out, in the same order."""

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

READY: Final = None  # the first message: from now on the worker reads
TOGETHER_BYTES: Final = 64 << 10  # answers that are sent together
TOGETHER_S: Final = 0.005  # or after so long
ROOM_BYTES: Final = 1 << 30  # address space beyond what it starts with
ROOM_OF_A_BODY: Final = 32  # and so many times the longest body
_PR_SET_PDEATHSIG: Final = 1
_KILLED_FIRST: Final = "500"  # of 1000: where memory runs out, a worker can be replaced


def main(channel: int, owner: int, longest_bytes: int) -> None:
    """Read bodies until nobody sends any more.

    Parameters
    ----------
    channel
        File descriptor of a socket.
    owner
        Process that is at its other end; this one ends with it.
    longest_bytes
        Cap on the size of a body.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # they are the owner's to obey
        signal.signal(number, signal.SIG_IGN)
    _end_with(owner)
    warm()
    _bound_memory(longest_bytes)
    gc.freeze()
    with socket.socket(fileno=channel) as ours, contextlib.suppress(EOFError, OSError):
        ours.setblocking(False)
        serve(ours)


def serve(channel: socket.socket) -> None:
    """Answer every body that comes over a channel that does not block.

    Answers are sent together, for each that comes alone wakes the owner; whoever has nothing to do keeps none back.

    Raises
    ------
    EOFError, OSError
        Nobody is at the other end any more.
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
        outbox.put(attempted(decoder.decode(message), documents=True))
        if len(outbox) > TOGETHER_BYTES or time.monotonic() > since + TOGETHER_S:
            outbox.send(channel)


def _exchange(channel: socket.socket, inbox: Inbox, outbox: Outbox) -> None:
    """Wait until something comes, and send what there is to be sent meanwhile."""
    outbox.send(channel)
    poll = select.poll()
    poll.register(channel, select.POLLIN | (select.POLLOUT if outbox else 0))
    poll.poll()
    inbox.receive(channel)


def _end_with(owner: int) -> None:
    """Have the kernel kill this process when the owner ends, however it ends and whatever is being done here."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_KILLED_FIRST)
    if os.getppid() != owner:  # it ended before it could be asked for
        sys.exit()


def _bound_memory(longest_bytes: int) -> None:
    """Let a body that wants all the memory there is be an error, rather than the end of other processes."""
    with contextlib.suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + ROOM_BYTES + ROOM_OF_A_BODY * longest_bytes
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
