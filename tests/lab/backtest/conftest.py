"""Histories written down by hand, in days."""

import numpy as np
import pytest

from evercrawl.lab.histories import APPEARED, CHANGED, REMOVED, History, LinkLog

DAY_S = 86_400
OPS = {"born": APPEARED, "changed": CHANGED, "gone": REMOVED, "technical": 3}


@pytest.fixture(name="written", scope="session")
def history_written():
    """Return what makes a history of events (day, page, what, content, simhash) and links (day, from, to, there)."""

    def written(events, links=(), paths=None, site=None) -> History:
        events = sorted(events, key=lambda event: event[0])
        days, page, what, content = (list(column) for column in zip(*(each[:4] for each in events), strict=True))
        simhash = np.array([each[4] if len(each) > 4 else each[3] << 20 for each in events], np.uint64)
        pages = max(page) + 1
        paths = paths or tuple(f"folder/{number}" for number in range(pages))
        site = np.zeros(pages, np.int64) if site is None else np.array(site)
        n, links = len(events), sorted(links)
        source, target, there = (np.array([link[k] for link in links]) for k in (1, 2, 3))
        log = LinkLog(seconds([link[0] for link in links]), source.astype(np.int64), target.astype(np.int64),
                      there.astype(np.bool_))  # fmt: skip
        return History(
            "written", seconds(days), np.array(page), np.array([OPS[each] for each in what], np.int8),
            np.full(n, 10), np.full(n, 2), simhash, np.array(content, np.uint64), paths, site,
            tuple(f"site{number}" for number in range(int(site.max()) + 1)), log,
        )  # fmt: skip

    return written


@pytest.fixture(name="drawn", scope="session")
def history_drawn(written):
    """Return what draws a history of some pages in two folders from a seed; some change often, some vanish."""

    def drawn(seed, pages=40, days=300, links=()) -> History:
        draw = np.random.default_rng(seed)
        events = []
        for page in range(pages):
            born = 0.0 if draw.random() < 0.7 else float(draw.uniform(0, days))
            at = np.sort(draw.uniform(born, days, draw.poisson(draw.gamma(0.6, 12.0))))
            events.append((born, page, "born", int(draw.integers(4))))
            alive = True
            for day in at.tolist():
                what = ("gone" if draw.random() < 0.1 else "changed") if alive else "born"
                alive = what != "gone"
                events.append((day, page, what, int(draw.integers(4)) if alive else 0, int(draw.integers(1 << 6))))
        events.append((float(days), 0, "technical", 9))
        return written(events, links, tuple(f"{page % 2}/{page}" for page in range(pages)))

    return drawn


def seconds(days):
    return np.round(np.array(days, np.float64) * DAY_S).astype(np.int64)
