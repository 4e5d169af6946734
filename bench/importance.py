"""What importance costs at once, from links that are known: visits and solving, against limits and against others.

    python bench/importance.py
    python bench/importance.py --graph links.parquet

Made-up webs of sites, ten links a page, four in five within the site. All times are CPU time of one thread, the
quickest of some runs, ours and the others' in turn. Exits 1 when a goal is missed. The last part, 100 million links,
takes some minutes and 2 GiB; `--large 0` leaves it out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from figures import Figure
from graphs import SITE, sites
from pyarrow import parquet

from evercrawl.importance import offline
from evercrawl.importance.offline.residuals import residual

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
from known_graph.sweep import OPIC

try:
    import networkit
    import scipy.sparse
except ImportError as missing:
    sys.exit(f"{missing}: to compare, `pip install networkit scipy`")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evercrawl.importance.offline import Graph
    from evercrawl.types import Floats

TAX, NEAR = 0.15, 1e-9


def spent_s(work: Callable[[], object]) -> float:
    """Return the CPU time of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def quickest_s(runs: int, *works: Callable[[], object]) -> list[float]:
    """Return the least CPU time of each of some works, done in turn."""
    times = [[spent_s(work) for work in works] for _ in range(runs)]
    return [min(column) for column in zip(*times, strict=True)]


# Visits


def visiting(graph: Graph, runs: int) -> Iterator[Figure]:
    """Visit all pages by OPIC, in the order of their numbers and in none."""
    each, links = offline.damped(graph, TAX), len(graph.target) / 1e6
    shuffled = np.random.default_rng(2).permutation(graph.pages).astype(np.uint32)
    weighed = graph.with_sites(np.arange(graph.pages) // SITE, 0.1)
    plain, by_site = OPIC(graph, each), OPIC(weighed, each)
    orders = "site by site", "in shuffled order", "shuffled, links weighed by site"
    works = plain.cycle, lambda: plain.visit(shuffled), lambda: by_site.visit(shuffled)
    goals = 200, 40, None
    for order, taken_s, goal in zip(orders, quickest_s(runs, *works), goals, strict=True):
        yield Figure(f"OPIC {order}", links / taken_s, "M links/s", at_least=goal)
    yield Figure("  cash lost meanwhile, in parts of 1e-12", abs(plain.cash.sum() - 1) * 1e12, "", at_most=1000)


# Solving


class Others:
    """PageRank as others work it out, each until its own change says that it is near enough."""

    def __init__(self, graph: Graph) -> None:
        pages, out = graph.pages, graph.out
        matrix = scipy.sparse.csr_array((np.ones(len(graph.target)), graph.target, graph.start), (pages, pages))
        built = time.process_time()
        self._steps = (scipy.sparse.diags_array((1 - TAX) / np.maximum(out, 1)) @ matrix).T.tocsr()
        self.matrix_s = time.process_time() - built
        networkit.setNumberOfThreads(1)
        links = graph.source.astype(np.uint64), graph.target.astype(np.uint64)
        built = time.process_time()
        self._graph = networkit.GraphFromCoo(links, n=pages, directed=True)
        self.graph_s = time.process_time() - built
        sinks = networkit.centrality.SinkHandling
        self._sinks = sinks.NoSinkHandling if out.all() else sinks.DistributeSinks
        self.found: dict[str, Floats] = {}

    def scipy(self) -> None:
        """Power iteration."""
        x = np.full(self._steps.shape[0], 1 / self._steps.shape[0])
        change = 1.0
        while change > NEAR * TAX / (1 - TAX):
            before, x = x, self.step(x)
            change = float(np.abs(x - before).sum())
        self.found["scipy"] = x

    def networkit(self) -> None:
        """Its PageRank, with the same test."""
        rank = networkit.centrality.PageRank(self._graph, 1 - TAX, NEAR * TAX / (1 - TAX), distributeSinks=self._sinks)
        rank.norm = networkit.centrality.Norm.L1_NORM
        rank.run()
        self.found["networkit"] = np.array(rank.scores())

    def certificate(self, x: Floats) -> float:
        """Return at most how far `x` is from importance, without any code of ours."""
        return float(np.abs(self.step(x) - x).sum()) / TAX

    def step(self, x: Floats) -> Floats:
        """Return what a step makes of shares: pages give to their links, and what they keep is given to all."""
        moved: Floats = self._steps @ x
        moved += (1 - moved.sum()) / len(x)
        return moved


def solving(graph: Graph, runs: int) -> Iterator[Figure]:
    """Solve to 1e-9, ours and theirs."""
    others, found = Others(graph), {}

    def ours() -> None:
        found["ours"] = offline.pagerank(graph, TAX, tolerance=NEAR)

    taken = dict(
        zip(("ours", "scipy", "networkit"), quickest_s(runs, ours, others.scipy, others.networkit), strict=True)
    )
    found |= others.found
    truth = offline.pagerank(graph, TAX, tolerance=1e-14)
    yield Figure("truth off by at most, in parts of 1e-12 (scipy)", others.certificate(truth) * 1e12, "", at_most=1)
    for who, x in found.items():
        goal = 1 if who == "ours" else None
        yield Figure(f"solved by {who}", taken[who], "s")
        yield Figure("  sum of all errors, in parts of 1e-9", float(np.abs(x - truth).sum()) * 1e9, "", at_most=goal)
    yield Figure("  scipy's matrix is built in", others.matrix_s, "s")
    yield Figure("  networkit's graph is built in", others.graph_s, "s")
    yield Figure("quicker than networkit", taken["networkit"] / taken["ours"], "x", at_least=4)
    yield Figure("quicker than power iteration by scipy", taken["scipy"] / taken["ours"], "x", at_least=1)


# Yardsticks


def yardsticks(graph: Graph) -> Iterator[Figure]:
    """Work out all the others, once each."""
    works: dict[str, Callable[[], object]] = {
        "graph from links in any order": lambda: offline.Graph.between(graph.pages, graph.source, graph.target),
        "PageRank, convention link, to 1e-12": lambda: offline.pagerank(graph, convention="link"),
        "TrustRank from 200 pages, to 1e-12": lambda: offline.trustrank(graph, np.arange(200) * 7),
        "its seeds, by inverse PageRank": lambda: offline.good_seeds(graph, 200),
        "HITS, to 1e-9": lambda: offline.hits(graph, 1e-9),
        "in-degree": lambda: offline.in_degree(graph),
    }
    for name, work in works.items():
        yield Figure(name, spent_s(work), "s", at_most=20)


def large(pages: int) -> Iterator[Figure]:
    """Draw a large graph and solve it."""
    before_s = time.process_time()
    graph = sites(pages)
    yield Figure(f"{len(graph.target) / 1e6:.0f} M links drawn in", time.process_time() - before_s, "s")
    solution: list[Floats] = []
    taken_s = spent_s(lambda: solution.append(offline.solve(graph, TAX, tolerance=NEAR)))
    yield Figure("  solved in", taken_s, "s")
    source, each = np.full(pages, 1 / pages), offline.damped(graph, TAX)
    left = float(np.abs(residual(graph, source, each, solution[0])).sum()) / TAX / float(solution[0].sum())
    yield Figure("  off by at most, in parts of 1e-9", left * 1e9, "", at_most=1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    yield Figure("  memory at its peak", peak, "GiB", at_most=8)


def read(path: Path) -> Graph:
    """Return the graph that a file holds, a row a link."""
    table = parquet.read_table(path, columns=["src", "dst"])
    source, target = (table[name].to_numpy() for name in ("src", "dst"))
    return offline.Graph.between(int(max(source.max(), target.max())) + 1, source, target)


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pages", type=int, default=1_000_000, help="of the graph, ten links each (default 1 million)")
    parser.add_argument("--large", type=int, default=10_000_000, help="pages of the large graph (default 10 million)")
    parser.add_argument("--runs", type=int, default=5, help="of which the quickest counts")
    parser.add_argument("--graph", type=Path, help="Parquet with columns src and dst: only solve this one")
    parser.add_argument("--json", action="store_true", help="one JSON array instead of lines")
    o = parser.parse_args()
    small = sites(1_000)
    offline.hits(small), offline.pagerank(small), next(iter(visiting(small, 1)))  # compiles what has to be
    graph, figures = read(o.graph) if o.graph else sites(o.pages), []
    parts = [solving(graph, o.runs)]
    if not o.graph:
        parts = [visiting(graph, o.runs), *parts, yardsticks(graph)] + [large(o.large)] * bool(o.large)
    for figure in (figure for part in parts for figure in part):
        figures.append(figure)
        print(figure, file=sys.stderr if o.json else sys.stdout, flush=True)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", file=sys.stderr)
    if o.json:
        print(json.dumps([asdict(figure) for figure in figures]))
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
