"""How accurate importance is in the real loop: AOPIC with each window, and push, by each order, on real links.

    python bench/loop_importance.py GRAPH.edges.parquet
    python bench/loop_importance.py GRAPH.edges.parquet --turns 5 --order greedy --window interpolation:9

The shipped loop crawls a made-up site whose pages have the links of the graph, on a virtual clock and without sockets:
robots.txt, politeness, parsing, journal and cash are those of any crawl. After some visits a page (`--turns`) what it
thinks of pages is compared with PageRank on the whole graph: the mean error over all pages and over the most important
tenth, in percent, and 1 - Spearman's rank correlation. A file has the columns src and dst; with `--pages` only that
many pages, the first ones, are served. Exits 1 where push is not the best of its order over all pages.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from evercrawl.config import Config
from evercrawl.crawl.assemble import assemble
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.ports import Outside
from evercrawl.fetch.guard import Guard
from evercrawl.fetch.names import StaticResolver
from evercrawl.lab.papers.accuracy import TrueImportance, importance
from evercrawl.lab.papers.webs import read
from evercrawl.model.policy.schemes import stored
from evercrawl.model.view import View
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.progress import Limits
from evercrawl.simulate.graphs import Web
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual
from evercrawl.simulate.surroundings.network import Answer, MadeNetwork, inline
from evercrawl.store.partition import Partition

HOST: Final = "graph.test"
BEGAN_AT: Final = 1_700_000_000.0
RATE_PER_S: Final = 100.0
ORDERS: Final = ("random", "cycle", "greedy")
WINDOWS: Final = ("unbounded", "variable:8", "fixed:18", "interpolation:9", "two-windows")
PUSH: Final = "push"
WORDS: Final = 40


class Looked(NamedTuple):
    """What came of one crawl: visits made, errors, and its CPU time."""

    visits: int
    mean: float
    top: float
    rank: float
    cpu_s: float


class GraphSite:
    """A site whose pages have the links of a graph, and words of their own, so that no two are alike."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        """Return a page, or nothing at all where there is none."""
        if path == "/robots.txt":
            return Answer(404, {}, b"")
        number = path.strip("/")
        if not number.isdigit() or int(number) >= self._web.pages:
            return Answer(404, {"content-type": "text/html"}, b"no such page")
        first, end = self._web.start[int(number)], self._web.start[int(number) + 1]
        links = " ".join(f'<a href="/{target}">{target}</a>' for target in self._web.target[first:end].tolist())
        draw = random.Random(int(number))
        words = " ".join(f"w{draw.randrange(10**6)}" for _ in range(WORDS))
        body = f"<html><title>Page {number}</title><body>{words} {links}</body></html>"
        return Answer(200, {"content-type": "text/html"}, body.encode())


def crawled(web: Web, order: str, scheme: str, window: str, turns: float, seed: int) -> Looked:
    """Crawl the site, and compare what the crawl thinks of pages with the truth."""
    config = Config(
        rate_per_s=RATE_PER_S, delay_s=0.0001, refresh_after_s=0.0, policy=order, importance=scheme, window=window,
        connections_per_host=1,
    )  # fmt: skip
    seeds = [f"http://{HOST}/{page}" for page in range(web.pages)]
    began = time.process_time()
    with tempfile.TemporaryDirectory(prefix="evercrawl-loop-") as folder:
        return run_virtual(_crawled(web, Path(folder), config, seeds, turns, seed, began), start=BEGAN_AT)


async def _crawled(
    web: Web, folder: Path, config: Config, seeds: list[str], turns: float, seed: int, began: float
) -> Looked:
    clock, guard = VirtualClock(), Guard()
    network = MadeNetwork(GraphSite(web), clock, lambda _: 0.001, judge=guard.judge)
    partition = Partition(
        folder, random.Random(seed).randbytes, now=clock.now(), site=found_site, site_rules=site_rules(),
        scheme=stored(config.importance, 1.0, config.window),
    )  # fmt: skip
    memory = Memory.beside(partition, config, None)
    try:
        outside = Outside(network, [StaticResolver({HOST: ["8.8.8.8"]})], clock, inline, guard)
        await assemble(config, memory, outside).run(seeds, Limits(pages=round(turns * web.pages)))
        found = np.zeros(web.pages)
        view, state = View(partition, config, clock.now()), partition.state
        slots = np.arange(state.known.count, dtype=np.uint32)
        for slot, url in zip(slots.tolist(), state.urls.get_many(slots.tolist()), strict=True):
            number = url.rpartition("/")[2]
            if number.isdigit() and int(number) < web.pages:
                found[int(number)] += view.importance[slot]
        off = TrueImportance(importance(web)).accuracy(np.maximum(found, 1e-300))
        return Looked(state.visits, off.mean, off.top, off.rank, time.process_time() - began)
    finally:
        await network.close()
        memory.close()
        partition.close()


def some_of(web: Web, pages: int) -> Web:
    """Return the first pages, with the links among them."""
    kept = (web.source < pages) & (web.target < pages)
    return Web.of(min(pages, web.pages), web.source[kept], web.target[kept])


def main() -> int:
    """Print a row for each order and scheme; return 1 where push is not the best."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path, help="a Parquet file with the columns src and dst")
    parser.add_argument("--pages", type=int, default=1000, help="serve the first N pages (default: 1000)")
    parser.add_argument("--turns", type=float, default=5.0, help="visits a page on the mean (default: 5)")
    parser.add_argument("--order", action="append", choices=ORDERS, help="may be repeated (default: all)")
    parser.add_argument("--window", action="append", help=f"may be repeated (default: {', '.join(WINDOWS)})")
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    web = some_of(read(o.graph), o.pages)
    print(f"{o.graph.name}: {web.pages:,} pages, {web.links:,} links, {o.turns:g} visits a page", flush=True)
    print(f"{'order':8}{'importance':26}{'visits':>8}{'all %':>9}{'tenth %':>9}{'1-rank':>9}{'CPU s':>8}")
    weak = 0
    for order in o.order or ORDERS:
        errors = dict[str, float]()
        for scheme, window in [*(("aopic", each) for each in o.window or WINDOWS), (PUSH, "auto")]:
            name = f"{scheme}, {window}" if scheme == "aopic" else scheme
            looked = crawled(web, order, scheme, window, o.turns, o.seed)
            errors[name] = looked.mean
            print(
                f"{order:8}{name:26}{looked.visits:>8,}{100 * looked.mean:>9.2f}{100 * looked.top:>9.2f}"
                f"{looked.rank:>9.4f}{looked.cpu_s:>8.1f}",
                flush=True,
            )
        weak += errors[PUSH] > min(errors.values())
    return int(weak > 0)


if __name__ == "__main__":
    sys.exit(main())
