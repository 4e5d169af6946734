"""Whatever stands in a history, what is told of it is sound."""

import json
import math

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.histories import CrawlSeen, History, LinkLog
from evercrawl.lab.histories.evolution.report import evolution

SHARES = ("words_kept", "slight", "returned", "alive_after_year", "rejected", "in_batches", "busiest_tenth")


def drawn(random: np.random.Generator) -> History:
    """Return a history in no order that makes sense: changes before births, removals of what never was."""
    pages, events, links, looks = (int(random.integers(*bounds)) for bounds in ((1, 6), (0, 25), (0, 15), (0, 20)))
    span = int(random.choice([1, 5, 100, 10**6, 10**9]))
    at, link_at, look_at = (np.sort(random.integers(0, span, n)) for n in (events, links, looks))
    page, source, target, look = (random.integers(0, pages, n) for n in (events, links, links, looks))
    op = random.choice(4, events, p=[0.3, 0.5, 0.1, 0.1]).astype(np.int8)
    states = random.integers(0, 4, (2, events)).astype(np.uint64)
    until = np.zeros(pages, np.int64)
    np.maximum.at(until, page, at)
    np.maximum.at(until, look, look_at)
    seen = CrawlSeen(until, random.random(pages) < 0.5, ("",) * pages, ("",) * pages, look, look_at)
    log = LinkLog(link_at, source, target, random.random(links) < 0.6)
    paths = tuple(f"{'a/' * (i % 3)}x" for i in range(pages))
    site = random.integers(0, 2, pages)
    return History(
        "drawn", at, page, op, at, at, *states, paths, site, ("a", "b"), log, seen if random.random() < 0.5 else None
    )


@pytest.mark.parametrize("seed", range(4))
def test_what_is_told_is_sound(seed):
    random = np.random.default_rng(seed)
    told = 0
    for _ in range(60):
        history = drawn(random)
        since, until = np.sort(random.integers(0, 1_000_000, 2)) if random.random() < 0.5 else (-math.inf, math.inf)
        try:
            found = evolution([history], "depth", since=since, until=until)
        except ConfigError:
            continue
        told += len(found)
        for one in found:
            figures = one.figures()
            json.dumps(figures, allow_nan=False)
            assert all(figures[name] is None or 0.0 <= figures[name] <= 1.0 + 1e-9 for name in SHARES)
            lives, changes, links = one.record.lives, one.record.changes, one.record.links
            assert ((lives.appeared_at <= lives.began_at) & (lives.began_at <= lives.ended_at)).all()
            assert (links.watched_at <= links.ended_at).all()
            assert (lives.page[changes.life] == changes.page).all()
            assert (changes.at >= lives.began_at[changes.life]).all()
            assert (changes.at <= lives.ended_at[changes.life]).all()
            assert one.alive <= one.pages
        if len(found) > 1:
            assert sum(each.changes for each in found[:-1]) == found[-1].changes
            assert sum(each.links.links for each in found[:-1]) == found[-1].links.links
    assert told > 68
