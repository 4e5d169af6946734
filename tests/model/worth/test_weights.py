"""What a page is worth follows what people do as far as there is enough of it, and leaves none out."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from weighing import SITE, columns, every, importance, tell, url, worth

from evercrawl.ask.why.interest import wanted
from evercrawl.config import Config
from evercrawl.model.view import View
from evercrawl.model.worth.choice import weight_of
from evercrawl.model.worth.positions import PLACES, click_chances, corrections
from evercrawl.model.worth.usage import Question
from evercrawl.model.worth.weights import FLOOR, STRANGERS_TIMES, WEIGHTS, Embarrassment
from evercrawl.schedule import Pages
from evercrawl.schedule.pages import USE_HALF_LIFE_S
from evercrawl.simulate.living import comparison
from evercrawl.simulate.living.lives import relive
from evercrawl.types import Slots

OF_USE = tuple(name for name in WEIGHTS if name not in ("importance", "quality", "site"))


def test_importance_itself_needs_nobody(ten):
    assert weight_of("importance", ten.partition) is None


@pytest.mark.parametrize("name", OF_USE)
def test_without_use_a_page_is_worth_its_importance_and_that_is_said(ten, name):
    assert worth(ten, name).tolist() == importance(ten).tolist()
    weight = weight_of(name, ten.partition)
    assert ("evercrawl usage" in weight.message) == (name != "access"), "which is the default, so nobody asked for it"
    assert weight.speaks == (name != "access")
    tell(ten, Question(1.0, "page", (url(1),), (url(1),)))
    assert weight_of(name, ten.partition).message == ""


@pytest.mark.parametrize("name", OF_USE)
def test_no_page_is_worth_less_than_a_tenth_of_its_importance(ten, name):
    tell(ten, *(Question(float(i), "page 3", (url(3), url(5)), (url(3),)) for i in range(3000)))
    assert (worth(ten, name) >= FLOOR * importance(ten) * (1 - 1e-9)).all()
    assert (importance(ten) > 0).all()


@pytest.mark.parametrize("name", OF_USE)
def test_what_is_used_most_is_worth_more_and_a_running_crawl_sees_it_at_once(ten, name):
    seen = columns(ten, weight_of(name, ten.partition))
    before = seen(every(ten)).importance
    tell(ten, *(Question(float(i), "page 3", (url(3),), (url(3),)) for i in range(200)))
    after = seen(every(ten)).importance
    assert (after / before).argmax() == 4  # after the front page
    assert after[4] > 1.5 * before[4]


def test_by_access_all_worth_goes_where_pages_are_opened(ten):
    opened = {1: 300, 5: 500, 8: 200}
    tell(ten, *(Question(float(i), "", (), (url(page),)) for page, times in opened.items() for i in range(times)))
    total = importance(ten).sum()
    expected = FLOOR * importance(ten)
    for page, times in opened.items():
        expected[page + 1] += (1 - FLOOR) * total * times / 1000
    assert worth(ten, "access") == pytest.approx(expected, rel=1e-3)  # those of a few minutes ago count a little less
    assert worth(ten, "access").sum() == pytest.approx(total)


def test_what_strangers_open_is_weighed_apart(ten):
    """Anybody can open pages of a public search: that raises no page beyond a bound, and puts few others behind."""
    own = [Question(float(i), "", (), (url(page),)) for page in (1, 2) for i in range(100)]
    theirs = [Question(float(i), "", (), (url(5),), stranger=True) for i in range(10_000)]
    tell(ten, *own)
    before = worth(ten, "access")
    tell(ten, *theirs)
    after, measure = worth(ten, "access"), importance(ten)
    assert before[6] < after[6] <= (1.0 + STRANGERS_TIMES) * measure[6]
    assert after[[2, 3]] == pytest.approx(before[[2, 3]], rel=0.6)
    assert after[2] > 0.6 * before[2], "a hundred openings by its people count as much as ten thousand of theirs"


@pytest.mark.parametrize("question", [
    Question(0.0, "", (), (url(5),), stranger=True), Question(0.0, "tea", (url(5),), stranger=True),
])  # fmt: skip
def test_strangers_alone_leave_half_of_the_worth_with_importance(ten, question):
    tell(ten, *(msgspec.structs.replace(question, at=float(i)) for i in range(1_000)))
    found, measure = worth(ten, "access"), importance(ten)
    assert (found >= 0.499 * measure).all()
    assert (found <= (1.0 + STRANGERS_TIMES) * measure).all()
    assert found[6] > 1.4 * measure[6]


def test_what_was_opened_a_month_ago_counts_half(ten):
    tell(
        ten, *(Question(at, "", (), (url(page),)) for page, at in ((5, 0.0), (8, USE_HALF_LIFE_S)) for _ in range(500))
    )
    more = worth(ten, "access") - FLOOR * importance(ten)
    assert more[9] == pytest.approx(2.0 * more[6], rel=1e-3)
    tell(ten, *(Question(200 * USE_HALF_LIFE_S, "", (), (url(2),)) for _ in range(300)))
    more = worth(ten, "access") - FLOOR * importance(ten)
    assert more[3] > 0
    assert more[[6, 9]] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_an_opening_at_a_place_where_few_look_tells_of_more_interest(ten):
    """People look at half of what stands second, and want either page as much."""
    shown = (url(5), url(8))
    tell(ten, *(Question(1.0, str(i), shown, (url(5),), id="a") for i in range(400)))
    tell(ten, *(Question(1.0, str(i), shown, (url(8),), id="b") for i in range(200)))
    tell(ten, *(Question(1.0, str(i), shown[::-1], (url(8),), id="c") for i in range(400)))
    tell(ten, *(Question(1.0, str(i), shown[::-1], (url(5),), id="d") for i in range(200)))
    tell(ten, *(Question(1.0, str(i), (url(1), url(2)), (url(2),), id="e") for i in range(300)))
    more = worth(ten, "access") - FLOOR * importance(ten)
    counts = Embarrassment(ten.partition).counts
    times = corrections(counts.clicks_at, counts.shown_at.sum(0))
    assert 1.0 < times[1] < 2.0
    assert more[6] == pytest.approx(more[9])
    assert more[3] / more[6] == pytest.approx(300 * times[1] / (400 + 200 * times[1]), rel=1e-6)
    assert more[3] / more[6] > 300 / 600


def test_scattered_openings_tell_little(ten):
    tell(ten, *(Question(1.0, "", (), (url(i),)) for i in range(9)))
    assert worth(ten, "access").tolist() == importance(ten).tolist()


def test_where_nobody_tells_of_anything_opened_being_shown_counts(ten):
    tell(ten, *(Question(float(i), "x", (url(2), url(3))) for i in range(50)))
    found = worth(ten, "access")
    assert found[3] - FLOOR * importance(ten)[3] == pytest.approx(found[4] - FLOOR * importance(ten)[4])
    assert found[3] > found[1]


def test_cash_goes_with_the_worth(ten):
    tell(ten, *(Question(float(i), "", (), (url(5),)) for i in range(500)))
    plain, weighed = columns(ten)(every(ten)), columns(ten, weight_of("access", ten.partition))(every(ten))
    assert weighed.cash == pytest.approx(plain.cash * weighed.importance / plain.importance)
    assert weighed.cash[6] > plain.cash[6] > 0


def test_embarrassment_goes_by_where_a_page_was_shown_not_by_whether_it_was_opened(ten):
    first, last = (url(2), url(3), url(4)), (url(4), url(3), url(2))
    tell(ten, *(Question(float(i), "x", first, (first[0],) if i % 2 else ()) for i in range(300)))
    tell(ten, *(Question(float(i), "y", (url(7), url(8)), ()) for i in range(100)), Question(0.0, "z", last))
    weight = Embarrassment(ten.partition)
    found = columns(ten, weight)(every(ten)).importance
    shown, opened = np.zeros(PLACES), np.zeros(PLACES)
    shown[:3], opened[0] = (401, 401, 301), 150
    chance = click_chances(opened, shown)
    assert chance[0] == pytest.approx((150 + 4) / 411)
    expected = {2: 300 * chance[0] + chance[2], 3: 301 * chance[1], 4: 300 * chance[2] + chance[0],
                7: 100 * chance[0], 8: 100 * chance[1]}  # fmt: skip
    whole = importance(ten).sum() * (1 - FLOOR) / sum(expected.values())
    for page, times in expected.items():
        assert found[page + 1] == pytest.approx(FLOOR * importance(ten)[page + 1] + whole * times)
    assert found[8] > found[4]  # a third as often, at the first place, and never opened


def test_what_people_ask_about_multiplies_importance(ten):
    ten.visit(url(5), ten.page("Green tea"))
    ten.visit(url(6), ten.page("Tea"))
    tell(ten, *(Question(float(i), "green tea") for i in range(100)))
    ratio = worth(ten, "query_match") / importance(ten)
    assert ratio[6] == pytest.approx(FLOOR + (1 - FLOOR) * 1.0 / 0.5)
    assert ratio[7] == pytest.approx(FLOOR + (1 - FLOOR) * 0.5 / 0.5)
    assert ratio[1] == pytest.approx(FLOOR)


@pytest.mark.parametrize("name", WEIGHTS)
def test_questions_about_a_crawl_see_the_same_worth(ten, name):
    tell(ten, *(Question(float(i), "page 3", (url(3),), (url(3),)) for i in range(200)))
    slots = every(ten)
    ten.save()
    view = View(ten.partition, Config(weight=name, newcomers="alone"), ten.now)
    plain = View(ten.partition, Config(weight="importance", newcomers="alone"), ten.now)
    asked = view.candidates(slots).importance / plain.candidates(slots).importance
    assert asked.argmax() == (0 if name in ("importance", "quality", "site") else 4)
    assert view.importance.tolist() == plain.importance.tolist()


@pytest.mark.parametrize("name", WEIGHTS[1:])
@pytest.mark.filterwarnings("error")
def test_importance_without_measure_is_left_as_it_is(made, name):
    """What AOPIC says before any cash has moved."""
    made.seed(f"{SITE}/", f"{SITE}/a", f"{SITE}/b")
    tell(made, *(Question(float(i), "a", (f"{SITE}/a",), (f"{SITE}/a",)) for i in range(50)))
    weight, plain = weight_of(name, made.partition), columns(made)

    def measureless(slots: Slots) -> Pages:
        pages = plain(slots)
        return replace(pages, importance=np.full(len(slots), 1e308))

    weight.begin(measureless)
    found = [weight.worth(every(made), measureless(every(made)).importance)]
    made.now += 1000.0
    made.visit(f"{SITE}/", made.page("Home"))
    weight.begin(plain)
    found += [weight.worth(every(made), plain(every(made)).importance) for _ in range(2)]
    assert np.isfinite(found).all()
    assert max(found[1].max(), found[2].max()) < 10.0


def test_why_tells_that_the_weight_has_a_say(ten):
    tell(ten, *(Question(float(i), "", (), (url(3),)) for i in range(200)))
    ten.save()
    view = View(ten.partition, Config(weight="access", newcomers="alone"), ten.now)
    times, because = wanted(view, 4, never=False)
    assert times > 1.5
    assert because == "weight = access"
    assert wanted(view, 5, never=True)[0] == pytest.approx(FLOOR)


def test_why_tells_that_a_policy_does_not_ask_for_the_weight(ten):
    tell(ten, *(Question(float(i), "", (), (url(3),)) for i in range(200)))
    ten.save()
    settings = {"policy": "cycle", "newcomers": "alone"}
    view = View(ten.partition, Config(weight="learned", **settings), ten.now)
    sentence = "cycle does not ask what pages are worth, so weight = learned changes nothing"
    assert wanted(view, 4, never=False) == (1.0, sentence)
    assert wanted(View(ten.partition, Config(**settings), ten.now), 4, never=False) == (1.0, "")


def test_told_of_nothing_a_crawl_by_access_makes_the_requests_of_one_by_importance():
    assert Config().weight == "access"
    world = comparison.BenchWorld(3, 120, 6.0, 10.0, 10.0)
    asked = [relive(world.web(endless=False), 10.0, 10.0, weight=weight).asked for weight in ("importance", "access")]
    assert {page: at.tolist() for page, at in asked[0].items()} == {page: at.tolist() for page, at in asked[1].items()}
    assert sum(map(len, asked[0].values())) > 50


def test_what_people_open_is_kept_fresher():
    """As bench/weights.py, smaller: demand that has nothing to do with links, and no page that is most of it."""
    fresh = np.zeros(2)
    for seed in (1, 2):
        world, draw = comparison.BenchWorld(seed, 120, 6.0, 10.0, 30.0), np.random.default_rng(seed)
        web = world.web(endless=False)
        asked = np.array([min(draw.zipf(1.5), 30) * np.isinf(web.vanishes_at(number)) for number in range(120)], float)
        opened = draw.choice(120, 2000, p=asked / asked.sum())
        usage = [Question(float(at), "", (), (web.urls[page],)) for at, page in enumerate(opened)]
        for row, weight in enumerate(("importance", "access")):
            life = relive(world.web(endless=False), 10.0, 30.0, usage=usage, weight=weight)
            fresh[row] += life.freshness(asked, life.ended_at - 15.0, life.ended_at)
    assert fresh[1] > 1.16 * fresh[0]  # measured 1.29
