"""The process beside a crawl that answers the command line's questions, without a server and its pages."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path
from typing import Final

from evercrawl.errors import EvercrawlError
from evercrawl.serve.questions import QuestionLine
from evercrawl.serve.replica import CrawlReplica

IDLE_S: Final = 300.0
_NICE: Final = 5
_LOOK_S: Final = 1.0


async def answer(directory: Path, alive: int, idle_s: float = IDLE_S) -> None:
    """Answer questions until the crawl ends or nobody has asked for a while.

    Parameters
    ----------
    directory
        Of the crawl.
    alive
        Descriptor of a pipe that the crawl closes when it ends, however it ends.
    idle_s
        How long it stays when nobody asks.

    Raises
    ------
    EvercrawlError
        There is no crawl, or it is damaged.
    """
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(alive, ended.set)  # nothing is ever written there
    replica = await asyncio.to_thread(CrawlReplica, directory)
    line = QuestionLine(replica)
    try:
        replica.start()
        await line.open()
        answered, until = 0, loop.time() + idle_s
        while line.open_here and not ended.is_set() and loop.time() < until:
            if line.answered != answered:
                answered, until = line.answered, loop.time() + idle_s
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _LOOK_S)
    finally:
        await line.close()
        await asyncio.to_thread(replica.close)


def main() -> int:
    """Answer questions about the directory that is the one argument."""
    os.nice(_NICE)
    try:
        asyncio.run(answer(Path(sys.argv[1]), sys.stdin.fileno()))
    except EvercrawlError:  # who asks opens the directory, and is told there
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
