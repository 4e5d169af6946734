"""Helper process that answers the command line's queries for a crawl, without a web server."""

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
    """Answer queries until the crawl ends or none has come for a while.

    Parameters
    ----------
    directory
        The crawl's directory.
    alive
        Descriptor of a pipe that is closed when the crawl ends, however it ends.
    idle_s
        Idle time after which it ends.

    Raises
    ------
    EvercrawlError
        There is no crawl, or it is damaged.
    """
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(alive, ended.set)  # nothing is ever written to it
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
    """Answer queries about the directory given as the only argument."""
    os.nice(_NICE)
    try:
        asyncio.run(answer(Path(sys.argv[1]), sys.stdin.fileno()))
    except EvercrawlError:  # the client then opens the directory itself, and gets the error
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
