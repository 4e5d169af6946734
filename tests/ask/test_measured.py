"""What a journal says of the copies, event by event."""

import pytest

from evercrawl.ask.measured import MeasuredCopies, measured
from evercrawl.model.stored.reader import opened, recent
from evercrawl.store.journal.events import Drawn, Event, Lost, Visit
from evercrawl.store.records.evidence import pack_predicted
from evercrawl.types import Outcome

SITE = "http://example.org"
HOUR = 3600.0


def drawn(slot, at, fresh=0.8, *, by_importance=False):
    return Drawn(slot, at, by_importance, fresh, 0.1 * HOUR, HOUR)


def visit(slot, at, fresh, said=0.8, changed_at=0.0):
    return Visit(
        slot, 0, at, Outcome.OK, 200, predicted_fresh=pack_predicted(said, fresh), visits=2, changed_at=changed_at
    )


def taken(*events: Event):
    return MeasuredCopies().take(events)


def test_each_is_judged_by_the_next_visit_of_its_page():
    found = taken(
        drawn(1, 0.0), drawn(2, 0.0), visit(3, 5.0, False), visit(1, 10.0, True), visit(2, 0.0, False),
        visit(1, 20.0, False),
    )  # fmt: skip
    measure = found.measure(by_importance=False)
    assert (measure.probes, measure.visits, measure.fresh) == (2, 2, 0.5)
    assert measure.fresh_expected == pytest.approx(0.8)
    assert measure.age_s == pytest.approx(0.5 * 0.1 * HOUR / 0.2)
    assert measure.age_expected_s == pytest.approx(0.1 * HOUR)
    assert found.waiting == 0
    assert found.measure(by_importance=True) is None
    assert (found.visits.count, found.probes[False].count, found.probes[True].count) == (4, 2, 0)


def test_the_two_kinds_are_told_apart():
    found = taken(drawn(1, 0.0), drawn(1, 1.0, by_importance=True), visit(1, 2.0, True))
    assert [found.measure(by_importance=each).fresh for each in (False, True)] == [1.0, 1.0]
    assert [found.probes[each].count for each in (False, True)] == [1, 1]
    assert found.visits.count == 1


def test_a_change_that_may_have_come_while_the_page_waited_counts_in_part():
    found = taken(drawn(1, 0.0, 0.8), visit(1, HOUR, False, said=0.6))
    assert found.measure(by_importance=False).fresh == pytest.approx(0.5)


def test_a_believed_date_says_when():
    before = taken(drawn(1, 100.0), visit(1, 900.0, False, said=0.6, changed_at=50.0)).measure(by_importance=False)
    after = taken(drawn(1, 100.0), visit(1, 900.0, False, said=0.6, changed_at=500.0)).measure(by_importance=False)
    unknown = taken(drawn(1, 100.0), visit(1, 900.0, False, said=0.6, changed_at=900.0)).measure(by_importance=False)
    assert (before.fresh, after.fresh, unknown.fresh) == (0.0, 0.8, pytest.approx(0.5))
    assert before.age_s >= 50.0


def test_a_visit_that_does_not_tell_ends_the_probe_without_result():
    found = taken(drawn(1, 0.0), drawn(1, 1.0, by_importance=True), visit(1, 5.0, None), visit(1, 9.0, False))
    assert found.measure(by_importance=False) is None
    assert found.unanswered == {False: 1, True: 1}
    lost = taken(drawn(1, 0.0), Lost(1, 0, 5.0, (0, 0, 1), "gone"), visit(1, 9.0, False))
    assert (lost.unanswered.total(), lost.waiting) == (1, 0)


def test_what_nobody_visited_yet_waits():
    found = taken(drawn(1, 0.0), drawn(2, 1.0), drawn(1, 2.0))
    assert found.waiting == 3
    assert found.take([visit(1, 3.0, True)]).waiting == 1


def test_only_the_last_count():
    events = [each for i in range(30) for each in (drawn(i, i), visit(i, i + 0.5, i >= 20))]
    found = MeasuredCopies(window=10).take(events)
    assert (found.measure(by_importance=False).probes, found.measure(by_importance=False).fresh) == (10, 1.0)
    assert found.probes[False].observed == pytest.approx(1 / 3)


def test_many_events_are_counted_in_pieces(monkeypatch):
    from evercrawl.ask import measured as module

    events = [visit(i, float(i), i % 3 > 0, said=0.5) for i in range(100)]
    whole = taken(*events)
    monkeypatch.setattr(module, "BATCH", 7)
    pieces = taken(*events)
    assert pieces.visits.count == whole.visits.count == 100
    assert pieces.visits.brier == pytest.approx(whole.visits.brier)


# From the journal of a crawl


def test_visits_say_whether_the_copy_was_fresh(made):
    """Unchanged, other words, other bytes around the same words, gone; and what does not tell."""
    made.seed(f"{SITE}/")
    ways = {
        "same": (made.page("A", text="one"), True), "words": (made.page("A", text="two"), False),
        "bytes": (made.page("A", text="one").replace(b"<p>", b"<p class=x>"), True),
    }  # fmt: skip
    made.visit(f"{SITE}/", made.page("Home", *ways, "gone", "moved", "error", "cut", "new"))
    fresh = {}
    for path in (*ways, "gone", "moved", "error", "cut"):
        made.visit(f"{SITE}/{path}", made.page("A", text="one"))
    said = {**{path: {"body": body} for path, (body, _) in ways.items()}, "gone": {"status": 404},
            "moved": {"status": 302, "location": "/new"}, "error": {"status": 0, "error": "timeout"},
            "cut": {"body": made.page("A", text="three"), "truncated": True}}  # fmt: skip
    learn = made.changes.learn
    made.changes.learn = lambda reading, *told: fresh.setdefault(
        reading.exchange.request.url.rpartition("/")[2], learn(reading, *told)
    )
    for path, answer in said.items():
        made.visit(f"{SITE}/{path}", **answer)
    told = {path: lesson.fresh for path, lesson in fresh.items()}
    assert told == {
        "same": True, "words": False, "bytes": True, "gone": False, "moved": False, "error": None, "cut": None
    }  # fmt: skip
    fresh.clear()
    made.visit(f"{SITE}/gone", made.page("A", text="back"))  # there was no copy any more
    assert fresh["gone"].fresh is None


def test_the_end_of_a_journal_begins_with_a_whole_frame(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", *(f"/{i}" for i in range(120))))
    for i in range(120):
        made.visit(f"{SITE}/{i}", made.page(f"page {i}", text=f"words {i}"))
    made.save()
    every = [event for _, _, event in made.partition.journal.replay()]
    size = made.partition.journal.position
    assert list(recent(made.partition, size)) == every
    part = list(recent(made.partition, size // 3))
    assert 10 < len(part) < 80
    assert part == every[-len(part) :]
    crawl = opened(made.directory)
    assert list(recent(crawl, size // 3)) == part
    assert measured(crawl).visits.count == 0
    crawl.close()


def test_where_no_record_points_to_the_end_it_begins_with_a_file(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home"), etag='"1"')
    for _ in range(40):
        made.visit(f"{SITE}/", b"", 304, etag='"1"')
    made.save()
    assert len(list(recent(made.partition, 100))) == 42
