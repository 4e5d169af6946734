"""What a policy is told of pages is what the records, the cash and the beliefs say."""

import numpy as np
import pytest

from evercrawl.change.comebacks import Comebacks
from evercrawl.importance.push import Push
from evercrawl.model.columns import HEAD_BYTES, Columns
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.policy.schemes import scheme_of, stored
from evercrawl.model.rates import priors_of
from evercrawl.store.cash.spread import ELSEWHERE, IN_CELL, thinner
from evercrawl.store.cash.transfers import unpack
from evercrawl.store.journal.events import Switched
from evercrawl.types import NO_SLOT

SITE = "http://example.org"


def columns(made):
    return made.columns(np.arange(made.state.known.count, dtype=np.uint32))


def test_cash_is_what_a_visit_would_move(made):
    made.fill()
    state = made.state
    for url in (f"{SITE}/a", f"{SITE}/", f"{SITE}/later"):
        slot = state.urls.get_many(range(state.known.count)).index(url)
        cash = float(columns(made).cash[slot])
        made.visit(url, made.page(url))
        *_, (_, _, event) = made.partition.journal.replay()
        moved = unpack(event.transfer).moved if event.transfer else 0.0
        assert moved == pytest.approx(cash, rel=1e-6, abs=1e-7)


def test_a_page_never_read_has_only_what_links_bring(made):
    made.seed(f"{SITE}/")
    pages = columns(made)
    assert np.isnan(pages.visited_at).all()
    assert pages.cash.tolist() == pages.importance.tolist() == [1.0]  # the only member of the only site
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b"))
    pages = columns(made)
    assert pages.visited_at[0] == pytest.approx(made.now, abs=1 / 16)
    assert pages.importance.tolist() == pytest.approx([1.0, 0.425, 0.425])
    assert pages.cash.tolist() == pytest.approx([0.0, 0.425, 0.425])


def test_a_page_that_only_leads_on_has_no_importance_of_its_own_left(made):
    made.fill()
    rows = made.state.records.rows[: made.state.records.count]
    aliases = rows["slot"][rows["alias"] != NO_SLOT]
    assert len(aliases) == 2
    assert columns(made).importance[aliases].max() < 0.01 < rows["importance"][rows["alias"] != NO_SLOT].min()


def test_nor_what_a_window_keeps_of_it(made):
    made.fill()
    state, scheme = made.state, stored("aopic", 0.1, "two_windows")
    made.partition.remember(Switched(made.now, scheme))
    rows, kept = state.records.rows[: state.records.count], state.records.kept
    rows["importance"], rows["mark"], state.accounts.total = 0.5, 90.0, 100.0
    kept[: len(rows)] = 3.0, 0.1, 0.1
    state.table.cash[: state.known.count] = 0.01
    judged = Columns(state, scheme_of(scheme), priors_of(state), AnnouncedDates(state.accounts), in_bytes=False)
    importance = judged(rows["slot"].copy()).importance
    only_lead = rows["alias"] != NO_SLOT
    usual = importance[~only_lead & (rows["misses"] == 0)]
    assert 0.0 < importance[only_lead].max() < usual.min() / 5


def test_a_page_that_vanished_matters_half_as_much_each_time(made):
    made.seed(f"{SITE}/", f"{SITE}/x")
    made.visit(f"{SITE}/", made.page("Home", "/x"))
    made.visit(f"{SITE}/x", made.page("X"))
    before = columns(made)
    made.visit(f"{SITE}/x", b"", 404)
    after = columns(made)
    assert after.importance[1] == pytest.approx(before.importance[1] / 2)
    assert after.cash[1] == pytest.approx(before.cash[1] / 2, rel=0.1)


def test_a_page_that_vanished_matters_as_much_as_ever_to_who_awaits_its_return(made):
    comebacks, slots = Comebacks(), np.arange(2, dtype=np.uint32)
    awaiting = Columns(made.state, Push(), priors_of(made.state), AnnouncedDates(made.state.accounts), in_bytes=True,
                       comebacks=comebacks)  # fmt: skip
    made.seed(f"{SITE}/", f"{SITE}/x")
    made.visit(f"{SITE}/", made.page("Home", "/x"))
    assert awaiting(slots).comeback_scale_s is None
    made.visit(f"{SITE}/x", b"", 404)
    assert awaiting(slots).comeback_scale_s == pytest.approx([0.0, comebacks.scale_s + 20.0]), "gone since it was found"
    made.visit(f"{SITE}/x", made.page("X"))
    assert awaiting(slots).comeback_scale_s is None
    for gone_s in (10.0, 20.0):
        made.visit(f"{SITE}/x", b"", 404)
        found = awaiting(slots)
        assert found.comeback_scale_s == pytest.approx([0.0, comebacks.scale_s + gone_s])
        assert found.importance[1] > 0
        assert found.importance[1] == pytest.approx(columns(made).importance[1] * 2 ** (gone_s / 10.0))
        assert columns(made).comeback_scale_s is None
    made.visit(f"{SITE}/x", b"", 503)
    assert awaiting(slots).comeback_scale_s is None, "nobody knows"
    assert awaiting(slots).importance.tolist() == columns(made).importance.tolist()


def test_a_visit_that_finds_a_page_gone_counts_and_one_in_vain_does_not(made):
    made.seed(f"{SITE}/", f"{SITE}/x")
    made.visit(f"{SITE}/x", made.page("X"))
    told = []
    for status in (404, 503, 404, 301, 503, 200):
        made.visit(f"{SITE}/x", made.page("X"), status, location=f"{SITE}/")
        told.append(made.now - columns(made).visited_at[1])
    assert told == pytest.approx([0.0, 20.0, 0.0, 0.0, 50.0, 0.0])


def test_a_page_with_validators_costs_a_head_and_one_without_all_of_it(made):
    made.seed(f"{SITE}/", f"{SITE}/x")
    made.visit(f"{SITE}/", made.page("Home", text="word " * 3000), etag='"1"')
    made.visit(f"{SITE}/x", made.page("X", text="other " * 3000))
    pages = columns(made)
    assert pages.cost[0] == HEAD_BYTES < pages.cost[1]
    assert pages.cost[0] + pages.cost_changed[0] > 15_000 < pages.cost[1]


def test_less_is_expected_of_each_page_that_only_the_last_one_leads_to(made):
    """A calendar without end: the cash that comes along would be the same from day to day."""
    expecting = Columns(made.state, Push(), priors_of(made.state), AnnouncedDates(made.state.accounts), in_bytes=False,
                        expecting=True)  # fmt: skip
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/day/0", "/article"))
    worth = [expecting(np.array([slot], np.uint32)).importance[0] for slot in (1, 2)]
    assert worth[0] == worth[1] > 0.125  # what the front page leaves each of them
    for day in range(6):
        made.visit(f"{SITE}/day/{day}", made.page("Day", f"/day/{day + 1}"))
        worth.append(expecting(np.array([made.state.known.count - 1], np.uint32)).importance[0])
    assert (np.diff(np.log(worth[2:])) < np.log(0.5)).all()
    assert columns(made).importance[-1] > 10 * worth[-1]


def test_what_a_redirect_or_another_site_leads_to_is_expected_as_much_as_before(made):
    made.seed(f"{SITE}/", "http://example.net/")
    made.visit(f"{SITE}/", made.page("Home", "/old", "/b", "http://example.net/deep/down"))
    made.visit(f"{SITE}/old", b"", 301, location="/new")
    rows = made.state.known.rows()
    assert rows["spread"].tolist() == [0, 0, thinner(0, 2), thinner(0, 2), ELSEWHERE, thinner(0, 2)]
    cells = made.state.table.record[: made.state.known.count]
    assert (cells[3:] >> np.uint32(IN_CELL) & np.uint32(255)).tolist() == rows["spread"][3:].tolist()
