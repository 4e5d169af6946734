"""Chile: each part of V = q^a r^b p^c, and of its two schedulers, changes which page comes next."""

import math

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.polling.polling import Conditions, poll
from evercrawl.lab.polling.population import population
from evercrawl.schedule import Pages
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Facts, Visits
from evercrawl.schedule.policies.chile.batch import ChileBatch
from evercrawl.schedule.policies.chile.chile import Chile
from evercrawl.schedule.policies.chile.worth import ABSTRACT, ANCHORS, INDEX, TEXT, URL, representation

DAY = 86_400.0
NOW = 1e9


def column(value, n):
    return np.broadcast_to(np.asarray(value, float), (n,)).copy()


def made(n=2, *, age_s=DAY, weight=1.0, rate_per_day=1.0, site=None, shown=None, clicked=None, backlog=None,
         neg_log_unchanged=0.0, host=None, **facts: object):  # fmt: skip
    """Pages of known rates; an age of nan is that of a page never read. A site has one host unless others are given."""
    one, none = np.ones(n), np.zeros(n)
    told = {"depth": 1, "url_bytes": 64, "dynamic": 0, "anchor_bytes": 64, "similarity": 0} | facts
    told = {"index_bytes": 4096, "abstract_bytes": 64, "text_bytes": 4096} | told
    return Pages(
        np.arange(n, dtype=np.uint32), NOW - column(age_s, n), column(weight, n), none, 1e12 * one,
        1e12 * DAY / column(rate_per_day, n), one, none, column(neg_log_unchanged, n),
        site=None if site is None else np.array(site, np.uint32),
        host=None if site is None else np.array(site if host is None else host, np.uint32),
        host_backlog=None if backlog is None else column(backlog, n),
        retrieved=None if shown is None else column(shown, n),
        clicked=None if clicked is None else column(clicked, n),
        facts=Facts(**{name: column(value, n) for name, value in told.items()}) if facts else None,
    )  # fmt: skip


def first(pages, **options: object):
    """Return which page comes first, None where two are worth the same."""
    policy = Chile(**options)
    policy.plan(made(2, shown=[5, 5], clicked=[1, 1]), 0, Context(NOW))  # what is usual
    policy.adjust({})
    value = policy.value(pages, Context(NOW))
    return None if value[0] == value[1] else int(value.argmax())


def visits(slots, *, at=NOW, interval_s=DAY, changed=False, age_s=math.nan, site=0, host=None, read=True):
    n = len(slots)
    none, no = np.zeros(n, np.int64), np.zeros(n, bool)
    return Visits(
        np.array(slots, np.uint32), np.full(n, site, np.uint32), column(at, n), column(interval_s, n),
        np.full(n, read), no, np.full(n, changed), column(age_s, n), none.astype(float), none.astype(float), none, no,
        none, host=np.full(n, site if host is None else host, np.uint32),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("part", "weight"),
    [
        ({"weight": [1, 2]}, "links"),
        ({"similarity": [0, 1]}, "queries"),
        ({"clicked": [0, 3]}, "visits"),
        ({"shown": [1, 9]}, "visits"),
        ({"depth": [9, 2]}, "url"),
        ({"url_bytes": [200, 100]}, "url"),
        ({"dynamic": [1, 0]}, "url"),
    ],
)
def test_each_score_of_q_decides_by_its_weight_and_by_a(part, weight):
    pages = made(**({"depth": 1} | part))
    one = {"links": 1.0, "queries": 0.0, "visits": 0.0, "url": 0.0} | {weight: 1.0}
    assert first(pages, **one) == 1
    others = dict.fromkeys(one, 0.5) | {"links": float(weight != "links"), weight: 0.0}
    others |= {"url": 0.0} if weight == "url" else {}
    assert first(pages, **others) is None
    assert first(pages, **(one | {"a": 0.0})) is None


@pytest.mark.parametrize(
    "part",
    [
        {"url_bytes": [10, 60]},
        {"anchor_bytes": [0, 90]},
        {"index_bytes": [500, 3000]},
        {"abstract_bytes": [0, 30]},
        {"text_bytes": [500, 3000]},
    ],
)
def test_what_is_held_of_a_page_decides_with_b(part):
    read, never = made(**part), made(age_s=math.nan, **part)
    assert first(read, url=0.0) == 1  # more of it is lost when it changes
    if not {"url_bytes", "anchor_bytes"} & set(part):
        assert first(never, url=0.0) is None  # nobody has read it, whatever the column says
    else:
        assert first(never, url=0.0, b=0.5) == 0  # less is known of it, so a visit adds more
    assert Chile(url=0.0, b=1e-9).gain(read, NOW) == pytest.approx(Chile(url=0.0, b=1.0).gain(made(), NOW), rel=1e-6)


def test_text_index_and_abstract_each_count_for_their_part():
    none, whole = np.zeros(1), np.full(1, 1e6)
    for place, (part, enough) in enumerate((URL, ANCHORS, INDEX, ABSTRACT, TEXT)):
        held = [none] * 5
        for size in (enough / 4, enough, 2 * enough):
            held[place] = np.full(1, size)
            assert representation(*held) == pytest.approx(part * min(size / enough, 1.0))
    assert representation(*[whole] * 5) == pytest.approx(1.0)


@pytest.mark.parametrize(("name", "enough"), [("text_bytes", 4096), ("index_bytes", 4096), ("abstract_bytes", 64)])
def test_more_is_never_worth_less(name, enough):
    sizes = np.array([0, 1 / 32, 1 / 16, 1 / 2, 1, 2]) * enough
    held = [Chile(url=0.0).gain(made(1, **{name: size}), NOW)[0] for size in sizes]
    assert np.diff(held).min() >= 0
    assert held[4] == held[5] > held[3]


def test_a_new_page_is_expected_to_bring_what_is_usual():
    for name in ("index_bytes", "abstract_bytes", "text_bytes"):
        gains = []
        for size in (0, 60):
            policy = Chile(url=0.0)
            policy.plan(made(5, **{name: size}), 0, Context(NOW))
            gains.append(policy.gain(made(1, age_s=math.nan, text_bytes=0), NOW)[0])
        assert gains[0] < gains[1], name


@pytest.mark.parametrize(
    "part",
    [{"age_s": [DAY, 3 * DAY]}, {"rate_per_day": [0.1, 1]}, {"neg_log_unchanged": [0, 1]}, {"age_s": [DAY, math.nan]}],
)
def test_freshness_decides(part):
    assert first(made(**part)) == 1


def test_c_weighs_freshness_against_worth():
    pages = made(weight=[1.0, 2.0], age_s=[3 * DAY, 0.6 * DAY])
    assert first(pages, c=1.0) == 0
    assert first(pages, c=3.0) == 1


def test_a_weighs_worth_against_freshness():
    pages = made(weight=[1.0, 2.0], age_s=[3 * DAY, 0.6 * DAY])
    assert first(pages, a=1.0) == 0
    assert first(pages, a=2.0) == 1


def test_with_all_exponents_one_it_is_the_myopic_rule():
    draw = np.random.default_rng(1)
    pages = made(50, weight=draw.pareto(1.1, 50), rate_per_day=draw.lognormal(0, 2, 50), age_s=DAY * draw.random(50))
    gain = Chile().gain(pages, NOW)
    lam = pages.shape / pages.scale_s
    assert gain == pytest.approx(pages.importance * -np.expm1(-lam * (NOW - pages.visited_at)))
    assert Chile(soonest="1ms").value(pages, Context(NOW)).argsort().tolist() == gain.argsort().tolist()


def test_a_page_falls_due_when_a_visit_adds_as_much_as_the_last_of_a_batch():
    pages = made(
        4, weight=[1, 2, 4, 0.1], rate_per_day=[1, 0.5, 3, 1], neg_log_unchanged=[0, 0, 0.01, 0], text_bytes=4096
    )
    policy = Chile(a=1.5, b=0.5, c=2.0, soonest="1s")
    assert (
        policy.due(pages, Context(NOW)).tolist() == pages.visited_at.tolist()
    )  # nothing is known before the first batch
    policy.plan(made(4, weight=[1, 0.1, 0.1, 0.1], text_bytes=4096), 0, Context(NOW))
    due = policy.due(pages, Context(NOW))
    assert np.isinf(due[3])  # a visit never adds as much
    for row in range(3):
        assert pages.visited_at[row] < due[row] < np.inf
        assert policy.gain(pages, due[row])[row] == pytest.approx(policy.notes()["chile_gain"])
    heavier = made(4, weight=[1, 2, 4, 0.1], rate_per_day=[2, 1, 6, 1], text_bytes=4096)
    assert (policy.due(heavier, Context(NOW))[:2] < due[:2]).all()


def test_no_rate_and_no_weight_is_no_trouble():
    pages = made(3, weight=[0, 0, 1], rate_per_day=[1e-280, 1, 1e-280])
    policy = Chile()
    policy.plan(pages, 0, Context(NOW))
    assert np.isfinite(policy.value(pages, Context(NOW))).all()
    assert not np.isnan(policy.due(pages, Context(NOW))).any()
    assert policy.plan(pages.part(0, 1), 5, Context(NOW + 1e7)) > NOW + 1e7


class TestRates:
    def test_dated_changes_count_by_their_ages(self):
        policy, pages = Chile(), made(1, rate_per_day=1.0)
        pages.shape[:], pages.scale_s[:] = 0.4, 4 * DAY
        assert policy.rates(pages)[0] == pytest.approx(0.1 / DAY)  # nobody counted anything
        for changed in (True, False, False, True, False):
            policy.learn(visits([0], changed=changed, age_s=DAY / 4 if changed else math.nan))
        xs = (2 - 1) - 2 / (5 * math.log(1 - 2 / 5))
        assert policy.rates(pages)[0] == pytest.approx(xs / (3.5 * DAY))

    def test_a_change_without_a_date_makes_it_the_estimator_without_dates(self):
        pages = made(1)
        pages.shape[:], pages.scale_s[:] = 0.4, 4 * DAY
        for rates, expected in (("counts", -math.log(1 - 2 / 3) * 3 / (3 * DAY)), ("posterior", 0.1 / DAY)):
            policy = Chile(rates=rates)
            for age_s in (DAY / 4, math.nan):
                policy.learn(visits([0], changed=True, age_s=age_s))
            policy.learn(visits([0]))
            assert policy.rates(pages)[0] == pytest.approx(expected)

    def test_always_and_never_changed_say_nothing(self):
        policy, pages = Chile(), made(2)
        pages.shape[:], pages.scale_s[:] = [3.0, 0.4], [5 * DAY, 9 * DAY]
        for _ in range(4):
            policy.learn(visits([0], changed=True))
            policy.learn(visits([1], changed=False))
        assert policy.rates(pages) == pytest.approx(pages.shape / pages.scale_s)

    def test_first_visits_and_visits_in_vain_are_not_counted(self):
        policy = Chile()
        policy.learn(visits([3], interval_s=math.nan))
        policy.learn(visits([3], read=False))
        assert len(policy.tables(Context(NOW))["changes"]["slot"]) == 0
        policy.learn(visits([3], interval_s=-5.0, changed=True, age_s=2.0))  # a clock that was set back
        table = policy.tables(Context(NOW))["changes"]
        assert (table["slot"].tolist(), table["span_s"].tolist(), table["unchanged_s"].tolist()) == ([3], [0], [0])

    def test_a_rate_that_is_known_needs_no_counting(self):
        policy, pages = Chile(), made(1, rate_per_day=3.0)
        for changed in (True, False):
            policy.learn(visits([0], changed=changed))
        assert policy.rates(pages)[0] == pytest.approx(3 / DAY)

    def test_what_counts_say_changes_the_order(self):
        policy, pages = Chile(), made(2)
        pages.shape[:], pages.scale_s[:] = 0.4, 4 * DAY
        for changed in (True, False, True):
            policy.learn(visits([1], changed=changed))
        assert policy.value(pages, Context(NOW)).argmax() == 1


class TestBatches:
    def test_pages_of_the_batch_come_before_all_others_until_it_is_spent(self):
        policy = Chile(batch_pages=2)
        pages = made(300, weight=np.arange(300) + 1.0)
        policy.plan(pages, 0, Context(NOW))
        assert policy.tables(Context(NOW))["batch"]["slot"].tolist() == [298, 299]
        later = made(300, weight=np.arange(300) + 1.0, age_s=[50 * DAY] * 298 + [7260.0, 7250.0])
        value = policy.value(later, Context(NOW))
        assert value[:298].max() < 1 < value[298:].min()
        policy.chosen(value[[299]], Context(NOW, 300))
        assert policy.value(later, Context(NOW))[298] > 1
        policy.chosen(value[[298]], Context(NOW, 300))
        assert policy.value(later, Context(NOW)).argmax() == 297

    @pytest.mark.parametrize(
        ("unread", "batch_pages", "visits_per_s", "size"),
        [(9_700, 10_000, 2, 20), (29_700, 10_000, 1, 30), (0, 10_000, 1, 3), (29_700, 20, 1, 20), (0, 2, 1, 2)],
    )
    def test_a_batch_is_of_ten_seconds_but_from_a_thousandth_to_a_hundredth_of_what_waits_and_within_its_bound(
        self, unread, batch_pages, visits_per_s, size
    ):
        policy = Chile(batch_pages=batch_pages)
        policy.chosen(np.zeros(visits_per_s - 1), Context(NOW, 300))
        assert policy.plan(made(300), unread, Context(NOW)) - NOW == pytest.approx(size / visits_per_s)

    def test_the_next_is_picked_when_it_is_spent_or_overdue_and_not_before(self):
        policy = Chile(batch_pages=2)
        pages = made(300, weight=np.arange(300) + 1.0)
        policy.chosen(np.zeros(100), Context(NOW - 100, 300))
        policy.chosen(np.zeros(100), Context(NOW, 300))
        next_at = policy.plan(pages, 0, Context(NOW))
        assert next_at == pytest.approx(NOW + 1, abs=0.1)  # two visits a second
        other = made(300, weight=300.0 - np.arange(300))
        policy.plan(other, 0, Context(NOW + 0.5))
        assert policy.tables(Context(NOW))["batch"]["slot"].tolist() == [298, 299]
        policy.plan(other, 0, Context(NOW + 100.0))
        assert policy.tables(Context(NOW))["batch"]["slot"].tolist() == [0, 1]
        policy.chosen(policy.value(other, Context(NOW))[:2], Context(NOW + 101, 300))
        policy.plan(pages, 0, Context(NOW + 101))
        assert policy.tables(Context(NOW))["batch"]["slot"].tolist() == [298, 299]

    def test_no_more_of_one_site_than_is_allowed(self):
        pages = made(400, weight=np.arange(400) + 1.0, site=[0] * 200 + [1] * 200)
        for most, expected in ((9, [396, 397, 398, 399]), (3, [199, 397, 398, 399])):
            policy = Chile(batch_pages=4, site_pages=most)
            policy.plan(pages, 0, Context(NOW))
            assert policy.tables(Context(NOW))["batch"]["slot"].tolist() == expected

    def test_new_pages_are_of_it_when_a_visit_adds_as_much_and_have_as_many_places_as_they_took(self):
        policy = Chile(batch_pages=4)
        pages = made(400, weight=np.arange(400) + 1.0)
        policy.plan(pages, 0, Context(NOW))
        mixed = made(3, weight=[1e3, 1.0, 1e3], age_s=[math.nan, math.nan, DAY])
        value = policy.value(mixed, Context(NOW))
        assert (value > 1).tolist() == [True, False, False]
        policy.chosen(np.full(4, value[0]), Context(NOW, 400), 3)
        policy.plan(pages, 0, Context(NOW))
        assert policy.tables(Context(NOW))["batch"]["slot"].tolist() == [399]

    def test_nor_of_new_pages_of_one_site(self):
        policy = Chile(batch_pages=4, site_pages=2)
        policy.plan(made(400, site=[1] * 400), 0, Context(NOW))
        new = made(2, weight=1e3, age_s=math.nan, site=[0, 1])
        assert (policy.value(new, Context(NOW)) > 1).tolist() == [True, True]
        policy.learn(visits([500], site=1))
        assert (policy.value(new, Context(NOW)) > 1).tolist() == [True, True]
        policy.learn(visits([501], site=1))
        assert (policy.value(new, Context(NOW)) > 1).tolist() == [True, False]

    def test_the_order_of_hosts_is_a_parameter(self):
        pages = made(300, weight=[*range(1, 299), 301, 300], site=[0] * 297 + [1, 1, 2], backlog=[9] * 299 + [10])
        picked = pages.part(297, 300)
        best = {}
        for order in ("largest", "queued", "round_robin"):
            policy = Chile(batch_pages=3, host_order=order)
            policy.plan(pages, 0, Context(NOW))
            policy.learn(visits([500], site=2))
            best[order] = np.argsort(-policy.value(picked, Context(NOW))).tolist()
        assert best == {"largest": [1, 0, 2], "queued": [2, 1, 0], "round_robin": [1, 0, 2]}
        policy.learn(visits([501, 502], site=1))
        assert np.argsort(-policy.value(picked, Context(NOW))).tolist() == [2, 1, 0]

    def test_hosts_of_one_site_are_asked_each_in_its_turn_while_the_bound_is_of_the_site(self):
        """One site with three hosts; page 299 has most to gain, and two of 4 come before it."""
        pages = made(300, weight=[*range(1, 299), 299, 300], site=[0] * 300, host=[6] * 297 + [4, 4, 5])
        picked, first = pages.part(297, 300), {}
        for order in ("largest", "round_robin"):
            policy = Chile(batch_pages=3, host_order=order)
            policy.plan(pages, 0, Context(NOW))
            policy.learn(visits([500], site=0, host=5))
            first[order] = np.argsort(-policy.value(picked, Context(NOW))).tolist()
        assert first == {"largest": [1, 0, 2], "round_robin": [1, 0, 2]}
        policy.learn(visits([501, 502], site=0, host=4))
        assert np.argsort(-policy.value(picked, Context(NOW))).tolist() == [2, 1, 0]
        queued = Chile(batch_pages=3, host_order="queued")
        waiting = made(300, weight=[*range(1, 299), 299, 300], site=[0] * 300, host=[6] * 297 + [4, 4, 5],
                       backlog=[1] * 297 + [7, 7, 2])  # fmt: skip
        queued.plan(waiting, 0, Context(NOW))
        assert np.argsort(-queued.value(waiting.part(297, 300), Context(NOW))).tolist() == [1, 0, 2]
        few = Chile(batch_pages=3, site_pages=2)
        few.plan(pages, 0, Context(NOW))
        assert few.tables(NOW)["batch"]["slot"].tolist() == [298, 299]

    def test_each_batch_asks_its_hosts_in_turn_from_the_beginning(self):
        pages = made(300, weight=[*range(1, 299), 299, 300], site=[0] * 299 + [1])
        policy = Chile(batch_pages=2, host_order="round_robin")
        policy.plan(pages, 0, Context(NOW))
        policy.learn(visits([7], site=1))
        assert policy.value(pages, Context(NOW)).argmax() == 298
        policy.chosen(np.full(2, 9.0), Context(NOW, 300))
        policy.plan(pages, 0, Context(NOW))
        assert policy.value(pages, Context(NOW)).argmax() == 299

    def test_a_host_has_fewer_left_with_each_visit(self):
        pages = made(300, weight=[*range(1, 299), 299, 300], site=[0] * 297 + [1, 1, 2])
        policy = Chile(batch_pages=3)
        policy.plan(pages, 0, Context(NOW))
        picked = pages.part(297, 300)
        assert policy.value(picked, Context(NOW)).argmax() == 1
        policy.learn(visits([298], site=1))
        assert policy.value(picked, Context(NOW)).argmax() == 2
        assert policy.tables(Context(NOW))["batch"]["slot"].tolist() == [297, 299]

    def test_visits_before_the_first_batch_leave_no_trace_in_it(self):
        batch = ChileBatch()
        batch.learn(visits([3, 4]))
        assert not batch.holds(np.ones(5), made(5), np.zeros(5, bool)).any()
        assert len(batch.slots()) == 0


def test_exponents_and_weights_can_be_others_while_it_runs():
    pages = made(300, weight=np.arange(300) + 1.0)
    policy = Chile(batch_pages=2)
    policy.plan(pages, 0, Context(NOW))
    assert policy.notes()["chile_gain"] > 0
    policy.adjust({"a": 0.0, "c": 2.0})
    assert policy.notes() == {}
    value = policy.value(pages, Context(NOW))
    assert np.ptp(value) == 0 < value[0] < 1
    policy.adjust({"a": 1.0})
    assert policy.value(pages, Context(NOW)).argmax() == 299
    for wrong in (
        {"b": 0.0},
        {"c": -1.0},
        {"a": 11.0},
        {"links": -1.0},
        {"batch_pages": 0},
        {"host_order": "smallest"},
    ):
        with pytest.raises(ConfigError, match=f"chile: {next(iter(wrong))} "):
            policy.adjust(wrong)
        with pytest.raises(ConfigError):
            Chile(**wrong)
    assert policy.value(pages, Context(NOW)).argmax() == 299


def test_it_goes_on_with_the_gain_there_was():
    policy = Chile()
    policy.plan(made(300, weight=3.0), 0, Context(NOW))
    again = Chile()
    again.resume(policy.notes())
    assert again.notes() == policy.notes()


def test_however_visits_are_parted_the_same_is_learned():
    draw = np.random.default_rng(2)
    rows = [visits([slot], changed=bool(draw.random() < 0.5), age_s=60.0) for slot in draw.integers(9, size=60)]
    whole, one_by_one = Chile(), Chile()
    for row in rows:
        one_by_one.learn(row)
    together = []
    for row in [*rows, None]:
        if row is None or row.slot[0] in [each.slot[0] for each in together]:
            columns = zip(*([getattr(each, name) for name in Visits.__slots__] for each in together), strict=True)
            whole.learn(Visits(*(None if column[0] is None else np.concatenate(column) for column in columns)))
            together = []
        together.append(row)
    for name, values in one_by_one.tables(NOW)["changes"].items():
        assert values.tolist() == whole.tables(NOW)["changes"][name].tolist()


class Myopic(Policy):
    """The rule that the formula comes to, with nothing around it."""

    def value(self, pages, context):
        waited_s = np.where(np.isnan(pages.visited_at), np.inf, context.now - pages.visited_at)
        return -pages.importance * np.expm1(-pages.shape / pages.scale_s * waited_s)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_it_is_as_fresh_as_the_myopic_rule_and_far_from_the_optimum(correlation):
    pages, known = population(200, seed=2, correlation=correlation), Conditions(known=True, ticks=25)
    found, plain = (
        poll(policy, pages, 0.5, cycles=5.0, measured_from=2.0, conditions=known)
        for policy in (Chile(soonest="1s"), Myopic())
    )
    assert found.value == pytest.approx(plain.value, abs=0.03)
    assert found.ratio < 0.87
    assert found.unused == 0


def test_a_page_is_left_alone_for_a_while_as_long_as_others_wait():
    pages = made(3, weight=[1000, 1, 2], rate_per_day=[100, 1, 1], age_s=[1800.0, DAY, DAY])
    for soonest, order in (("1h", [2, 1, 0]), ("20m", [0, 2, 1])):
        policy = Chile(soonest=soonest, batch_pages=1)
        assert policy.value(pages, Context(NOW)).argsort()[::-1].tolist() == order
        policy.plan(pages, 0, Context(NOW))
        assert policy.tables(Context(NOW))["batch"]["slot"].tolist() == order[:1]
        assert policy.value(pages, Context(NOW)).argsort()[::-1].tolist() == order
        assert (policy.due(pages, Context(NOW)) - pages.visited_at >= (3600 if soonest == "1h" else 1200)).all()
    assert np.isfinite(Chile().value(made(2, age_s=1.0), Context(NOW))).all(), (
        "and where none other waits, it is visited"
    )


def test_a_batch_has_no_more_pages_than_are_not_left_alone():
    policy = Chile(batch_pages=100)
    policy.chosen(np.zeros(999), Context(NOW, 20_000))
    policy.plan(made(20_000, age_s=[DAY] * 7 + [60.0] * 19_993), 0, Context(NOW))
    assert policy.tables(Context(NOW))["batch"]["slot"].tolist() == list(range(7))


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_leaving_pages_alone_keeps_what_weighs_most_from_taking_it_all(correlation):
    pages, known = population(200, seed=1, correlation=correlation), Conditions(known=True, ticks=50)
    eager, usual = (
        poll(Chile(soonest=soonest), pages, 1.0, cycles=3.0, measured_from=1.5, conditions=known).ratio
        for soonest in ("1s", "2h")
    )
    assert usual > eager + 0.03


def test_a_page_that_pays_to_be_visited_often_does_not_wait_for_a_long_batch_to_end():
    pages, known = population(1000, seed=1, correlation=0.5), Conditions(known=True, ticks=50)
    found, plain = (
        poll(policy, pages, 0.01, cycles=2.0, measured_from=1.0, conditions=known) for policy in (Chile(), Myopic())
    )
    assert found.ratio == pytest.approx(plain.ratio, abs=0.03)
