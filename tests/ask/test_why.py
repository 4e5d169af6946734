"""Why a page is visited when it is, or is not."""

import math
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from weighing import columns, every, tell

from evercrawl.ask.plan.outlook import joined
from evercrawl.ask.why.explanation import Why
from evercrawl.ask.why.why import why
from evercrawl.change import gamma
from evercrawl.cli.verbs.asking.why import rows
from evercrawl.config import Config
from evercrawl.crawl.switching import switch
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.policy.policies import names
from evercrawl.model.policy.schemes import stored
from evercrawl.model.stored.reader import opened
from evercrawl.model.view import View
from evercrawl.model.worth.quality_weight import Quality
from evercrawl.model.worth.usage import Question
from evercrawl.parse.html import MAX_TARGETS
from evercrawl.schedule import Pages, Policy
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies.tianwang.cycle import CycleState
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual
from evercrawl.simulate.surroundings.network import inline
from evercrawl.store.journal.events import Boost, Bounded, Obeyed
from evercrawl.types import RETIRED, Floats

SITE = "http://example.org"
HOUR_S, DAY_S = 3600.0, 86_400.0


def slot_of(view: View, path: str) -> int:
    return int(view.state.find([SITE + path])[0])


@pytest.fixture
def ask(made):
    """Ask of the crawl that was made by hand, which is stopped first."""
    views = []

    def asked(path: str, after_s: float = DAY_S, **settings: Any) -> tuple[Why, View]:
        made.partition.close() if views else made.stop()
        view = View(opened(made.directory), Config(**settings), made.now + after_s)
        views.append(view)
        return why(view, path if "://" in path else SITE + path), view

    yield asked
    for view in views:
        view.partition.close()


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


def test_how_a_page_was_found_is_told(made, ask):
    made.fill()
    later = ask("/later")[0]
    assert (later.state, later.history, later.change.fresh) == ("waiting", None, None)
    assert (later.found.source, later.found.depth) == (f"{SITE}/", 1)
    seed = ask("/")[0].found
    assert (seed.source, seed.depth, seed.found_at) == ("", 0, pytest.approx(made.now - 120.0))


def test_each_kind_of_page_has_its_state(made, ask):
    made.fill()
    states = {path: ask(path)[0].state for path in ("/", "/copy", "/moved", "/gone", "/broken", "/private", "/cut")}
    assert states == {
        "/": "held", "/copy": "alias", "/moved": "redirect", "/gone": "gone", "/broken": "error",
        "/private": "refused", "/cut": "held",
    }  # fmt: skip
    assert ask("/copy")[0].alias == ask("/moved")[0].alias == f"{SITE}/a"


@pytest.mark.parametrize(("path", "leads_on"), [("/moved", True), ("/copy", True), ("/a", False)])
def test_what_only_leads_to_another_page_says_when_it_counts(made, ask, path, leads_on):
    made.fill()
    found = ask(path)[0]
    never = replace(found, worth=replace(found.worth, price=1.0, given_up=True, due_at=None))
    assert ("it only leads to another page" in dict(rows(never))["due"]) == leads_on


def test_failures_and_refusals_are_told_in_their_words(made, ask):
    made.fill()
    assert ask("/broken")[0].reasons[0] == "timeout: it was made so"
    assert ask("/private")[0].reasons == ("robots: robots.txt disallows it",)
    assert "has not been fetched yet" in ask("/later")[0].reasons[0]


def test_a_page_that_is_gone_is_tried_again_later_each_time_until_it_is_retired(made, ask):
    made.fill()
    for _ in range(2):
        made.visit(f"{SITE}/gone", b"no", 404)
    found = ask("/gone")[0]
    assert found.worth.earliest_at == pytest.approx(made.now + 8 * HOUR_S)
    assert found.reasons[0].startswith("it was found gone 3 times in a row; it is tried again from")


def test_a_page_gone_for_good_is_retired(made, ask):
    made.fill()
    for _ in range(RETIRED - 1):
        made.visit(f"{SITE}/gone", b"no", 404)
    found = ask("/gone")[0]
    assert (found.state, found.worth) == ("retired", None)
    assert found.reasons == (
        f"it was found gone {RETIRED} times in a row and is retired: it is requested again if it is named, linked "
        "to anew, or listed with a new date",
    )


def test_a_page_that_was_there_of_late_is_not_retired_for_an_outage(made, ask):
    made.fill()
    made.visit(f"{SITE}/a", made.page("A"))
    for _ in range(RETIRED + 2):
        made.visit(f"{SITE}/a", b"no", 404)
    found = ask("/a")[0]
    assert found.state == "gone"
    assert found.worth.earliest_at == pytest.approx(made.now + 2 ** (RETIRED + 2) * HOUR_S)


def test_but_once_it_has_not_been_there_for_a_month(made, ask):
    made.fill()
    made.visit(f"{SITE}/a", made.page("A"))
    for _ in range(RETIRED - 1):
        made.visit(f"{SITE}/a", b"no", 404)
    made.now += 31 * DAY_S
    made.visit(f"{SITE}/a", b"no", 404)
    assert ask("/a")[0].state == "retired"


def test_a_host_left_alone_keeps_its_pages_waiting(made, ask):
    made.seed(f"{SITE}/")
    made.frontier.hosts[0].stay_away(made.now + 2 * DAY_S, "back-off")
    made.visit(f"{SITE}/", b"", 503)
    assert any("example.org is not requested until 2023-11-16" in reason for reason in ask("/")[0].reasons)


@pytest.mark.parametrize(
    ("url", "settings", "state", "words"),
    [
        (f"{SITE}/new", {}, "unknown", "evercrawl crawl http://example.org/new --dir"),
        ("http://away.example/", {}, "out of scope", 'scope = "hosts": no seed is on away.example'),
        ("http://a.example.org/", {"scope": "domains"}, "unknown", "name it as a seed"),
        (f"{SITE}/new", {"exclude": ("/new",)}, "out of scope", "by exclude"),
        (f"{SITE}/new", {"include": ("/old",)}, "out of scope", "by include"),
        (f"{SITE}/new", {"max_pages_per_host": 3}, "out of scope", "max_pages_per_host = 3"),
        (f"{SITE}:25/", {}, "refused", "port 25"),
    ],
)
def test_what_is_no_page_of_the_crawl_is_told_why(made, ask, url, settings, state, words):
    made.fill()
    found = ask(url, **settings)[0]
    assert (found.url, found.state, found.weight) == (url, state, None)
    assert words in " ".join(found.reasons)


def test_a_near_duplicate_names_the_page_it_copies(made, ask):
    made.fill()
    made.visit(f"{SITE}/later", made.page("A", "/", "/b", text="one two").replace(b"to /b", b"to /a"))
    found = ask("/later")[0]
    assert (found.state, found.alias) == ("near-duplicate", f"{SITE}/a")


def test_a_host_that_is_full_is_told(made, ask):
    made.seed(f"{SITE}/a", f"{SITE}/b")
    found = ask("/never-seen", max_backlog_per_host=2)[0]
    assert found.state == "out of scope"
    assert "max_backlog_per_host = 2: that many URLs of example.org are already waiting" in found.reasons[0]


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


def test_a_parameter_that_changes_nothing_is_told(made, ask, monkeypatch):
    made.fill()
    bytes_of_fetches = {"policy": "optimal", "policy_options": ("objective=bytes",), "rate_per_s": 1.0}
    found, _ = ask("/a", **bytes_of_fetches)
    assert found.worth.unheeded.startswith("the budget is in fetches, so objective = bytes is the same as freshness")
    assert ("no effect", found.worth.unheeded) in list(rows(found))
    heeded, _ = ask("/a", **bytes_of_fetches | {"rate_per_s": 0.0})
    assert heeded.worth.unheeded == ""
    assert "no effect" not in dict(rows(heeded))
    monkeypatch.setattr("evercrawl.schedule.policies.marked_point.counts.HEAP_VISITS", 1)
    found, _ = ask("/a", policy="marked_point", policy_options=("split=greedy",))
    assert found.worth.unheeded == "a horizon has too many visits for split = greedy, so they are split by price"


@pytest.mark.parametrize(
    ("weight", "seen", "line"),
    [
        ("importance", {}, None),
        ("access", {"opened": 12.0}, "opened 12 times"),
        (
            "embarrassment",
            {"shown": 20.0, "expected": 20 * (12 + 4) / (20 + 10)},
            "shown 20 times, expected to be opened 11 times",
        ),
        ("query_match", {"similar": 1.0, "usual": 0.5}, "2 times as similar to recorded queries as "),
        ("learned", {"opened": 12.0}, "opened 12 times, expected "),
        ("quality", {"now": None, "before": None}, "the growth of its importance is not known"),
        ("site", {"now": 1.0}, "its site has 1 times the mean site's importance"),
    ],
)
def test_what_the_weight_saw_is_told_and_by_what_it_multiplies(ten, ask, weight, seen, line):
    for i in range(20):
        tell(ten, Question(float(i), "page 3", (f"{SITE}/3",), (f"{SITE}/3",) * (i < 12)))
    found, view = ask("/3", 0.0, weight=weight)
    weighed = found.weighed
    assert weighed.weight == weight
    assert weighed.times == pytest.approx(view.candidates.weight_ratio(np.array([slot_of(view, "/3")]))[0])
    assert {name: getattr(weighed, name) for name in seen} == pytest.approx(seen)
    told = dict(rows(found)).get("weight")
    if line is None:
        assert told is None
        assert weighed.times == 1.0
    else:
        assert told.startswith(f"{weight}: {line}")
        assert told.endswith(f"; counts {weighed.times:.3g} times its importance")
    if weight not in ("importance", "quality", "site"):
        assert weighed.times > 1.0
        other = dict(rows(ask("/7", 0.0, weight=weight)[0]))["weight"]
        nothing = {"query_match": "0 times as similar"}.get(weight, "never ")
        assert other.startswith(f"{weight}: {nothing}")


def test_how_importance_grew_is_told_once_it_was_looked_at(ten, ask):
    ten.now += 1000.0
    columns(ten, Quality(ten.partition))(every(ten))
    ten.now += 1000.0
    ten.visit(f"{SITE}/4", ten.page("Page 4", *[f"/{i}" for i in range(10)]))
    found, _ = ask("/3", 0.0, weight="quality")
    assert found.weighed.now > 0.0
    assert found.weighed.before > 0.0
    assert dict(rows(found))["weight"].startswith(f"quality: {found.weighed.now:.3g} times the mean importance")


def test_what_lasts_of_changes_is_no_part_of_what_the_weight_makes_of_a_page(ten, ask):
    tell(ten, *(Question(float(i), "", (), (f"{SITE}/3",)) for i in range(20)))
    alone, _ = ask("/3", 0.0, weight="access")
    lasting, _ = ask("/3", 0.0, weight="access", lasting=True)
    assert lasting.weighed == alone.weighed


def test_a_weight_that_the_policy_does_not_ask_for_makes_nothing_of_a_page(ten, ask):
    found, _ = ask("/3", 0.0, weight="access", policy="cycle")
    assert found.weighed is None
    assert "by" not in dict(rows(found))


def test_links_that_were_cut_are_told_as_long_as_the_content_is_held(made, ask):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", *(f"/{i}" for i in range(MAX_TARGETS + 7))), etag='"1"')
    made.visit(f"{SITE}/", b"", 304, etag='"2"')
    made.visit(f"{SITE}/0", made.page("few", "/1"))
    found = ask("/")[0]
    assert found.cut_links == 7
    assert ("links", "7 further URLs ignored, because the page links to too many") in rows(found)
    assert ask("/0")[0].cut_links == ask("/1")[0].cut_links == 0
    assert "links" not in dict(rows(ask("/0")[0]))


def test_a_known_page_that_a_rule_keeps_out_is_told_with_the_rule(made, ask):
    made.fill()
    found, _ = ask("/a", exclude=("/a$",))
    assert (found.state, found.worth) == ("excluded", None)
    assert found.reasons == (
        "exclude = '/a$' in crawl.toml excludes it; its copy and history stay, and return when the rule is lifted",
    )
    assert ask("/")[0].state == "held"
    assert "by exclude = '/no'" in ask("/nobody-knows-it", exclude=("/no",))[0].reasons[0]


def test_it_is_told_since_when_a_rule_keeps_pages_out(made, ask):
    made.fill()
    made.partition.remember(Bounded(made.now, {"exclude = '/a$'": 1_700_000_000.0}))
    found, _ = ask("/a", exclude=("/a$",))
    assert "excludes it since 2023-11-14 22:13:20 UTC" in found.reasons[0]


def test_how_many_changes_were_noise_is_told_with_an_example(begun, ask):
    for step in range(7):
        begun.visit(f"{SITE}/", begun.page("Home", text=f"many words stand here and it is 12:{step:02d} on our clock"))
    found, _ = ask("/")
    assert found.noise is not None
    assert (found.noise.changes, found.noise.noise) == (6, 6)
    assert found.noise.examples == (("it is", "12:05", "12:06"),)
    said = dict(rows(found))["noise"]
    assert said.startswith(
        "6 of its last 6 changes concerned only times, counters or the like, such as: it is [-12:05-] {+12"
    )


def test_pages_that_hardly_changed_tell_of_no_noise(begun, ask):
    for text in ("one", "two", "three"):
        begun.visit(f"{SITE}/", begun.page("Home", text=text))
    assert ask("/")[0].noise is None


def test_a_boost_is_told_with_its_end_and_ends(made, ask):
    made.fill()
    boosts = [Boost("/a$", 4.0, 1_700_000_000.0, made.now + 2 * DAY_S)]
    made.partition.remember(Obeyed("1", made.now, 0, "boost", "done", "", boosts=boosts))
    found = ask("/a")[0].worth
    assert found.wanted == 4.0
    assert found.because.startswith("boost on '/a$' since 2023-11-14 22:13:20 UTC until ")
    assert ask("/")[0].worth.wanted == 1.0
    before, after = (ask("/a", after_s=(2.0 + sign * 1e-4) * DAY_S)[0].worth for sign in (-1, 1))
    assert (before.wanted, after.wanted) == (4.0, 1.0)
    assert before.value == pytest.approx(4 * after.value, rel=0.01)
