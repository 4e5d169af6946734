"""What has no end gets little of a site, and large archives are read whole: kinds of addresses judged page by page."""

from collections import Counter, OrderedDict, defaultdict
from itertools import chain

import numpy as np
import pytest

from evercrawl.model.policy.foresight import CHOICES
from evercrawl.schedule.shared._ends import GROUP, Group, ended, ends_at
from evercrawl.schedule.shared.prospects import Prospects
from evercrawl.simulate.living.endless import ARCHIVES, TRAPS, EndlessWeb
from evercrawl.store.table.folders import mark

HARD = {"days as folders, months, years", "addresses of the site, 10 links", "addresses of the site, 7 beside"}
"""These are not told from archives, nor from the site's own pages: docs/internals/scheduling.md says so."""


class Reader:
    """Reads what is believed in, in the order of discovery, and what is wanted to see whether a kind ends."""

    def __init__(self, web) -> None:
        self.web, self.prospects = web, Prospects()
        self.paths, self.known, self.read = list[str](), dict[str, tuple[int, int]](), list[str]()
        self.waiting = defaultdict(OrderedDict)
        self.find("/", 0)

    def find(self, path, depth):
        self.known[path] = kind = mark("http://a.example" + path), depth
        self.waiting[kind][len(self.paths)] = path
        self.paths.append(path)

    def choose(self):
        groups = [group for group, paths in self.waiting.items() if paths]
        if not groups:
            return None
        kinds, depths = np.array(groups, np.uint32).T
        told = self.prospects.of(none := np.zeros(len(groups), np.uint32), none, kinds, depths)
        firsts = np.array([next(iter(self.waiting[group])) for group in groups])
        wanted = np.flatnonzero((told.tries > 0) & told.endless)
        if not len(wanted):
            wanted = np.flatnonzero(~(told.endless | told.poor))
        if not len(wanted):
            return None
        best = max(wanted, key=lambda i: (told.tries[i] * told.endless[i], -firsts[i]))
        return self.waiting[groups[best]].pop(firsts[best])

    def visit(self, number):
        self.prospects.times.visited(0, 0, float(number), 0.1, 0.0)
        path = self.choose()
        if path is None:
            return
        self.read.append(path)
        kind, depth = self.known[path]
        links = dict.fromkeys(self.web.links(path))
        new = [link for link in links if link not in self.known]
        met = sum(self.known[link][0] == kind and self.known[link][1] >= depth for link in links if link in self.known)
        others = Counter(mark("http://a.example" + link) for link in new if not CHOICES.search(link))
        alike = others.pop(kind, 0)
        if CHOICES.search(path):
            met, alike, others = 0, len(new), Counter()
        for link in new:
            self.find(link, depth + 1)
        self.prospects.read(
            0, 0, kind, depth, visits=number, own=True, found=len(new), links=alike + met, met=met, others=others
        )


def crawled(web, visits):
    reader = Reader(web)
    for number in range(visits):
        reader.visit(number)
    return reader.read


@pytest.mark.parametrize("name", sorted(TRAPS.keys() - HARD))
def test_what_has_no_end_gets_a_tenth_of_a_site(name):
    web = EndlessWeb(TRAPS[name](), pages=200, depth=5)
    wanted, read = set(web.paths), crawled(web, 300)
    assert wanted <= set(read)
    assert sum(map(web.is_endless, read)) <= 0.12 * len(read)


@pytest.mark.parametrize("name", sorted(ARCHIVES))
def test_a_large_archive_is_read_whole(name):
    web = EndlessWeb(ARCHIVES[name](300), pages=60, depth=4)
    wanted = set(web.paths)
    assert wanted <= set(crawled(web, round(1.1 * len(wanted))))


def test_pages_are_judged_alike_one_by_one_and_together():
    draw = np.random.default_rng(1)
    rows = np.zeros((2, 3000), GROUP)
    for name in GROUP.names:
        rows[name] = draw.integers(0, draw.integers(2, 40, size=rows.shape))
    levels = draw.integers(1, 50, size=3000)
    one_by_one = [
        ended(Group(*site), Group(*kind), level)
        for site, kind, level in zip(*rows.tolist(), levels.tolist(), strict=True)
    ]
    assert ends_at(*rows, levels).tolist() == list(map(bool, one_by_one))
    assert set(chain(one_by_one)) == {False, True}
