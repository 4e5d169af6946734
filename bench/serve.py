"""The server beside a crawl: how soon it answers, how far it is behind, what it takes, and what it costs the crawl.

    python bench/serve.py [--pages 20000] [--rate 200] [--seconds 15] [--known 1000000] [--only beside,browser,large]

*beside*: a living web on loopback is crawled, then visited again at a fixed rate, and the server is asked meanwhile:
searches in an open loop (50 a second over 50 connections), every endpoint, events by many listeners, orders.
*browser*: what a headless Chromium sees of it, where `.ci/replay` has installed Playwright. *large*: a made-up crawl of
a million known URLs (--known 10000000 for ten), served. Latencies are as a client measures them. Exits 1 when a goal is
missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from figures import Figure
from restart import grown
from served import Asker, Child, crawling, percentiles, serving, visits

from evercrawl.ask.orders.give import awaited, give
from evercrawl.model.stored.reader import opened
from evercrawl.serve.sequences import SEQUENCE, sequence_of
from evercrawl.store.orders import CrawlOrder

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE: Final = Path(__file__).parent
SEARCHES_PER_S, ASKERS, DASHBOARDS, LISTENERS = 50.0, 50, 5, 100
WORDS: Final = ("the", "river", "old house", "light morning", "garden", "winter road", "voice", "stone bridge")
PARTS: Final = ("beside", "browser", "large")
SEARCH_MS: Final = (10.0, 50.0, 150.0)  # p50, p99, slowest
SEARCH_CPU_MS, LAG_MS, FOLLOW_CPU, LOSS = 4.0, 300.0, 0.02, 0.10
ORDER_MS, CHECK_S, STREAM_KIB_S = 300.0, 2.0, 20.0
LARGE_MS: Final = {"status": 20.0, "pages?limit=50": 20.0, "next?limit=20": 20.0, "why": 50.0}
ASKED: Final = 150
FRAMES, PAINT_MS, SCRIPTS_KIB = 30.0, 1000.0, 60.0


async def searching(link: str, seconds: float, words: list[str]) -> list[float]:
    """Ask in an open loop: a question begins when it is due, whether others were answered or not; return the times."""
    askers = [Asker(link, number) for number in range(ASKERS)]
    free: asyncio.Queue[Asker] = asyncio.Queue()
    for each in askers:
        free.put_nowait(each)
    took: list[float] = []

    async def one(number: int, due: float) -> None:
        await asyncio.sleep(max(due - time.perf_counter(), 0.0))
        asker = await free.get()
        await asker.timed(f"/api/v1/search?q={quote(words[number % len(words)])}")
        took.append(time.perf_counter() - due)
        free.put_nowait(asker)

    began = time.perf_counter() + 0.1
    await asyncio.gather(*(one(n, began + n / SEARCHES_PER_S) for n in range(int(seconds * SEARCHES_PER_S))))
    for each in askers:
        each.close()
    return took


async def lags(directory: Path, link: str, seconds: float) -> list[float]:
    """Return how long after an event is in the journal the server has taken it in: seconds, one a change seen."""
    partition, asker = opened(directory), Asker(link, 300)
    written: list[tuple[int, float]] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.005):
            frames = partition.journal.news()
            written.extend((partition.journal.sequence, time.perf_counter()) for _ in frames)

    watching = threading.Thread(target=watch)
    watching.start()
    found, at, until = list[float](), 0, time.perf_counter() + seconds
    while time.perf_counter() < until:
        _, headers, _ = await asker.get("/api/v1/visits?limit=1")
        reached, now = sequence_of(headers[SEQUENCE], partition.birth.id), time.perf_counter()
        while at < len(written) and written[at][0] <= reached:
            found.append(now - written[at][1])
            at += 1
        await asyncio.sleep(0.025)
    stop.set()
    watching.join()
    partition.close()
    asker.close()
    return found


def beside(directory: Path, server: Child, seconds: float) -> Iterator[Figure]:
    """Measure the server beside the crawl."""
    link = server.said["link"]
    yield Figure("server ready", server.ready_s, "s")
    words = searchable(directory)
    asyncio.run(searching(link, 2.0, words))
    cpu, began = server.cpu_s(), time.perf_counter()
    time.sleep(seconds)
    idle = (server.cpu_s() - cpu) / (time.perf_counter() - began)
    yield Figure("follow and views, CPU of a core", idle, "", at_most=FOLLOW_CPU + VIEWS_SHARE)
    lag = asyncio.run(lags(directory, link, seconds))
    p50, p99 = percentiles(lag, 0.5, 0.99)
    yield Figure("lag behind the journal, p50", p50, "ms")
    yield Figure("lag behind the journal, p99", p99, "ms", at_most=LAG_MS)
    cpu, began = server.cpu_s(), time.perf_counter()
    took = asyncio.run(searching(link, seconds, words))
    spent = server.cpu_s() - cpu - idle * (time.perf_counter() - began)
    for name, value, most in zip(("p50", "p99", "slowest"), percentiles(took, 0.5, 0.99, 1.0), SEARCH_MS, strict=True):
        yield Figure(f"search, {name}", value, "ms", at_most=most)
    yield Figure("search, CPU each", 1000.0 * spent / len(took), "ms", at_most=SEARCH_CPU_MS)
    yield from endpoints(link, directory)
    yield from streams(link, server, seconds)
    yield loss(directory, link, words, seconds)
    yield from orders(directory)
    yield Figure("memory of the server", server.memory_mib(), "MiB")


VIEWS_SHARE: Final = 0.05
"""Of the time that may go into new views."""


def searchable(directory: Path) -> list[str]:
    """Return words that pages have in their titles."""
    from evercrawl.store.journal.events import Visit

    partition = opened(directory)
    titles = [e.title for _, _, e in partition.journal.replay() if isinstance(e, Visit) and e.title]
    partition.close()
    step = max(len(titles) // 40, 1)
    return [title.split()[0] for title in titles[::step]][:40]


def endpoints(link: str, directory: Path) -> Iterator[Figure]:
    """Ask everything that pages ask, again and again; yield p50 and p99 of each."""
    url = quote(top_url(link), safe="")
    paths = [
        "status", "pages?limit=50", "sites?limit=100", "next?limit=20", "visits?limit=20", "waits", f"why?url={url}",
        "map?limit=5000", "minutes?since=1h", f"versions?url={url}", f"inlinks?url={url}", "changes?since=1h&limit=50",
    ]  # fmt: skip

    async def ask(path: str) -> list[float]:
        asker = Asker(link, 310)
        found = list[float]()
        for _ in range(ASKED):
            found.append(await asker.timed(f"/api/v1/{path}"))
            await asyncio.sleep(0.02)
        asker.close()
        return found

    for path in paths:
        p50, p99 = percentiles(asyncio.run(ask(path)), 0.5, 0.99)
        yield Figure(f"{path.partition('?')[0]}, p50", p50, "ms")
        yield Figure(f"{path.partition('?')[0]}, p99", p99, "ms", at_most=SEARCH_MS[2])


def top_url(link: str) -> str:
    """Return the most important page."""
    asker = Asker(link, 311)

    async def ask() -> str:
        _, _, body = await asker.get("/api/v1/pages?limit=1")
        asker.close()
        return str(json.loads(body)["pages"][0]["url"])

    return asyncio.run(ask())


def streams(link: str, server: Child, seconds: float) -> Iterator[Figure]:
    """Have many listen; yield what each gets, and what that costs."""

    async def listen() -> list[tuple[int, int]]:
        return await asyncio.gather(*(Asker(link, 400 + number).listen(seconds) for number in range(LISTENERS)))

    cpu = server.cpu_s()
    heard = asyncio.run(listen())
    spent = (server.cpu_s() - cpu) / seconds
    least = min(events for events, _ in heard) / seconds
    yield Figure(f"events to each of {LISTENERS} listeners, least", least, "/s", at_least=2)
    yield Figure("bytes to each", max(size for _, size in heard) / seconds / 1024, "KiB/s", at_most=STREAM_KIB_S)
    yield Figure("CPU of a core meanwhile", spent, "", at_most=0.5)


def loss(directory: Path, link: str, words: list[str], seconds: float) -> Figure:
    """Return the part of its rate that the crawl loses under searches and dashboards, of pairs of times."""

    def rate(load: bool) -> float:
        before, began = visits(directory), time.perf_counter()
        if load:
            asyncio.run(loaded(link, words, seconds / 2))
        else:
            time.sleep(seconds / 2)
        return (visits(directory) - before) / (time.perf_counter() - began)

    pairs = [(rate(load=False), rate(load=True)) for _ in range(3)]
    return Figure(
        "loss of the crawl under load", 1.0 - statistics.median(w / wo for wo, w in pairs), "of its rate", at_most=LOSS
    )


async def loaded(link: str, words: list[str], seconds: float) -> None:
    """Search, and look at dashboards."""
    boards = (Asker(link, 600 + number).listen(seconds) for number in range(DASHBOARDS))
    await asyncio.gather(searching(link, seconds, words), *boards)


def orders(directory: Path) -> Iterator[Figure]:
    """Give orders; yield how long they take."""
    took = list[float]()
    for number in range(20):
        began = time.perf_counter()
        given = give(directory, CrawlOrder(("pause", "resume")[number % 2]))
        answer = awaited(directory, given, 10.0)
        assert answer.state == "done", answer
        took.append(time.perf_counter() - began)
        time.sleep(0.1)
    yield Figure("order to effect, p95", next(percentiles(took, 0.95)), "ms", at_most=ORDER_MS)


def browser(link: str) -> Iterator[Figure]:
    """Have a browser look at the pages."""
    tools, chromium = HERE.parent / ".venv-replay", shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None or not (tools / "ready").exists():
        print("no browser here: `.ci/replay` installs it", file=sys.stderr)
        return
    words = [str(tools / "bin/python"), str(HERE / "painted.py"), chromium, link]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for path, paint_ms in found["paint_ms"].items():
        yield Figure(f"first paint of {path}", paint_ms, "ms", at_most=PAINT_MS)
    for path, kib in found["kib"].items():
        yield Figure(f"transferred by {path}", kib, "KiB", at_most={"/": 60.0, "/dashboard": 110.0}.get(path, 90.0))
    yield Figure("own scripts, compressed", found["scripts_kib"], "KiB", at_most=SCRIPTS_KIB)
    yield Figure("frames of the Living Map", found["frames_per_s"], "/s", at_least=FRAMES)


def large(known: int) -> Iterator[Figure]:
    """Serve a large crawl that does not run."""
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(grown(Path(name), known))
        most_s = 2.0 if known <= 1_000_000 else 15.0
        with serving(Path(name)) as server:
            link = server.said["link"]
            yield Figure(f"ready at {known / 1e6:g} M URLs", server.ready_s, "s", at_most=most_s)
            url = quote(top_url(link), safe="")
            for path, most in LARGE_MS.items():
                asked = f"/api/v1/{path}" + (f"?url={url}" if path == "why" else "")
                took = asyncio.run(warm(link, asked))
                yield Figure(f"{path.partition('?')[0]} there, warm", next(percentiles(took, 0.5)), "ms", at_most=most)
            yield Figure("memory there", server.memory_mib(), "MiB", at_most=400 * max(known / 1e6, 1))


async def warm(link: str, path: str) -> list[float]:
    """Ask some times; return how long all but the first took."""
    asker = Asker(link, 320)
    found = [await asker.timed(path) for _ in range(15)]
    asker.close()
    return found[1:]


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--known", type=int, default=1_000_000)
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    given = parser.parse_args()
    parts = given.only.split(",")
    figures = [shown(figure) for figure in measured(parts, given)]
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


def measured(parts: list[str], given: argparse.Namespace) -> Iterator[Figure]:
    """Yield all figures."""
    if {"beside", "browser"} & set(parts):
        with tempfile.TemporaryDirectory() as name, Child(str(HERE / "served.py"), str(given.pages)) as web:
            directory = Path(name) / "crawl"
            with crawling(directory, web.said, "--pages", str(given.pages)) as crawl:
                assert crawl.process.wait() == 0, "the crawl failed"
            with crawling(directory, [], "--rate", str(given.rate)) as crawl:
                while visits(directory) < given.rate:
                    assert crawl.process.poll() is None, "the crawl ended"
                    time.sleep(0.1)
                with serving(directory) as server:
                    if "beside" in parts:
                        yield from beside(directory, server, given.seconds)
                    if "browser" in parts:
                        yield from browser(server.said["link"])
    if "large" in parts:
        yield from large(given.known)


def shown(figure: Figure) -> Figure:
    """Print a figure."""
    print(figure, flush=True)
    return figure


if __name__ == "__main__":
    sys.exit(main())
