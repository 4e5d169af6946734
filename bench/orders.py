"""Orders to a real crawl that is killed again and again: each is obeyed once, and soon; and what the scope costs.

    python bench/orders.py [--kills 50] [--known 1_000_000]

A web of three hosts on loopback is crawled by a process that is killed (SIGKILL) at random moments while orders are
given, those to forget a page among them, and started again. At the end every order has one result, what it asked for is
so, and `evercrawl verify` finds nothing wrong. Then the time from order to
effect is measured, with the socket and without, and the longest pause of the loop while an exclusion reaches all known
pages. Exits 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import atexit
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
from figures import Figure

from evercrawl.ask.orders.give import awaited, give
from evercrawl.config import Config
from evercrawl.crawl.enforcing import Enforcing
from evercrawl.model.rules.barred import Barred
from evercrawl.model.rules.scope import Scope
from evercrawl.model.stored.reader import opened
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.store.journal.events import Discovery, Found, Obeyed
from evercrawl.store.live_line import NAME, ask
from evercrawl.store.orders import FORGET, CrawlOrder
from evercrawl.store.partition import Partition

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES: Final = 400
KINDS: Final = ("seed", "exclude", "boost", "set", "pause", "resume", "check", FORGET)


class Pages(BaseHTTPRequestHandler):
    """Pages that link to others; every request is counted."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[Counter[str]] = Counter()
    at: ClassVar[dict[str, float]] = {}

    def do_GET(self) -> None:
        """Answer."""
        Pages.asked[self.path] += 1
        Pages.at[self.path] = time.time()
        links = "".join(f'<a href="/p/{i}">{i}</a>' for i in range(PAGES)) if self.path == "/" else ""
        body = f"<html><title>{self.path}</title><p>{self.path}</p>{links}</html>".encode()
        if self.path == "/robots.txt":
            body = b""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Quiet(ThreadingHTTPServer):
    """A server that says nothing of crawls that were killed."""

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


def served() -> tuple[ThreadingHTTPServer, str]:
    """Serve the pages in the background; return the server, and its origin."""
    server = Quiet(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"


def crawling(directory: Path, seed: str) -> subprocess.Popen[bytes]:
    """Start the crawl."""
    command = [
        sys.executable, "-m", "evercrawl", "crawl", seed, "--dir", str(directory), "--allow-net", "127.0.0.0/8",
        "--quiet", "--delay", "20ms", "--refresh-after", "1s", "--snapshot-every", "2", "--workers", "0", "--no-index",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(process.kill)
    return process


def listens(directory: Path) -> None:
    """Return once a crawl listens in a directory."""
    until = time.monotonic() + 180.0
    while not ask(directory, {"ask": "ping"}, 1.0):
        assert time.monotonic() < until, "the crawl does not start"
        time.sleep(0.05)


def order(number: int, origin: str) -> CrawlOrder:
    """Return the order with a number."""
    kind = KINDS[number % len(KINDS)]
    return {
        "seed": CrawlOrder("seed", urls=(f"{origin}/new/{number}",)),
        "exclude": CrawlOrder("exclude", pattern=f"/p/{number}$"),
        "boost": CrawlOrder("boost", pattern=f"/p/{number % 5}$", factor=2.0 + number),
        "set": CrawlOrder("set", name="max_depth", values=(str(10 + number),)),
        "check": CrawlOrder("check", urls=(f"{origin}/",)),
        FORGET: CrawlOrder(FORGET, urls=(f"{origin}/new/{number + 1 - len(KINDS)}",)),
    }.get(kind, CrawlOrder(kind))


def killing(directory: Path, kills: int, origin: str, seed: int) -> Iterator[Figure]:
    """Kill the crawl during orders; see that each was obeyed once."""
    draw, given, process = random.Random(seed), list[tuple[str, CrawlOrder]](), crawling(directory, f"{origin}/")
    for _ in range(kills):
        if draw.random() < 0.8 or not given:
            listens(directory)  # else it is killed while it starts
        for _ in range(draw.randrange(1, 6)):
            one = order(len(given), origin)
            given.append((give(directory, one).id, one))
            time.sleep(draw.uniform(0.0, 0.08))
        time.sleep(draw.uniform(0.0, 0.2))
        process.kill()
        process.wait()
        process = crawling(directory, f"{origin}/")
    listens(directory)
    last = give(directory, CrawlOrder("resume"))
    answer = awaited(directory, last, 120.0)
    assert answer.state == "done", answer
    until = time.monotonic() + 180.0
    while time.monotonic() < until:
        crawl = opened(directory)
        waiting = len(crawl.state.steered.checks)
        crawl.close()
        if not waiting:
            break
        time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    crawl = opened(directory)
    obeyed = [event for _, _, event in crawl.journal.replay() if isinstance(event, Obeyed)]
    ended = Counter(event.id for event in obeyed if event.state != "begun")
    read = [event.id for event in obeyed if event.upto >= 0]
    gone = {url for _, one in given if one.do == FORGET for url in one.urls}
    slots = crawl.state.find([url for _, one in given if one.do == "seed" for url in one.urls if url not in gone])
    unknown = int((slots == 0xFFFFFFFF).sum())
    remembered = sum(not crawl.state.forgotten.has_key(crawl.state.hasher.key(url)) for url in gone)
    crawl.close()
    wrong = sum(ended[name] != 1 for name, _ in given)
    out_of_order = read != [*(name for name, _ in given), last.id]
    verify = subprocess.run(
        [sys.executable, "-m", "evercrawl", "verify", "--dir", str(directory)], capture_output=True, check=False
    )
    yield Figure(f"orders not obeyed exactly once, of {len(given)}, in {kills} kills", wrong, "", at_most=0)
    yield Figure("orders obeyed in another order than given", int(out_of_order), "", at_most=0)
    yield Figure("URLs of orders that are not known", unknown, "", at_most=0)
    yield Figure(f"pages not forgotten, of {len(gone)}", remembered, "", at_most=0)
    yield Figure("exit code of verify", verify.returncode, "", at_most=0)


def timing(directory: Path, origin: str, times: int) -> Iterator[Figure]:
    """Measure the time from an order to its effect: a URL that is added is requested, and the result is on the disk."""
    for socket, most_s in ((True, 0.3), (False, 1.3)):
        process = crawling(directory, f"{origin}/")
        listens(directory)
        time.sleep(1.0)
        if not socket:
            (directory / NAME).unlink()
        results, requests = list[float](), list[float]()
        for i in range(times):
            url = f"/timed/{socket}/{i}"
            at = time.time()
            given = give(directory, CrawlOrder("seed", urls=(origin + url,)))
            answer = awaited(directory, given, 10.0)
            results.append(time.time() - at)
            assert answer.state == "done", answer
            check = give(directory, CrawlOrder("check", urls=(origin + url,)))
            awaited(directory, check, 10.0)
            requests.append(Pages.at.get(url, float("inf")) - at)
            time.sleep(random.Random(i).uniform(0.0, 0.5))
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        how = "with the socket" if socket else "without it"
        yield Figure(f"order to effect {how}, median", float(np.median(results)), "s")
        yield Figure(f"order to effect {how}, 95 %", float(np.percentile(results, 95)), "s", at_most=most_s)
        yield Figure(f"order to a request that it asks for {how}, median", float(np.median(requests)), "s")


def enforcing(known: int) -> Iterator[Figure]:
    """Measure the longest turn of the loop while an exclusion reaches all known pages, and the time of all turns."""
    with tempfile.TemporaryDirectory(prefix="evercrawl-orders-") as folder:
        partition = Partition(Path(folder), random.Random(1).randbytes, now=1.7e9)
        state, scope = partition.state, Scope(Config(scope="any"), lambda _: 0)
        frontier = Frontier(BreadthFirst(), lambda _: None, lambda _: 0.0, names=state.hosts)  # type: ignore[arg-type, return-value]
        for first in range(0, known, 5000):
            urls = [f"http://h{i % 997}.example/{'out' if i % 2 else 'in'}/{i}" for i in range(first, first + 5000)]
            new, fresh = list[str](), state.hasher.keys(urls)
            state.table.intern(fresh)
            begun = len(state.hosts)
            numbers = [state.host_number(url.split("/")[2], new) for url in urls]
            found = Discovery(first, urls, numbers, begun, new)
            frontier.add_hosts(new)
            state.admit(found, 1.7e9, fresh)
            partition.remember(Found(1.7e9, found))
            frontier.fill(np.array(numbers, np.uint32), np.arange(first, first + 5000, dtype=np.uint32), new=True)
            if first % 100_000 == 0:
                partition.journal.write(partition.journal.seal())
                partition.flush()
        one = Enforcing(partition, scope, Barred(state, scope), frontier, refresh_after_s=60.0, in_order=True)
        for what, exclude in (("excluded", ("/out/",)), ("lifted", ())):
            scope.change(Config(scope="any", exclude=exclude))
            turns = list[float]()
            while one.busy:
                began = time.thread_time()
                one.turn(1.7e9)
                turns.append(time.thread_time() - began)
            waiting = frontier.new_count
            assert waiting == (known // 2 if exclude else known), waiting
            yield Figure(f"half of {known:,} pages {what}: longest turn", max(turns) * 1e3, "ms", at_most=20.0)
            yield Figure(f"half of {known:,} pages {what}: in all", sum(turns), "s")
        partition.close()


def main() -> int:
    """Measure, print, and say whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--known", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    server, origin = served()
    missed = False
    with tempfile.TemporaryDirectory(prefix="evercrawl-orders-") as folder:
        for figure in chain(
            killing(Path(folder) / "killed", args.kills, origin, args.seed) if args.kills else (),
            timing(Path(folder) / "timed", origin, args.times) if args.times else (),
            enforcing(args.known) if args.known else (),
        ):
            print(json.dumps(asdict(figure)) if args.json else figure, flush=True)
            missed = missed or (figure.ratio is not None and figure.ratio < 1.0)
    server.shutdown()
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
