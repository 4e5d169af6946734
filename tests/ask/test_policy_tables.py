"""Tables of a policy, as people read them."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from evercrawl.ask.export.policy_tables import policy_table
from evercrawl.config import Config, save
from evercrawl.errors import ConfigError
from evercrawl.model.stored.reader import opened
from evercrawl.schedule import Pages, Policy, Visits
from evercrawl.schedule.abilities import Learns, Plans, Tabulates
from evercrawl.schedule.base import Context
from evercrawl.types import Floats

SITE = "http://example.org"


class Counting(Learns, Plans, Tabulates, Policy):
    """Counts the visits to each page."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.planned, self.planned_at = 0, 0.0

    def value(self, pages: Pages, context: Context) -> Floats:
        return np.zeros(len(pages.slot))

    def learn(self, visits: Visits) -> None:
        for slot in visits.slot.tolist():
            self.counts[slot] = self.counts.get(slot, 0) + 1

    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        self.planned, self.planned_at = len(pages.slot), context.now
        return context.now

    def tables(self, context):
        slots = sorted(self.counts)
        count = len(slots)
        return {
            "Counts": {
                "slot": np.array(slots, np.uint32), "site": np.zeros(count, np.int64),
                "visits": np.array([self.counts[slot] for slot in slots]),
                "next_at": np.where(np.arange(count) == 0, context.now, np.nan), "at": np.arange(count) * 1e9,
                "planned": np.full(count, self.planned),
                "planned_at": np.full(count, self.planned_at),
                "kind": np.full(count, "plain"), "often": np.arange(count) > 0,
            }
        }  # fmt: skip


@pytest.fixture
def asked(made, monkeypatch):
    """A crawl whose policy counts, opened to be asked."""
    monkeypatch.setitem(sys.modules, "outside_the_tree", SimpleNamespace(Counting=Counting))
    save(Config(policy="outside_the_tree:Counting"), made.directory)
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b"))
    made.visit(f"{SITE}/b", made.page("B"))
    made.visit(f"{SITE}/", made.page("Home", "/a"))
    made.save()
    partition = opened(made.directory)
    yield partition
    partition.close()


@pytest.mark.usefixtures("trusted")
def test_it_is_made_of_the_journal_and_names_pages(asked):
    kinds, values = policy_table(asked, "Counts", now=2e9)
    assert values == {
        "url": [f"{SITE}/", f"{SITE}/b"], "site": ["example.org"] * 2, "visits": [2, 1],
        "next_at": [2e9, None], "at": [None, 1e9], "planned": [2, 2],
        "planned_at": [asked.state.last_at()] * 2,
        "kind": ["plain", "plain"], "often": [False, True],
    }  # fmt: skip
    assert kinds == {
        "url": "string", "site": "string", "visits": "int", "next_at": "instant", "at": "instant", "planned": "int",
        "planned_at": "instant",
        "kind": "string", "often": "bool",
    }  # fmt: skip


@pytest.mark.usefixtures("trusted")
def test_one_that_is_not_there_is_refused_with_those_that_are(asked, made):
    with pytest.raises(ConfigError, match=r"keeps these tables: policy\.Counts"):
        policy_table(asked, "?")
    save(Config(policy="cycle"), made.directory)
    with pytest.raises(ConfigError, match="policy cycle keeps no tables"):
        policy_table(asked, "Counts")
