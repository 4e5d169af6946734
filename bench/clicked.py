"""Retrievals and clicks that are told to the server while it is killed: every one that was answered is on disk, once.

    python bench/clicked.py [--rate 1000] [--seconds 60] [--kills 3]

A server of a small crawl is told of retrievals and clicks in an open loop, from 250 loopback addresses, and is killed
(SIGKILL) and started again at even times meanwhile. Printed is how many were answered a second while it ran, how soon,
and how many of those that were answered are not in the file, or twice. Exits 1 when one is missing, or the rate is not
reached.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from figures import Figure
from restart import grown
from served import Asker, Child, percentiles, serving

from evercrawl.model.worth.usage import USAGE_FILE, Tail
from evercrawl.serve.guard import token_of
from evercrawl.serve.tickets import TicketOffice

if TYPE_CHECKING:
    from collections.abc import Iterator

ASKERS: Final = 250
KNOWN: Final = 1000
URLS: Final = [f"https://a.example/{i}" for i in range(10)]


class Telling:
    """What was told, and answered.

    Attributes
    ----------
    answered
        Names of what the server said is on disk: an answer's, or an answer's and a place.
    took_s
        How long each answer took.
    refused
        Status of others.
    cpu_s
        That servers took, their starts included.
    """

    def __init__(self, office: TicketOffice) -> None:
        self._office = office
        self.answered: list[str] = []
        self.took_s: list[float] = []
        self.refused: Counter[int] = Counter()
        self.cpu_s = 0.0

    async def run(self, link: str, rate: float, until: float) -> None:
        """Tell at a rate until an instant of the clock, or until nobody answers any more."""
        gone = asyncio.Event()
        free: asyncio.Queue[Asker] = asyncio.Queue()
        for number in range(ASKERS):
            free.put_nowait(Asker(link, number))
        tasks, began, count = set[asyncio.Task[None]](), time.perf_counter(), 0
        while not gone.is_set() and (now := time.perf_counter()) < until:
            while count < (now - began) * rate and not free.empty():
                task = asyncio.create_task(self._one(free.get_nowait(), free, count, gone))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                count += 1
            await asyncio.sleep(0.001)
        await asyncio.gather(*tasks)
        while not free.empty():
            free.get_nowait().close()

    async def _one(self, asker: Asker, free: asyncio.Queue[Asker], number: int, gone: asyncio.Event) -> None:
        answer = self._office.answer("tea", 0, URLS)
        place = number % len(URLS)
        click = number % 2
        body = {"ticket": self._office.hits(answer)[place] if click else self._office.written(answer)}
        if click:
            body["retrieval"] = self._office.written(answer)
        began = time.perf_counter()
        try:
            status = await asker.post(f"/api/v1/{'clicks' if click else 'retrievals'}", json.dumps(body).encode())
        except (OSError, asyncio.IncompleteReadError):
            gone.set()
            return
        if status == 204:
            self.took_s.append(time.perf_counter() - began)
            self.answered += [answer.id, f"{answer.id}:{place}"] if click else [answer.id]
        else:
            self.refused[status] += 1
        free.put_nowait(asker)


def measured(given: argparse.Namespace) -> Iterator[Figure]:
    """Tell, kill, and look what is there."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        asyncio.run(grown(directory, KNOWN))
        telling, ran_s = Telling(TicketOffice(token_of(directory))), 0.0
        part_s = given.seconds / (given.kills + 1)
        for number in range(given.kills + 1):
            with serving(directory) as server:
                began = time.perf_counter()
                last = number == given.kills
                asyncio.run(told(telling, server, given.rate, part_s, kill=not last))
                ran_s += time.perf_counter() - began
        found = Counter[str]()
        for question in Tail(directory / USAGE_FILE).all():
            found.update([f"{question.id}:{place}" for place in question.places] or [question.id])
    count = len(telling.took_s)
    print(f"{count:,} answered in {ran_s:.1f} s, {given.kills} kills; refused: {dict(telling.refused)}")
    yield Figure("answered", count / ran_s, "a second", at_least=0.97 * given.rate)
    p50, p99 = percentiles(telling.took_s, 0.5, 0.99)
    yield Figure("CPU time of the server each, starts included", 1000.0 * telling.cpu_s / count, "ms")
    yield Figure("to an answer, p50", p50, "ms")
    yield Figure("to an answer, p99", p99, "ms")
    yield Figure("answered and not on disk", sum(each not in found for each in telling.answered), "", at_most=0)
    yield Figure("there twice", sum(times > 1 for times in found.values()), "", at_most=0)


async def told(telling: Telling, server: Child, rate: float, seconds: float, *, kill: bool) -> None:
    """Tell a server for some seconds; then kill it in the midst of that."""
    until = time.perf_counter() + seconds
    running = asyncio.create_task(telling.run(server.said["link"], rate, until + (5.0 if kill else 0.0)))
    if kill:
        await asyncio.sleep(seconds)
        telling.cpu_s += server.cpu_s()
        server.process.kill()
    await running
    telling.cpu_s += 0.0 if kill else server.cpu_s()


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kills", type=int, default=3)
    missed = False
    for figure in measured(parser.parse_args()):
        print(figure, flush=True)
        missed = missed or (figure.ratio or 1.0) < 1.0
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
