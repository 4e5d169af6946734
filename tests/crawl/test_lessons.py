"""What a policy is told of visits: the same, visit by visit or read back from the journal."""

from dataclasses import fields
from email.utils import formatdate

import numpy as np
import pytest

from evercrawl.crawl import lessons
from evercrawl.crawl.lessons import Lessons
from evercrawl.schedule import Pages, Policy, Visits
from evercrawl.types import Floats

SITE, OTHER = "http://example.org", "http://other.example"


class Listener(Policy):
    """Remembers what it is told."""

    learns = True

    def __init__(self) -> None:
        self.told: list[Visits] = []

    def value(self, pages: Pages, now: float) -> Floats:
        return np.zeros(len(pages.slot))

    def learn(self, visits: Visits) -> None:
        assert len(set(visits.slot.tolist())) == len(visits), "no page is there twice"
        self.told.append(visits)

    def column(self, name: str) -> list:
        return [value for visits in self.told for value in getattr(visits, name).tolist()]


@pytest.fixture
def listener(made):
    policy = Listener()
    made._learner._lessons = policy.lessons = Lessons(policy, made.partition)
    return policy


def told(policy: Listener) -> dict[str, list]:
    policy.lessons.tell()
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
    assert found["size"][3] == found["size"][2] > 0
    assert len(set(found["site"])) == 1
    assert np.diff(found["at"]).tolist() == [10.0] * 4


def test_a_date_that_is_believed_says_how_long_ago_the_change_was(made, listener):
    made.seed(f"{SITE}/")
    for number in range(30):
        made.visit(f"{SITE}/", made.page(f"page {number}"), last_modified=formatdate(made.now + 3.0, usegmt=True))
    ages = told(listener)["age_s"]
    assert np.isnan(ages[0])
    assert ages[-1] == pytest.approx(7.0)


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
            made.visit(url, made.page(f"{url} {int(kind * 5)}", *links))


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


def test_what_was_kept_spares_the_journal(made, monkeypatch):
    """What a policy kept is taken up with all that came since; a damaged file, or another policy, does not count."""
    from evercrawl.crawl import lessons_file
    from evercrawl.schedule import Price

    made._learner._lessons = taught = Lessons(taught_policy := Price(), made.partition)
    made.seed(f"{SITE}/", f"{SITE}/a/x", f"{SITE}/b/x")
    for text in ("one", "two"):
        for url in (f"{SITE}/", f"{SITE}/a/x", f"{SITE}/b/x"):
            made.now += 500.0
            made.visit(url, made.page(text + url))
    taught.remember(made.partition)
    made.now += 500.0
    made.visit(f"{SITE}/a/x", made.page("three"))
    read = list[int]()
    whole = lessons.events
    monkeypatch.setattr(lessons, "events", lambda *of: (read.append(1) or each for each in whole(*of)))

    def learned() -> tuple[dict[str, np.ndarray], int]:
        read.clear()
        Lessons(policy := Price(), made.partition)
        return policy.memory(), len(read)

    taught.tell()
    expected = taught_policy.memory()
    kept, after = learned()
    assert after == 1
    made.partition.disk.replace(lessons_file.FILE, [b"damaged"])
    folded, all_of_it = learned()
    assert all_of_it > 6
    for name, rows in expected.items():
        np.testing.assert_array_equal(kept[name], rows, err_msg=name)
        np.testing.assert_array_equal(folded[name], rows, err_msg=name)
    lessons_file.keep(made.partition, Listener(), expected)
    assert lessons_file.kept_of(made.partition, taught_policy) is None
    assert lessons_file.kept_of(made.partition, Listener()) is not None
    taught.begin(made.partition)
    assert lessons_file.kept_of(made.partition, Listener()) is None
