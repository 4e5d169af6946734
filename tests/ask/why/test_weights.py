"""What is said of weights, boosts and options, and of what their owner would have them do."""

import pytest
from weighing import columns, every, tell

from evercrawl.cli.verbs.asking.why import rows
from evercrawl.model.worth.quality_weight import Quality
from evercrawl.model.worth.usage import Question
from evercrawl.store.journal.events import Boost, Obeyed

SITE = "http://example.org"
DAY_S = 86_400.0


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
    assert weighed.times == pytest.approx(view.candidates.weight_ratio(view.state.find([f"{SITE}/3"]))[0])
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
