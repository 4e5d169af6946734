"""What a policy is told of visits: the same, visit by visit or read back from the journal."""

from dataclasses import fields
from email.utils import formatdate

import numpy as np
import pytest

from evercrawl.crawl.learn import visit_event
from evercrawl.model.policy import lessons
from evercrawl.model.policy.lessons import Lessons
from evercrawl.schedule import Pages, Policy, Visits
from evercrawl.schedule.abilities import Learns
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies.tianwang.tianwang import Tianwang
from evercrawl.types import Floats

SITE, OTHER = "http://example.org", "http://other.example"


class Listener(Learns, Policy):
    """Remembers what it is told."""

    counts_links = True

    def __init__(self) -> None:
        self.told: list[Visits] = []

    def value(self, pages: Pages, context: Context) -> Floats:
        return np.zeros(len(pages.slot))

    def learn(self, visits: Visits) -> None:
        assert len(set(visits.slot.tolist())) == len(visits), "no page is there twice"
        self.told.append(visits)

    def column(self, name: str) -> list:
        return [value for visits in self.told for value in getattr(visits, name).tolist()]


@pytest.fixture
def listener(made):
    policy = Listener()
    policy.lessons = made.teach(policy)
    return policy


def told(policy: Listener) -> dict[str, list]:
    policy.lessons.flush()
    return {each.name: policy.column(each.name) for each in fields(Visits)}


def test_what_a_visit_says(made, listener):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b"))
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b"))
    made.visit(f"{SITE}/", made.page("House", "/a", "/c"))
    made.visit(f"{SITE}/", status=304)
    made.visit(f"{SITE}/a", status=404)
    found = told(listener)
    assert found["slot"] == [0, 0, 0, 0, 1]
    assert found["read"] == [True] * 4 + [False]
    assert found["gone"] == [False] * 4 + [True]
    assert found["changed"] == [False, False, True, False, False]
    assert found["relinked"] == [False, False, True, False, False]
    assert found["links"] == [2, 2, 2, 2, 0]
    assert found["found"] == [2, 0, 1, 0, 0]
    assert found["interval_s"][1:4] == [10.0, 10.0, 10.0]
    assert np.isnan([found["interval_s"][0], found["interval_s"][4]]).all()
    assert found["size"] == [len("Home to /a to /b")] * 2 + [len("House to /a to /c")] * 2 + [0]
    assert len(set(found["site"])) == 1
    assert len(set(found["host"])) == 1
    assert np.diff(found["at"]).tolist() == [10.0] * 4
    home, again, house, unchanged, gone = found["digest"]
    assert home == again != house == unchanged
    assert home
    assert not gone


def test_where_nobody_counted_the_text_the_size_is_that_of_the_content(made, listener, monkeypatch):
    made.seed(f"{SITE}/")
    monkeypatch.setattr(visit_event, "text_of", lambda *_: None)
    made.visit(f"{SITE}/", made.page("Home"), etag='"1"')
    made.visit(f"{SITE}/", status=304, etag='"2"')
    monkeypatch.undo()
    made.visit(f"{SITE}/", made.page("House"))
    made.visit(f"{SITE}/", made.page("House"))
    assert told(listener)["size"] == [len(made.page("Home"))] * 2 + [len("House")] * 2


def test_a_page_of_many_links_and_few_words_is_index_like_whatever_its_markup(made):
    made.seed(f"{SITE}/")
    policy = Tianwang()
    lessons = made.teach(policy)
    for day in range(2):
        items = "".join(f"<li class='item {'wide ' * 100}'><a href=/{day}/{i}>{i}</a>" for i in range(40))
        made.visit(f"{SITE}/", f"<title>News</title><ul>{items}</ul>".encode())
    lessons.flush()
    assert policy.tables(Context(made.now))["IndexPages"]["index_like"].tolist() == [True]


def test_a_date_that_is_believed_says_how_long_ago_the_change_was(made, listener):
    made.seed(f"{SITE}/")
    for number in range(30):
        made.visit(f"{SITE}/", made.page(f"page {number}"), last_modified=formatdate(made.now + 3.0, usegmt=True))
    ages = told(listener)["age_s"]
    assert ages[0] == pytest.approx(7.0), "of the first visit, for nothing speaks against it yet"
    assert np.isnan(ages[1])
    assert ages[-1] == pytest.approx(7.0)


def first_dated(made, path: str, age_s: float) -> None:
    """Read a page for the first time, with a date."""
    made.seed(f"{SITE}{path}")
    made.visit(f"{SITE}{path}", made.page(path), last_modified=formatdate(made.now + 10.0 - age_s, usegmt=True))


def contradict(made, times: int) -> None:
    """Visit a page that stays as it is under new dates."""
    for number in range(times):
        date = formatdate(made.now + number - 1000.0, usegmt=True)
        made.visit(f"{SITE}/", made.page("/"), last_modified=date)


def test_the_date_of_a_page_that_was_never_read_before_says_how_old_it_is(made, listener):
    first_dated(made, "/", 1000.0)
    first_dated(made, "/of-the-answer", 1.0)
    made.seed(f"{SITE}/no-date")
    made.visit(f"{SITE}/no-date", made.page("none"))
    assert told(listener)["age_s"] == pytest.approx([1000.0, np.nan, np.nan], abs=1.0, nan_ok=True)


def test_where_most_dates_were_false_that_of_a_new_page_says_nothing_also_to_who_goes_on(made, listener):
    first_dated(made, "/", 1000.0)
    contradict(made, 4)
    first_dated(made, "/b", 1000.0)
    live = told(listener)
    assert live["changed"] == [False] * 6
    assert np.isnan(live["age_s"]).tolist() == [False] + [True] * 5
    made.save()
    again = Listener()
    Lessons(again, made.partition)
    np.testing.assert_array_equal(again.column("age_s"), live["age_s"])


def test_what_was_said_of_a_copy_before_its_visit_is_told(made, listener):
    made.seed(f"{SITE}/")
    for page, said in (("Home", np.nan), ("Home", 0.25), ("House", 0.75)):
        made.visit(f"{SITE}/", made.page(page), said=said)
    assert told(listener)["predicted_fresh"] == pytest.approx([np.nan, 0.25, 0.75], nan_ok=True)


def test_what_the_belief_of_its_rate_said_of_a_copy_is_told(made, listener):
    """The belief before the visit, of the whole interval; nothing of a first visit."""
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home"))
    beliefs = [(1.0, 1.0)]
    for page in ("Home", "House", "House"):
        row, (shape, scale_s) = made.partition.state.records.rows[0], made.changes.priors.prior(0)
        beliefs.append((shape + row["rate_shape"], scale_s + row["rate_scale_s"]))
        made.visit(f"{SITE}/", made.page(page))
    found, (shapes, scales_s) = told(listener), np.array(beliefs).T
    live, said = found["fresh_by_time"], -shapes * np.log1p(np.array(found["interval_s"]) / scales_s)
    assert np.log(live) == pytest.approx(said, rel=0.01, nan_ok=True)
    assert np.isnan(live).tolist() == [True, False, False, False]
    made.save()
    again = Listener()
    Lessons(again, made.partition)
    np.testing.assert_array_equal(again.column("fresh_by_time"), live)


def test_it_is_time_to_tell_of_many_visits_or_of_one_that_was_a_while_ago(made, listener, monkeypatch):
    monkeypatch.setattr(lessons, "MANY", 3)
    told_soon = made.teach(listener, patience_s=0.25)
    made.seed(f"{SITE}/")
    assert not told_soon.due(made.now + 1e6)
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b"))
    began = made.state.last_at()
    assert [told_soon.due(began + after_s) for after_s in (0.0, 0.24, 0.25)] == [False, False, True]
    told_soon.flush()
    assert len(listener.column("slot")) == 1
    assert not told_soon.due(began + 1e6)
    patient = made.teach(listener, patience_s=1e9)
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b"))
    made.visit(f"{SITE}/a", made.page("A"))
    assert not patient.due(made.now)
    made.visit(f"{SITE}/b", made.page("B"))
    assert patient.due(made.now)


def test_a_visit_in_vain_does_not_begin_an_interval(made, listener):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home"))
    made.visit(f"{SITE}/", error="timeout", status=0)
    made.visit(f"{SITE}/", made.page("House"))
    found = told(listener)
    assert found["read"] == [True, False, True]
    assert found["changed"] == [False, False, True]
    assert found["interval_s"][2] == 20.0


def wander(made, visits: int) -> None:
    draw = np.random.default_rng(1)
    made.seed(f"{SITE}/", f"{OTHER}/")
    for _ in range(visits):
        urls = made.state.urls.get_many(range(made.state.known.count))
        url = urls[draw.integers(len(urls))]
        kind = draw.random()
        if kind < 0.1:
            made.visit(url, status=404)
        elif kind < 0.2:
            made.visit(url, error="reset", status=0)
        else:
            links = [f"{[SITE, OTHER][int(i) % 2]}/{i}" for i in draw.integers(40, size=3)]
            made.visit(url, made.page(f"{url} {int(kind * 5)}", *links), said=kind)


def test_read_back_it_is_the_same(made, listener, monkeypatch):
    wander(made, 120)
    live = told(listener)
    made.save()
    monkeypatch.setattr(lessons, "BATCH", 7)
    again = Listener()
    Lessons(again, made.partition)
    assert any(live["changed"])
    assert any(live["relinked"])
    for each in fields(Visits):
        np.testing.assert_array_equal(again.column(each.name), live[each.name], err_msg=each.name)
