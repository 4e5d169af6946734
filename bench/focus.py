"""A focus on a planted topic: how many of its pages are found, and whether the ranking stays that of the links.

    python bench/focus.py [--seeds 5] [--first 0] [--pages 10000] [--visits 2000] [--weight 4]

Each seed draws a web of 20 hosts, whose pages are about one of 20 topics each; three links in five lead to pages of the
same topic, and four in five name the topic they lead to. It is crawled three times with as many fetches, a fifth of its
pages: without a focus, with one on a pattern that the URLs of one topic have, and, where URLs are silent, with one on
its name near links. Counted are the pages of that topic that were read.

The ranking is held against the truth about what each crawl read: importance solved to rounding on the pages it read and
the links between them, by Spearman's rank correlation over these pages. Beside it stands that of the keys by which the
focus chose visits (importance times weight), which is what a ranking would be that the focus had biased; and the
correlation with the ranking of the crawl without focus, over the pages that both read, who saw other parts of the web.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from figures import Figure

from evercrawl.config import Config, Focus
from evercrawl.simulate.living.beliefs import Beliefs, beliefs, rank_correlation
from evercrawl.simulate.living.lives import explore
from evercrawl.simulate.living.truth import Node, importance

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
from topics import TOPICS, TopicWeb

RATE_PER_S = 20.0
TOPIC = TOPICS[0]


class Crawled(NamedTuple):
    """What one crawl came to."""

    read: set[str]
    found: int
    importance: np.ndarray
    correlation: float
    biased: float


class Row(NamedTuple):
    """What one seed came to: pages found without focus, by URL and by words; correlations of both focused crawls."""

    seed: int
    plain: int
    by_url: int
    by_words: int
    correlation: tuple[float, float, float]
    biased: float
    with_plain: float


def crawled(web: TopicWeb, visits: int, *focus: Focus) -> Crawled:
    """Crawl a web, and hold what was learned against the truth about what was read."""
    urls, seen = web.urls + web.seeds, list[Beliefs]()
    config = Config(rate_per_s=RATE_PER_S, delay_s=0.001, focus=focus)
    log = explore(web, config, visits / RATE_PER_S, lambda partition: seen.append(beliefs(partition, urls)))
    read = {asked.url for asked in log if asked.status == 200}
    x = importance({url: Node(tuple(web.links(url)), len(web.links(url))) for url in read})
    places = [place for place, url in enumerate(urls) if url in x]
    true, learned = np.array([x[urls[place]] for place in places]), seen[0].importance
    meant = np.array([web.topic(urls[place]) == TOPIC for place in places])
    weight = focus[0].weight if focus else 1.0
    return Crawled(
        read,
        int(meant.sum()),
        learned,
        rank_correlation(learned[places], true),
        rank_correlation(learned[places] * np.where(meant, weight, 1.0), true),
    )


def lived(seed: int, pages: int, visits: int, weight: float) -> Row:
    """Crawl the web of one seed three times."""
    plainly = TopicWeb(seed, pages=pages)
    plain = crawled(plainly, visits)
    by_url = crawled(plainly, visits, Focus(url=f"/{TOPIC}/", weight=weight))
    silent = TopicWeb(seed, pages=pages, opaque=True)
    by_words = crawled(silent, visits, Focus(words=(TOPIC,), weight=weight))
    both = [n for n, url in enumerate(plainly.urls) if url in plain.read and url in by_url.read]
    return Row(
        seed, plain.found, by_url.found, by_words.found,
        (plain.correlation, by_url.correlation, by_words.correlation), by_url.biased,
        rank_correlation(plain.importance[both], by_url.importance[both]),
    )  # fmt: skip


def main() -> int:
    """Print a line a seed and all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--visits", type=int, default=2_000)
    parser.add_argument("--weight", type=float, default=4.0)
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    print("seed  no focus  by URL  by words   rank correlation: none    URL  words  biased keys  with no focus")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        some = [[value] * len(seeds) for value in (given.pages, given.visits, given.weight)]
        rows = [shown(row) for row in pool.map(lived, seeds, *some)]
    times = [found / row.plain for row in rows for found in (row.by_url, row.by_words)]
    figures = [
        Figure("pages found with a focus, mean", statistics.mean(times), "x"),
        Figure("pages found with a focus, worst", min(times), "x", at_least=2.0),
        Figure(
            "rank correlation with a focus, worst", min(min(row.correlation[1:]) for row in rows), "", at_least=0.95
        ),
    ]
    print(*figures, sep="\n")
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


def shown(row: Row) -> Row:
    """Print a row."""
    none, url, words = row.correlation
    print(
        f"{row.seed:4} {row.plain:9} {row.by_url:7} {row.by_words:9} {none:25.3f} {url:6.3f} {words:6.3f} "
        f"{row.biased:12.3f} {row.with_plain:14.3f}",
        flush=True,
    )
    return row


if __name__ == "__main__":
    sys.exit(main())
