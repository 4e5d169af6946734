"""Why a page is visited when it is, or is not."""

import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from evercrawl.ask.plan.outlook import joined
from evercrawl.change import gamma
from evercrawl.cli.verbs.asking.why import rows
from evercrawl.crawl.switching import switch
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.policy.policies import names
from evercrawl.model.policy.schemes import stored
from evercrawl.model.view import View
from evercrawl.schedule import Pages, Policy
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies.tianwang.cycle import CycleState
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual
from evercrawl.simulate.surroundings.network import inline
from evercrawl.types import Floats

SITE = "http://example.org"
HOUR_S, DAY_S = 3600.0, 86_400.0


def slot_of(view: View, path: str) -> int:
    return int(view.state.find([SITE + path])[0])


def test_what_feeds_a_page_adds_up_to_what_it_is(made, ask):
    made.fill()
    made.visit(f"{SITE}/broken", b"", 0, error="timeout")
    for path in ("/", "/a", "/copy", "/moved", "/away", "/cut", "/later", "/picture", "/gone", "/broken"):
        found, view = ask(path)
        weight = found.weight
        given = weight.site_share + sum(feeder.gives for feeder in weight.feeders)
        if weight.rank is not None:
            assert weight.share == pytest.approx(given, rel=1e-6)
            assert weight.cash <= 1
            assert weight.times_mean == pytest.approx(weight.share * view.counted)
        assert weight.feeding == len(weight.feeders)


def test_where_the_virtual_page_spends_nobody_gives_more_than_there_is(made, ask):
    made.fill()
    goal, clock = stored("aopic", window="unbounded"), VirtualClock()
    run_virtual(switch(made.partition, goal, clock, inline), start=made.now)
    for path in ("/", "/a"):
        found, view = ask(path)
        weight = found.weight
        assert view.scheme.handout
        assert sum(feeder.gives for feeder in weight.feeders) > 0
        assert 0 <= weight.site_share <= weight.share
        most = max(view.importance)
        assert all(0 <= feeder.gives <= most for feeder in weight.feeders)


def test_who_feeds_a_page_is_named_with_how_much_it_gives(made, ask):
    made.fill()
    feeders = {feeder.url.removeprefix(SITE): feeder for feeder in ask("/a")[0].weight.feeders}
    assert {path: (feeder.how, feeder.out) for path, feeder in feeders.items()} == {
        "/": ("link", 10), "/copy": ("copy", 1), "/moved": ("redirect", 1)
    }  # fmt: skip
    assert feeders["/copy"].gives == pytest.approx(feeders["/moved"].gives, rel=1e-6)  # each has a link of /
    assert all(feeder.internal for feeder in feeders.values())


def test_only_the_ten_that_give_most_are_named(made, ask):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/hub", *(f"/{i}" for i in range(13))))
    for i in range(13):
        made.visit(f"{SITE}/{i}", made.page(f"page {i}", "/hub", *(f"/{k}" for k in range(i))))
    weight = ask("/hub")[0].weight
    assert (len(weight.feeders), weight.feeding) == (10, 14)
    gives = [feeder.gives for feeder in weight.feeders]
    assert gives == sorted(gives, reverse=True)


def test_what_is_expected_of_an_unread_page_follows_what_its_folder_turned_out_to_be(made, ask):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", *(f"/{i}" for i in range(6)), "/deep/0"))
    for i in range(4):
        made.visit(f"{SITE}/{i}", made.page(f"page {i}"))
    found = ask("/4")[0]
    expected = found.expected
    assert (expected.read, expected.ends, expected.tried, expected.owed) == (4, True, False, False)
    assert expected.own > ask("/deep/0")[0].expected.own - 1e-9  # where nothing was read, the site tells
    assert 0 < expected.doubt < 0.5
    assert "its kind of URL is believed to be finite" in dict(rows(found))["expected"]
    assert ask("/0")[0].expected is None  # it was read


def test_rank_counts_those_that_matter_more(made, ask):
    made.fill()
    _, view = ask("/")
    by_importance = np.argsort(-view.importance, kind="stable")
    second = view.state.urls.get(int(by_importance[1]))
    assert ask(second)[0].weight.rank == 2


def test_belief_is_that_of_prior_and_evidence(made, ask):
    made.fill()
    found, view = ask("/", policy="price_gamma")
    belief, index = found.change, view.state.record_of(0)
    row = view.state.records.rows[index]
    shape, scale_s = view.priors.prior(0)
    assert (belief.shape, belief.scale_s) == pytest.approx((shape + row["rate_shape"], scale_s + row["rate_scale_s"]))
    assert (belief.low_per_s, belief.high_per_s) == pytest.approx(gamma.interval(belief.shape, belief.scale_s))
    assert belief.prior_rate_per_s == pytest.approx(shape / scale_s)
    there = math.exp(-DAY_S * view.context.deaths_per_s)
    assert belief.fresh == pytest.approx(there * (1 + DAY_S / belief.scale_s) ** -belief.shape)
    assert not belief.dates_trusted
    by_clocks, view = ask("/")
    assert by_clocks.change.fresh == pytest.approx(
        view.informed.fresh(view.columns(np.zeros(1, np.uint32)), view.context)[0]
    )
    assert by_clocks.change.fresh != pytest.approx(belief.fresh)
    trust = view.informed.trust(0)
    assert (by_clocks.change.by_clock, by_clocks.change.ahead_nats) == (trust.nats > 0, trust.nats)
    assert (belief.by_clock, belief.ahead_nats) == (None, None)
    assert (found.history.visits, found.history.changes, found.history.changed_at) == (2, 1, pytest.approx(made.now))


def test_what_a_site_announces_is_told(made, ask):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a"))
    for turn in range(4):
        made.visit(f"{SITE}/a", made.page("a", text=f"turn {turn // 2 * 2}"))
        made.learner.admit_listing([f"{SITE}/a"], [made.now + 5.0], made.now + 5.0)
    made.visit(f"{SITE}/a", made.page("a", text="in the end"))
    made.visit(f"{SITE}/a", made.page("a", text="and in silence"))
    found, view = ask("/a")
    said = found.change.announcing
    assert (said.heard, said.missed, said.true, said.false) == (2, 1, 2, 2)
    assert said.announced == AnnouncedDates(view.state.accounts).part(0) > 0
    (text,) = [text for name, text in rows(found) if name == "announces"]
    assert "(2 that were found had been announced, 1 had not); 2 of 4 announcements were true" in text


def test_nothing_is_told_of_a_site_that_announces_nothing(made, ask):
    made.fill()
    found, _ = ask("/a")
    assert found.change.announcing is None
    assert "announces" not in dict(rows(found))


def test_worth_is_told_against_the_price_and_when_it_is_met(made, ask):
    made.fill()
    made.state.notes |= {"price": 1.0, "patience_s": 7 * DAY_S}
    found, view = ask("/")
    worth = found.worth
    assert (worth.policy, worth.unit, worth.price) == ("price", "byte", 1.0)
    assert view.policy.patience == 7 * DAY_S
    assert worth.due_at > worth.earliest_at == pytest.approx(made.now + HOUR_S)
    later, _ = ask("/", worth.due_at - made.now)
    assert 1.0 - 1e-4 < later.worth.value < 1.2, (
        "its folder's clock, a tenth of the belief, tells more of others by then"
    )
    assert worth.value == pytest.approx(view.informed.value(view.candidates(np.array([0], np.uint32)), view.context)[0])


def test_without_a_price_nobody_knows_when_a_page_falls_due(made, ask):
    made.fill()
    worth = ask("/")[0].worth
    assert (worth.price, worth.due_at) == (None, None)
    cycle = ask("/", policy="cycle", rate_per_s=1.0)[0].worth
    assert (cycle.price, cycle.unit, cycle.cost) == (None, "visit", 1.0)
    assert cycle.due_at == cycle.earliest_at == pytest.approx(made.now + HOUR_S)


def test_when_a_page_falls_due_is_told_as_its_policy_has_it(made, ask):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home"))
    options = {"policy": "rpuc", "policy_options": ["types=2", "periods=1d,7d"]}
    found, view = ask("/", after_s=2 * HOUR_S, **options)
    assert found.worth.value < view.policy.min_value, "it is not its time yet"
    assert (found.worth.due_at, found.worth.earliest_at) == (made.now + 7 * DAY_S, made.now + HOUR_S)
    assert "not before" in dict(rows(found))["due"]
    assert ask("/", after_s=9 * DAY_S, **options)[0].worth.due_at == found.worth.due_at


def test_a_page_that_has_to_wait_for_the_next_cycle_is_told_its_next_crawl_time(made, ask):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home"))
    begun_at = made.now - 5.0  # the page was visited in this cycle
    made.state.notes |= CycleState(begun_at, ends_at=begun_at + 3 * DAY_S, round_s=2 * DAY_S, capacity=9.0).notes()
    published = ask("/", after_s=2 * HOUR_S, policy="tianwang")[0].worth
    assert published.due_at == begun_at + 3 * DAY_S, "the cycle's end; its own time is before that"
    sooner = ask("/", after_s=2 * HOUR_S, policy="tianwang", policy_options=["work_conserving=1"])[0].worth
    assert sooner.due_at == made.now + 2 * DAY_S


def test_a_page_that_its_policy_has_given_up_is_said_to_be_so(made, ask):
    made.seed(f"{SITE}/", f"{SITE}/gone")
    made.visit(f"{SITE}/", made.page("Home"))
    for _ in range(3):
        made.visit(f"{SITE}/gone", b"", 404)
    found, _ = ask("/gone", policy="rpuc")
    assert found.state == "gone"
    assert (
        found.reasons[0] == "it was found gone 3 times in a row, and rpuc does not visit it again in its present state"
    )
    assert (found.worth.due_at, found.worth.given_up) == (None, True)
    assert dict(rows(found))["due"].startswith("never: rpuc has given it up")
    for policy in ("price", "cycle"):
        found, _ = ask("/gone", policy=policy)
        assert "it is tried again from" in found.reasons[0]
        assert not found.worth.given_up


class Low(Policy):
    """Values every page lowly, and says nothing of instants."""

    def value(self, pages: Pages, context: Context) -> Floats:
        return np.full(len(pages.slot), -1e12)


@pytest.mark.usefixtures("trusted")
def test_a_value_is_not_taken_for_an_instant(made, ask, monkeypatch):
    monkeypatch.setitem(sys.modules, "outside_the_tree", SimpleNamespace(Low=Low))
    made.fill()
    worth = ask("/", policy="outside_the_tree:Low")[0].worth
    assert (worth.due_at, worth.given_up) == (made.now + HOUR_S, False)


@pytest.mark.parametrize("policy", names())
def test_no_page_is_said_to_be_due_before_it_may_be_visited_or_by_what_is_no_instant(made, ask, policy):
    made.fill()
    found, view = ask("/", policy=policy)
    due_at = math.inf if found.worth.given_up else found.worth.due_at
    if policy in ("price", "price_gamma", "bayes_classes"):
        assert due_at is None, "no price is known"
    else:
        assert due_at >= found.worth.earliest_at == pytest.approx(made.now + HOUR_S)
        assert due_at < made.now + 1e9 or found.worth.given_up
    unread = ask("/later", policy=policy)[0].worth
    assert (unread.due_at, unread.given_up) == (None, False)
    assert np.isnan(view.due_at(view.candidates(np.array([slot_of(view, "/later")], np.uint32)))[0])


def test_how_many_pages_come_first_is_counted_among_those_that_may(made, ask):
    made.fill()
    found, view = ask("/later", policy="cycle")
    assert (found.worth.ahead, found.worth.ahead_on_host) == (0, 0)  # new pages come first
    first = ask("/", policy="cycle")[0].worth
    assert first.ahead == first.ahead_on_host == view.state.known.count - 1  # it was visited last


def test_a_page_that_is_gone_counts_as_policies_see_it(made, ask):
    """`price` awaits its return, and other policies count it half as much each time; so it is in forecasts."""
    made.seed(f"{SITE}/", f"{SITE}/gone")
    made.visit(f"{SITE}/", made.page("Home", "/gone"))
    made.visit(f"{SITE}/gone", made.page("Gone"))
    made.visit(f"{SITE}/gone", b"", 404)
    slots = np.arange(2, dtype=np.uint32)
    awaiting, other = (ask("/gone", policy=policy)[1].candidates(slots) for policy in ("price", "rpuc"))
    assert (awaiting.comeback_scale_s > 0).tolist() == [False, True]
    assert other.comeback_scale_s is None
    assert awaiting.importance[1] == pytest.approx(2 * other.importance[1])
    pieces = [awaiting.take(slots[:1]), awaiting.take(slots[1:])]
    assert joined(pieces).comeback_scale_s.tolist() == awaiting.comeback_scale_s.tolist()
    assert joined([other, awaiting]).comeback_scale_s.tolist() == [0.0, 0.0, *awaiting.comeback_scale_s]
    assert joined([other]).comeback_scale_s is None
