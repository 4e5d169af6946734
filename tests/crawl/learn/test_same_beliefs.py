"""A crawl and a replay believe the same after the same visits."""

import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.lab.polling.changing import AnnouncedSignals, ChangingWorld, SeenChanges
from evercrawl.lab.polling.conditions import Conditions
from evercrawl.lab.polling.polled import HeldColumns
from evercrawl.schedule.policies.cycle import Cycle
from evercrawl.store.records.evidence import AnnouncementEvidence
from tests.helpers.hand_made import HandMade

SITES = ("http://a.example", "http://b.example")
FINE = 1e6
PAGES = 4  # the first half of them on the first site
steps = st.lists(
    st.tuples(st.integers(0, PAGES - 1), st.sampled_from(["same", "change", "gone"]), st.floats(1.0, 1e6)),
    min_size=1, max_size=30,
)  # fmt: skip
announced = st.lists(
    st.tuples(st.integers(0, PAGES - 1), st.sampled_from(["same", "change", "change", "gone", "announce"]),
              st.floats(1e3, 1e6)), min_size=10, max_size=40,
)  # fmt: skip


class Said(ChangingWorld):
    """Pages of which only the announcements are made here."""

    def __init__(self) -> None:
        self.weight, self.host = np.ones(PAGES), np.arange(PAGES) // (PAGES // 2)
        self.right = np.zeros(PAGES, np.int64)

    def pass_to(self, now):
        right, self.right = self.right, np.zeros(PAGES, np.int64)
        return AnnouncedSignals(right, np.zeros(PAGES, np.int64))

    visit = stale = earned = best = None


Said.__abstractmethods__ = frozenset()


class Both:
    """The same visits, made by a crawl and told to what replays learn by."""

    def __init__(self, folder: Path) -> None:
        self.made, self.world = HandMade(folder / "crawl"), Said()
        self.held = HeldColumns(self.world, Cycle(), Conditions(), 1.0, 1)
        self.urls = [f"{SITES[i // (PAGES // 2)]}/{i}" for i in range(PAGES)]
        self.made.seed(*self.urls)
        self.text = [0] * PAGES
        self.changed = [False] * PAGES  # since the last visit that saw the page

    def step(self, page: int, what: str, dt_s: float) -> None:
        made, url = self.made, self.urls[page]
        made.now += dt_s
        if what == "announce":
            if self.seen(page):
                made.learner.admit_listing([url], [made.now], made.now)
                self.world.right[page] += 1
                self.held.pass_to(made.now)
            return
        if what == "change":
            self.text[page] += 1
        gone = what == "gone"
        changed = what == "change" and self.seen(page)
        made.changes.notices.forget_usual()  # what is usual of sites is as of now, not of when a tenth less was known
        made.visit(url, b"" if gone else made.page(f"page {page} {self.text[page]}"), 404 if gone else 200)
        self.held.beliefs.cycle_s = made.changes.cycle_s  # which is a part of the setting in replays
        self.held.pass_to(made.now)
        interval_s = np.array([made.now - self.held.visited_at[page]])
        seen = SeenChanges(np.array([changed]), np.array([np.nan]), np.array([gone]))
        self.held.learn(np.array([page]), interval_s, seen, made.now)

    def seen(self, page: int) -> bool:
        return bool(self.row(page) is not None and self.row(page)["digest"])

    def row(self, page: int):
        state = self.made.state
        index = state.record_of(int(state.find([self.urls[page]])[0]))
        return None if index is None else state.records.rows[index]

    def believed(self) -> tuple[np.ndarray, np.ndarray]:
        """Return shape and scale of all pages, as the crawl has them and as the replay has them, shape (2, n) each."""
        made, beliefs = self.made, self.held.beliefs
        self.held.pass_to(made.now)
        rows = [self.row(page) for page in range(PAGES)]
        made.changes.priors.grow(len(SITES))
        priors = [made.changes.priors.prior(int(host)) for host in self.world.host]
        crawl = [
            (prior[0] + (row["rate_shape"] if row is not None else 0.0),
             prior[1] + (row["rate_scale_s"] if row is not None else 0.0))
            for prior, row in zip(priors, rows, strict=True)
        ]  # fmt: skip
        return np.array(crawl).T, np.array([beliefs.shape, beliefs.scale_s])


def both(drawn) -> tuple[np.ndarray, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        one = Both(Path(folder))
        for step in drawn:
            one.step(*step)
        found = one.believed()
        one.made.partition.close()
    return found


def pack(heard: AnnouncementEvidence) -> int:
    return 1 + (round(heard.listened * FINE) << 30) + round(heard.looked * FINE)


def unpack(number: int) -> AnnouncementEvidence:
    return AnnouncementEvidence((number - 1 >> 30) / FINE, (number - 1) % (1 << 30) / FINE)


@settings(max_examples=12, deadline=None)
@given(steps)
def test_they_believe_the_same_after_the_same_visits(drawn):
    crawl, replay = both(drawn[:20])  # before priors are fitted: a crawl does that when it learns the next time
    assert replay == pytest.approx(crawl, rel=1e-4)


@settings(max_examples=12, deadline=None)
@given(announced)
def test_they_believe_the_same_where_changes_are_announced(drawn):
    """A crawl keeps what it hears of them in steps of 9 %; here it keeps all of it."""
    with mock.patch.multiple(AnnouncementEvidence, pack=pack, unpack=unpack):
        crawl, replay = both(drawn[:20])
    assert replay == pytest.approx(crawl, rel=1e-4)


def test_they_believe_the_same_after_many_visits():
    draw = np.random.default_rng(1)
    kinds = ["same", "same", "change", "gone"]
    drawn = [(int(draw.integers(PAGES)), kinds[draw.integers(4)], float(draw.uniform(1e3, 1e6))) for _ in range(300)]
    crawl, replay = both(drawn)
    assert replay == pytest.approx(crawl, rel=0.02)
