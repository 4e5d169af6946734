"""How well and how quickly a crawl can be searched: known items, with importance and without, and time a question.

    python bench/search.py --corpus FOLDER [--profile bench] [--dir DIR] [--items 1500] [--seed 1] [--tune]

Crawls a served corpus with its index, unless DIR names a crawl, and asks for pages that are known to be there (see
known_items.py): where do they stand? The weights of the ranking were chosen on one half of the items (`--tune` shows
that half, for some weights); what is reported is the other half. In the crawl's own index the words of an anchor query
are those of a link that it knows, as they would be for people who heard of a page from others; `held out` is an index
made anew without these very links.

Then whole questions are timed, the parts of ten pages read from the archive and all, at the size of the crawl and at
20,000 pages: the crawl's pages several times over, each time with other numbers.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from corpus import Corpus
from figures import Figure
from known_items import drawn, gains
from runs import evercrawl

from evercrawl.ask.search.search import Search
from evercrawl.model.standing import Standing
from evercrawl.model.stored.indexed import entry_of, expected
from evercrawl.search import ranking
from evercrawl.search.anchors import Anchors
from evercrawl.search.index import Index
from evercrawl.search.query import parse
from evercrawl.search.schema import words_of

PAGES = 20_000
MEDIAN_MS = 10.0
STRIDE = 1 << 24  # between the slots of one copy and the next
WEIGHTS = (0.0, 0.01, 0.02, 0.04, 0.06, 0.1)
SETTLING_S = 10  # that importance is given to spread, once all is fetched


class Copies:
    """An index of several copies, which answers as if all were the pages of the crawl."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def refresh(self) -> bool:
        """Nothing new."""
        return False

    def search(self, query, most):
        """Return candidates with the slots that the crawl knows."""
        found = self._index.search(query, most)
        return found._replace(slot=found.slot % np.uint32(STRIDE))

    def close(self) -> None:
        """Let go of it."""
        self._index.close()


def main() -> int:
    """Measure, print, and say whether the goals are met."""
    args = arguments()
    with tempfile.TemporaryDirectory() as temporary:
        directory = args.dir or crawled(Corpus(args.corpus, args.profile), Path(temporary) / "crawl")
        search = Search(directory)
        items = drawn(search._partition, args.items, args.seed)
        if args.tune:
            tune(search, items)
            return 0
        figures = [*quality(search, items, "known to it", goals=True)]
        held_out = remade(search, Path(temporary) / "held-out", without={item.query for item in items})
        figures += quality(search, items, "held out", index=held_out)
        held_out.close()
        queries = [item.query for item in items if item.held_back]
        figures += latency(search, queries, f"{len(search._index.held()[0]):,} pages")
        copies = -(-PAGES // len(search._index.held()[0]))
        search._index = Copies(remade(search, Path(temporary) / "copies", copies=copies))
        figures += latency(search, queries, f"{PAGES:,} pages and more", goal=MEDIAN_MS)
        search.close()
    for figure in figures:
        print(figure)
    return int(any(figure.ratio is not None and figure.ratio < 1 for figure in figures))


def arguments() -> argparse.Namespace:
    """Return what was asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=Path("corpus"))
    parser.add_argument("--profile", default="bench")
    parser.add_argument("--dir", type=Path, help="an indexed crawl to ask, instead of crawling")
    parser.add_argument("--items", type=int, default=1_500, help="of each kind, of which half are reported")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tune", action="store_true", help="show the half that weights are chosen on, and stop")
    return parser.parse_args()


def crawled(corpus: Corpus, directory: Path) -> Path:
    """Crawl the corpus, and return where."""
    settle = ["--seconds", str(SETTLING_S), "--refresh-after", "1d"]  # nothing is due, and importance spreads
    for more in (["--until-idle"], settle):
        command = evercrawl(directory, corpus, *more)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return directory


def remade(search: Search, folder: Path, *, without=frozenset(), copies: int = 1) -> Index:
    """Return an index of the crawl's pages made anew: without links that say what is in `without`, or several times."""
    index, partition, anchors = Index(folder), search._partition, Anchors()
    for slot in expected(partition.state)[0].tolist():
        entry = entry_of(partition, slot, anchors)
        said = [(to, words) for to, words in entry.anchors if " ".join(words_of(words)) not in without]
        for shift in range(0, copies * STRIDE, STRIDE):
            fields = {name: getattr(entry.page, name) for name in entry.page.__struct_fields__}
            index.put([type(entry.page)(**{**fields, "slot": slot + shift})])
            index.add_anchors([(to + shift, words) for to, words in said])
    index.commit(0)
    return index


def ranks(search: Search, items, index, weights) -> dict[float, list[int]]:
    """Return for each weight of importance where the items stand, from 1; 0 for not at all."""
    found, standing = {weight: [] for weight in weights}, Standing(search.view)
    for item in items:
        candidates = index.search(parse(item.query))
        for weight in weights:
            score = ranking.scores(candidates, standing(candidates.slot), weight)
            slots = candidates.slot[ranking.order(candidates, score)].tolist()
            found[weight].append(slots.index(item.slot) + 1 if item.slot in slots else 0)
    return found


def quality(search: Search, items, name: str, *, index=None, goals: bool = False) -> list[Figure]:
    """Return MRR and nDCG@10 on the half held back, by kind and over both, without and with importance."""
    figures, used = [], ranking.IMPORTANCE_WEIGHT
    half = [item for item in items if item.held_back]
    found = ranks(search, half, index or search._index, (0.0, used))
    for kinds in (("title",), ("anchor",), ("shared",), ("title", "anchor", "shared")):
        mine = [i for i, item in enumerate(half) if item.kind in kinds]
        (mrr, ndcg), (mrr_with, ndcg_with) = (gains([found[weight][i] for i in mine]) for weight in (0.0, used))
        title = f"{len(mine)} {' and '.join(kinds) if len(kinds) == 1 else 'all'} queries, {name}"
        helped = 1e3 * mrr + 1e-6 if goals and len(kinds) > 1 else None
        figures += [
            Figure(f"{title}: 1,000 MRR without importance", 1e3 * mrr, ""),
            Figure(f"{title}: 1,000 MRR with importance", 1e3 * mrr_with, "", at_least=helped),
            Figure(f"{title}: 1,000 nDCG@10 without importance", 1e3 * ndcg, ""),
            Figure(f"{title}: 1,000 nDCG@10 with importance", 1e3 * ndcg_with, ""),
        ]
    return figures


def tune(search: Search, items) -> None:
    """Print MRR and nDCG@10 of the other half for some weights of importance."""
    half = [item for item in items if not item.held_back]
    found = ranks(search, half, search._index, WEIGHTS)
    for weight in WEIGHTS:
        for kind in ("title", "anchor", "shared"):
            mrr, ndcg = gains([rank for rank, item in zip(found[weight], half, strict=True) if item.kind == kind])
            print(f"importance {weight:g}  {kind:<8} MRR {mrr:.4f}  nDCG@10 {ndcg:.4f}")


def latency(search: Search, queries: list[str], name: str, goal: float | None = None) -> list[Figure]:
    """Return p50 and p95 of whole questions, in milliseconds."""
    for query in queries[:20]:
        search.ask(query)
    taken, used = [], []
    for query in queries[20:420]:
        began, used_s = time.perf_counter(), time.process_time()
        search.ask(query)
        taken.append(1e3 * (time.perf_counter() - began))
        used.append(1e3 * (time.process_time() - used_s))
    return [
        Figure(f"a question at {name}, p50", statistics.median(taken), "ms", at_most=goal),
        Figure(f"a question at {name}, p95", statistics.quantiles(taken, n=20)[18], "ms"),
        Figure(f"a question at {name}, p50 of CPU", statistics.median(used), "ms"),
    ]


if __name__ == "__main__":
    sys.exit(main())
