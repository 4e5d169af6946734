"""What a crawl in several partitions costs beside one of one partition, and what it comes to when processes are killed.

A web of many sites is served on loopback and crawled twice until it is idle: by one process, and by --parts of them, of
which --kills are killed meanwhile. Then both directories are read; and once more after both crawls went on for a while,
in which importance comes to rest.

python bench/partitions.py --parts 4 --kills 4
python bench/partitions.py --sites 60 --pages 50 --kills 0 --rate 130 --own-addresses
python bench/partitions.py --sites 60 --pages 50 --rate 40 --hang 32
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import json
import os
import random
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from evercrawl.arrays.hasher import Hasher
from evercrawl.ask.verify.cash import members
from evercrawl.ask.verify.together import together
from evercrawl.cluster.birth import is_cluster, part_directories, read_birth
from evercrawl.cluster.wire import Mailed, packed, read_frame
from evercrawl.model.stored.reader import opened
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname
from evercrawl.simulate.parted.counts import elsewhere
from evercrawl.simulate.surroundings.named_loopback import NETWORK, NamedLoopback
from evercrawl.store.disk.lock import holder
from evercrawl.store.journal.codec import decode_slots, encode_slots
from evercrawl.store.journal.events import HAS_LINKS, Visit
from evercrawl.store.journal.post_events import LetterReceived, LetterSent
from evercrawl.store.partition import Partition
from evercrawl.store.post.ownership import Ownership, Share

_PR_SET_CHILD_SUBREAPER = 36


async def crawled(
    server: NamedLoopback, folder: Path, directory: Path, parts: int, kills: int, *until: str, rate: float = 0.0
) -> dict[str, float]:
    """Crawl until idle, or as `until` says, killing processes of partitions meanwhile; return what it took."""
    server.write_names(folder / "names.txt")
    more = ["--partitions", str(parts)] if parts > 1 else []
    more += until or ("--until-idle",)
    used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    more += ["--rate", str(rate)] if rate else []
    first = len(server.began)
    crawl = await asyncio.create_subprocess_exec(*command(server, folder, directory), *more)
    ending = asyncio.ensure_future(crawl.wait())
    draw, killed = random.Random(1), 0
    while not ending.done():
        await asyncio.wait([ending], timeout=2.0)
        there = [] if ending.done() or killed >= kills else parts_of(directory)
        if there:
            os.kill(draw.choice(there), signal.SIGKILL)
            killed += 1
    assert crawl.returncode == 0, f"the crawl ended with {crawl.returncode}"
    await reaped()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    took = {"wall_s": round(time.monotonic() - began, 1), "cpu_s": round(cpu_s, 2), "killed": killed}
    return took | (paced(pages(server, first)) if rate else {})


def command(server: NamedLoopback, folder: Path, directory: Path) -> list[str]:
    """Return the words that crawl the web."""
    return [
        sys.executable, "-m", "evercrawl", "crawl", server.seed, "--dir", str(directory), "--scope", "any",
        "--allow-net", NETWORK, "--delay", "0", "--connections-per-ip", "8", "--resolve", str(folder / "names.txt"),
        "--no-index", "--workers", "0", "--probe-share", "0", "--quiet", "--contact", "me@example.org",
    ]  # fmt: skip


def pages(server: NamedLoopback, first: int = 0) -> list[tuple[float, str]]:
    """Return when pages were asked for, and which, in order of time, after the first requests."""
    return sorted((at, url) for at, url in server.began[first:] if not url.endswith("/robots.txt"))


def paced(asked: list[tuple[float, str]]) -> dict[str, float]:
    """Return how evenly pages were asked for: the median and the most in a second, and how long the last tenth took."""
    times = np.array([at for at, _ in asked])
    a_second = np.bincount((times - times[0]).astype(int))[:-1]
    tenth = times[-1] - times[-len(times) // 10]
    return {
        "asked": len(times), "median_in_a_second": float(np.median(a_second)), "most_in_a_second": int(a_second.max()),
        "last_tenth_s": round(float(tenth), 1),
    }  # fmt: skip


async def hung(args: argparse.Namespace, folder: Path) -> None:
    """Stop one partition for a while, and print how many visits it and the others made meanwhile."""
    async with NamedLoopback(sites=args.sites, pages=args.pages, addresses=args.sites) as server:
        server.write_names(folder / "names.txt")
        more = ["--partitions", str(args.parts), "--rate", str(args.rate)]
        crawl = await asyncio.create_subprocess_exec(*command(server, folder, folder / "many"), *more)
        try:
            while len(pages(server)) < 10 * args.rate:
                if crawl.returncode is not None:
                    raise RuntimeError(f"the crawl ended with {crawl.returncode}; give it more --sites or --pages")
                await asyncio.sleep(0.1)
            birth, chosen = read_birth(folder / "many"), 0
            own = Ownership(birth.share(0), Hasher(bytes.fromhex(birth.secret)), found_site)
            there = holder(part_directories(folder / "many")[chosen])
            assert there is not None, "it crawls"
            os.kill(there["pid"], signal.SIGSTOP)
            stopped_at = time.time()
            await asyncio.sleep(args.hang)
            os.kill(there["pid"], signal.SIGCONT)
            went_on_at = time.time()
            await asyncio.sleep(15.0)
        finally:
            if crawl.returncode is None:
                crawl.terminate()
            await crawl.wait()

        def rates(since: float, until: float) -> dict[str, float]:
            found = [own.of(hostname(url)) == chosen for at, url in pages(server) if since <= at < until]
            lasts_s = until - since
            return {
                "all_per_s": round(len(found) / lasts_s, 1),
                "stopped_per_s": round(sum(found) / lasts_s, 1),
            }

        print(
            json.dumps(
                {
                    "rate": args.rate, "stopped_s": args.hang,
                    "8 s before": rates(stopped_at - 8, stopped_at),
                    "first 8 s": rates(stopped_at, stopped_at + 8),
                    "from 12 s on": rates(stopped_at + 12, went_on_at),
                    "2 s after it continued": rates(went_on_at, went_on_at + 2),
                    "the 12 s after": rates(went_on_at + 2, went_on_at + 14),
                    "most_in_a_second": paced(pages(server))["most_in_a_second"],
                }
            ),
            flush=True,
        )  # fmt: skip


def parts_of(directory: Path) -> list[int]:
    """Return the processes of partitions of a crawl, as their locks name them."""
    parts = [part for part in part_directories(directory) if part.is_dir()] if is_cluster(directory) else []
    return [there["pid"] for part in parts if (there := holder(part)) is not None]


def adopt() -> None:
    """Have what descends from this process and loses its parent become its child, so that its CPU time is counted."""
    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1):
        raise OSError("no subreaper")


async def reaped() -> None:
    """Wait for what was adopted.

    Raises
    ------
    RuntimeError
        Some of it outlives the crawl by half a minute.
    """
    until = time.monotonic() + 30.0
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)  # noqa: ASYNC222 - it does not wait
        except ChildProcessError:
            return
        if not pid:
            if time.monotonic() > until:
                raise RuntimeError("a process of the crawl outlives it")
            await asyncio.sleep(0.05)


def alone(directory: Path) -> tuple[dict[str, float], dict[str, float], list[tuple[str, str]]]:
    """Return figures of a crawl of one partition, the importance of its pages, and its links."""
    with closing(opened(directory)) as crawl:
        state = crawl.state
        urls = state.urls.get_many(range(state.known.count))
        has, rows = state.table.cash[: state.known.count].astype(np.float64), state.records.rows[: state.records.count]
        has[rows["slot"]] += rows["importance"]
        slots, sites = members(state)
        has[slots] += state.accounts.shares(sites)
        importance = dict(zip(urls, has.tolist(), strict=True))
        links = [
            (urls[event.slot], urls[target])
            for _, _, event in crawl.journal.replay()
            if isinstance(event, Visit) and event.flags & HAS_LINKS
            for target in decode_slots(event.targets).tolist()
        ]
        return {"visits": state.visits, "journal_bytes": crawl.journal.position}, importance, links


def split(links: list[tuple[str, str]], parts: int) -> dict[str, float]:
    """Return which part of the links cross partitions, by a hash of the site and by one of the URL."""
    hasher = Hasher(bytes(16))
    own = Ownership(Share(0, parts, "bench", 1), hasher, found_site)
    by_site = sum(own.of(hostname(one)) != own.of(hostname(other)) for one, other in links)
    by_url = sum(hasher.key(one) % parts != hasher.key(other) % parts for one, other in links)
    return {
        "links": len(links), "crossing_by_site": round(by_site / len(links), 4),
        "crossing_by_url": round(by_url / len(links), 4),
    }  # fmt: skip


def transfers(entries: int = 1000, letters: int = 200) -> dict[str, float]:
    """Return how many entries of letters a core journals and folds a second, sent and received."""
    rates = dict[str, float]()
    with tempfile.TemporaryDirectory() as folder:
        share = Share(0, 2, "bench", 1)
        with closing(Partition(Path(folder), os.urandom, now=1.0, site=found_site, share=share)) as crawl:
            keys = np.arange(1, entries * 20 + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            crawl.state.table.intern(keys)
            draw = np.random.default_rng(1)
            for name in ("received", "sent"):
                began = time.process_time()
                for number in range(1, letters + 1):
                    chosen = draw.choice(keys, entries, replace=False)
                    slots = np.sort(crawl.state.table.find(chosen))
                    amounts, packed = draw.random(entries).tobytes(), encode_slots(slots)
                    if name == "received":
                        crawl.remember(LetterReceived(1.0, 1, 1, number, packed, amounts))
                    else:
                        crawl.remember(LetterSent(1.0, 1, number, packed, amounts, 0, 0))
                    if number % 20 == 0:
                        crawl.journal.write(crawl.journal.seal())
                rates[f"{name}_per_s"] = round(entries * letters / (time.process_time() - began))
            rates["journal_bytes_an_entry"] = round(crawl.journal.position / (2 * entries * letters), 2)
    return rates


def frame(k: int = 1000, links: float = 2.0, parts: int = 4) -> dict[str, object]:
    """Return how 1/k of the paper's frame fares: four partitions under 1/k of 4 GB each, with 1/k of 2e9 pages.

    Each has the URLs that it owns and those that its pages link to, as `elsewhere` counts them for so many links to
    other sites a page. Letters of 1,000 entries for pages at random come from each of the others. What is printed as
    extrapolated is multiplied by k, and nothing else.
    """
    own = round(2e9 / k / parts)
    rows = round(own * (1 + elsewhere(links, parts, float("inf"))))
    draw, taken, seconds, entries = np.random.default_rng(1), 0, 0.0, 0
    for number in range(parts):
        with tempfile.TemporaryDirectory() as folder:
            share = Share(number, parts, "bench", 1)
            with closing(Partition(Path(folder), os.urandom, now=1.0, site=found_site, share=share)) as crawl:
                keys = draw.integers(1, 1 << 63, rows, np.uint64)
                for first in range(0, rows, 10_000):
                    crawl.state.table.intern(keys[first : first + 10_000])
                began = time.process_time()
                for letter in range(3 * 67):
                    slots = np.unique(draw.integers(0, own, 1000).astype(np.uint32))
                    amounts = draw.random(len(slots))
                    sender = (number + 1 + letter % 3) % parts
                    crawl.remember(
                        LetterReceived(1.0, sender, 1, 1 + letter // 3, encode_slots(slots), amounts.tobytes())
                    )
                    entries += len(slots)
                    if letter % 20 == 19:
                        crawl.journal.write(crawl.journal.seal())
                seconds += time.process_time() - began
                taken += crawl.state.table.nbytes
    each = taken / parts
    return {
        "k": k, "pages_each": own, "rows_each": rows, "bytes_a_page": round(each / own, 1),
        "limit_bytes_each": round(4e9 / k), "bytes_each": round(each), "times_the_limit": round(each / (4e9 / k), 2),
        "transfers_per_s": round(entries / seconds), "extrapolated_gb_each": round(each * k / 1e9, 1),
        "extrapolated_pages_in_4_gb": round(4e9 / (each / own)),
    }  # fmt: skip


async def carried(messages: int = 20_000, size: int = 200) -> dict[str, float]:
    """Return how many messages a core carries a second as the coordinator does: read, looked at, and written on."""
    lines = [await asyncio.open_connection(sock=end) for _ in range(2) for end in socket.socketpair()]
    near, (reader, writer), far = lines[0][1], (lines[1][0], lines[2][1]), lines[3][0]

    async def write() -> None:
        frame = packed(Mailed(1, bytes(size)))
        for _ in range(messages):
            near.write(frame)
            await near.drain()

    async def read() -> None:
        for _ in range(messages):
            await read_frame(far)

    beside = [asyncio.ensure_future(write()), asyncio.ensure_future(read())]
    began = time.process_time()
    for _ in range(messages):
        frame = await read_frame(reader)
        assert isinstance(frame, Mailed)
        writer.write(packed(frame))
    await asyncio.gather(*beside)
    return {"carried_per_s": round(messages / (time.process_time() - began)), "bytes": size}


def several(directory: Path, one: dict[str, float], importance: dict[str, float]) -> dict[str, object]:
    """Return figures of a crawl of several partitions beside those of one."""
    partitions = [opened(part) for part in part_directories(directory)]
    try:
        found = together(partitions)
        visits = sum(partition.state.visits for partition in partitions)
        journal = sum(partition.journal.position for partition in partitions)
        known = sum(partition.state.known.count for partition in partitions)
        sent = entries = 0
        for partition in partitions:
            for _, _, event in partition.journal.replay():
                if isinstance(event, LetterSent):
                    sent, entries = sent + 1, entries + len(event.amounts) // 8
    finally:
        for partition in partitions:
            partition.close()
    whole, other = sum(importance.values()) or 1.0, sum(found.importance.values())
    off = sum(abs(importance.get(url, 0.0) / whole - value / other) for url, value in found.importance.items())
    journal_a_visit = journal / visits
    return {
        "visits": visits,
        "pages": len(found.visited),
        "pages_of_two": sum(len(who) > 1 for who in found.visited.values()),
        "letters": sent,
        "letters_a_visit": round(sent / visits, 3),
        "entries_a_visit": round(entries / visits, 3),
        "journal_bytes_a_visit": round(journal_a_visit),
        "journal_ratio": round(journal_a_visit / (one["journal_bytes"] / one["visits"]), 2),
        "known_rows_a_url": round(known / len(found.importance), 2),
        "importance_off": round(off, 6),
        "importance_ratio": round(other / whole, 4),
        "law_off_at_worst": found.worst,
        "under_way": found.under_way,
        "wrong": found.wrong[:3],
    }


async def measured(args: argparse.Namespace, folder: Path) -> None:
    """Crawl by one, and by several, and print what each came to."""
    addresses = args.sites if args.own_addresses else 8
    async with NamedLoopback(sites=args.sites, pages=args.pages, addresses=addresses) as server:
        took = await crawled(server, folder, folder / "one", 1, 0, rate=args.rate)
        one, _, links = alone(folder / "one")
        one_row = {**took, **one, "pages_per_cpu_s": round(one["visits"] / took["cpu_s"], 1)}
        print(json.dumps({"one": one_row}), flush=True)
        print(json.dumps({"split": split(links, args.parts)}), flush=True)
        many = await crawled(server, folder, folder / "many", args.parts, args.kills, rate=args.rate)
        if args.rate:
            print(json.dumps({f"{args.parts} partitions": many}), flush=True)
            return
        row = several(folder / "many", one, {})
        rest = "--seconds", str(args.rest)
        await crawled(server, folder, folder / "one", 1, 0, *rest)
        await crawled(server, folder, folder / "many", args.parts, 0, *rest)
    importance = alone(folder / "one")[1]
    rested = several(folder / "many", one, importance)
    row |= {name: rested[name] for name in ("importance_off", "importance_ratio", "wrong", "law_off_at_worst")}
    row["pages_per_cpu_s"] = round(float(str(row["visits"])) / many["cpu_s"], 1)
    row["entries_per_wall_s"] = round(
        float(str(row["entries_a_visit"])) * float(str(row["visits"])) / many["wall_s"], 1
    )
    row["cpu_ratio"] = round(float(row["pages_per_cpu_s"]) / one_row["pages_per_cpu_s"], 3)
    print(json.dumps({f"{args.parts} partitions": {**many, **row}}), flush=True)


def main() -> int:
    """Measure, and print a JSON object a step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--sites", type=int, default=40)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--no-crawl", action="store_true", help="only what needs no crawl")
    parser.add_argument("--rest", type=int, default=30, help="seconds in which importance comes to rest afterwards")
    parser.add_argument("--rate", type=float, default=0.0, help="visits a second of each crawl; only the pace is told")
    parser.add_argument("--own-addresses", action="store_true", help="an address for each site")
    parser.add_argument("--hang", type=float, default=0.0, help="stop a partition for so many seconds; with --rate")
    args = parser.parse_args()
    adopt()
    if args.hang and not args.rate:
        parser.error("--hang needs --rate")
    if args.rate:
        folder = Path(tempfile.mkdtemp(prefix="evercrawl-partitions-"))
        try:
            asyncio.run((hung if args.hang else measured)(args, folder))
        finally:
            shutil.rmtree(folder)
        return 0
    print(json.dumps({"transfers": transfers()}), flush=True)
    print(json.dumps({"frame": frame()}), flush=True)
    print(json.dumps({"carried": asyncio.run(carried())}), flush=True)
    if args.no_crawl:
        return 0
    folder = Path(tempfile.mkdtemp(prefix="evercrawl-partitions-"))
    try:
        asyncio.run(measured(args, folder))
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
