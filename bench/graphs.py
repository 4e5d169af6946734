"""Made-up webs of sites, as large as memory: most links stay within a site, and lead to its first pages."""

from __future__ import annotations

import numpy as np

from evercrawl.importance.offline import Graph

INTERNAL, SITE, BLOCK = 0.8, 1_000, 1 << 17  # part of links within a site; pages of a site; pages drawn at once


def sites(pages: int, links: int = 10, seed: int = 1) -> Graph:
    """Return a web of sites of 1,000 pages, numbered site by site; each page has as many links, some of them twice."""
    random = np.random.default_rng(seed)
    target = np.empty(pages * links, np.uint32)
    for first in range(0, pages, BLOCK):
        source = np.arange(first, min(first + BLOCK, pages)).repeat(links)
        site = np.where(random.random(len(source)) < INTERNAL, source, random.integers(0, pages, len(source))) // SITE
        begin, place = site * SITE, random.random(len(source)) ** 2
        size = np.minimum(begin + SITE, pages) - begin
        target[first * links : first * links + len(source)] = begin + (place * size).astype(np.int64)
    start = np.arange(0, pages * links + 1, links, dtype=np.int64)
    return Graph(start, target, start[:-1])
