"""What a page is worth follows what people do as far as there is enough of it, and leaves none out."""

import os
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from evercrawl.config import Config
from evercrawl.crawl import regression
from evercrawl.crawl.changes import priors_of
from evercrawl.crawl.columns import Columns
from evercrawl.crawl.focus import wanted
from evercrawl.crawl.learned_weight import Learned
from evercrawl.crawl.notices import Notices
from evercrawl.crawl.page_features import NAMES, features
from evercrawl.crawl.quality_weight import POPULARITY_FILE, Quality, quality
from evercrawl.crawl.schemes import scheme_of, stored
from evercrawl.crawl.switching import switch
from evercrawl.crawl.usage import Question, UsageWriter
from evercrawl.crawl.view import View
from evercrawl.crawl.weights import FLOOR, PLACES, WEIGHTS, Embarrassment, click_chances, weight_of
from evercrawl.importance.push import Push
from evercrawl.parse.digest import digest, keys
from evercrawl.parse.sites import site
from evercrawl.schedule import Pages
from evercrawl.simulate import comparison
from evercrawl.simulate.clock import VirtualClock, run_virtual
from evercrawl.simulate.lives import relive
from evercrawl.simulate.network import inline
from evercrawl.store import media_kind
from evercrawl.store.partition import Partition
from evercrawl.types import Slots

SITE = "http://example.org"
OF_USE = tuple(name for name in WEIGHTS if name not in ("importance", "quality"))


def columns(made, weight=None, scheme=None):
    return Columns(
        made.state, scheme or Push(), priors_of(made.state), Notices(made.state.accounts), in_bytes=False, weight=weight
    )


def every(made):
    return np.arange(made.state.known.count, dtype=np.uint32)


def worth(made, name):
    return columns(made, weight_of(name, made.partition))(every(made)).importance


def importance(made):
    return columns(made)(every(made)).importance


def tell(made, *questions: Question):
    UsageWriter(made.directory).add(questions, once=False)


@pytest.fixture
def ten(made):
    """Ten pages, half of them read, that matter differently."""
    made.seed(f"{SITE}/")
    names = [f"/{i}" for i in range(9)]
    made.visit(f"{SITE}/", made.page("Home", *names))
    for i in range(4):
        made.visit(f"{SITE}/{i}", made.page(f"Page {i}", *names[i + 1 :]))
    return made


def url(i):
    return f"{SITE}/{i}"


def test_importance_itself_needs_nobody(ten):
    assert weight_of("importance", ten.partition) is None


@pytest.mark.parametrize("name", OF_USE)
def test_without_use_a_page_is_worth_its_importance_and_that_is_said(ten, name):
    assert worth(ten, name).tolist() == importance(ten).tolist()
    assert "evercrawl usage" in weight_of(name, ten.partition).message
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
    assert worth(ten, "access") == pytest.approx(expected)
    assert worth(ten, "access").sum() == pytest.approx(total)


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


def test_a_regression_finds_the_coefficients_that_made_the_counts():
    draw = np.random.default_rng(5)
    rows = np.column_stack([np.ones(4000), draw.normal(size=(4000, 3))])
    true = np.array([0.5, 1.0, -0.7, 0.0])
    events = draw.poisson(np.exp(rows @ true)).astype(np.float64)
    found = regression.fit(rows, events, np.ones(4000), np.zeros(4), np.full(4, 1e-6))
    assert np.abs(found - true).max() < 0.05
    assert regression.spread(events, np.ones(4000), regression.expectation(rows, found)) > 10
    mixed = draw.negative_binomial(2.0, 2.0 / (2.0 + np.exp(rows @ true))).astype(np.float64)
    assert regression.spread(mixed, np.ones(4000), np.exp(rows @ true)) == pytest.approx(2.0, rel=0.4)


def test_rows_that_stand_for_many_count_as_many():
    rows, events = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, 6.0])
    once = regression.fit(np.repeat(rows, (3, 1), 0), np.repeat(events, (3, 1)), np.ones(4), np.zeros(2), np.ones(2))
    assert regression.fit(rows, events, np.array([3.0, 1.0]), np.zeros(2), np.ones(2)) == pytest.approx(once)


def test_events_count_for_the_opportunities_there_were():
    draw = np.random.default_rng(6)
    rows = np.column_stack([np.ones(4000), draw.normal(size=4000)])
    exposure, true = np.exp(draw.normal(size=4000) + rows[:, 1]), np.array([0.3, -0.5])
    events = draw.poisson(exposure * np.exp(rows @ true)).astype(np.float64)
    found = regression.fit(rows, events, np.ones(4000), np.zeros(2), np.full(2, 1e-6), exposure)
    assert np.abs(found - true).max() < 0.05


def test_without_events_the_prior_stands():
    prior = np.array([-1.0, 1.0])
    found = regression.fit(np.ones((2, 2)), np.full(2, np.exp(0.0)), np.ones(2), prior, np.ones(2))
    assert found == pytest.approx(prior)


def test_features_tell_pages_apart():
    urls = [f"{SITE}/", f"{SITE}/a/", f"{SITE}/find?q=1", f"{SITE}/2024/x.pdf", f"{SITE}/x.png", f"{SITE}/feed.xml"]
    rows = features(urls, [0, 1, 2, 3, 4, 255])
    assert np.isfinite(rows).all()
    for name, row in (("front", 0), ("folder", 1), ("query", 2), ("dynamic", 2), ("dated", 3), ("document", 3),
                      ("media", 4), ("data", 5)):  # fmt: skip
        assert rows[:, NAMES.index(name)].nonzero()[0].tolist() == [row]
    assert features([], []).shape == (0, len(NAMES))


def kinds_of(state, *urls: str):
    cells = state.table.record[state.table.find(keys(list(urls)))]
    return [int(flags) >> media_kind.SHIFT & 7 for flags in state.records.rows["flags"][cells]]


def test_the_media_type_tells_the_kind_where_a_page_was_read():
    urls = [f"{SITE}/paper", f"{SITE}/File:tea.jpg", f"{SITE}/c.csv", f"{SITE}/x.pdf"]
    rows = features(urls, [1] * 4, [media_kind.DOCUMENT, media_kind.PAGE, media_kind.MEDIA, media_kind.UNKNOWN])
    assert rows[:, -3:].tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]]


def test_records_keep_the_kind_and_the_journal_tells_it_again(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/paper", "/moved", "/list"))
    made.visit(f"{SITE}/paper", b"%PDF-1.7", content_type="Application/PDF; version=1", etag='"1"')
    made.visit(f"{SITE}/list", b"a,b", content_type="text/csv")
    made.visit(f"{SITE}/moved", b"moved", 301, location="/paper")
    urls = [f"{SITE}{path}" for path in ("/", "/paper", "/list", "/moved")]
    assert kinds_of(made.state, *urls) == [1, 2, 3, 0]
    made.visit(f"{SITE}/paper", b"", 304, etag='"1"')
    made.visit(f"{SITE}/list", b"", 0, error="timeout")
    assert kinds_of(made.state, *urls) == [1, 2, 3, 0]
    made.visit(f"{SITE}/list", made.page("List"))
    assert kinds_of(made.state, *urls) == [1, 2, 1, 0]
    made.stop()
    for fold_all in (False, True):
        again = Partition(made.directory, keys, os.urandom, now=made.now, writable=False, fold_all=fold_all, site=site)
        assert kinds_of(again.state, *urls) == [1, 2, 1, 0]
        again.close()


def test_openings_of_what_is_served_as_a_document_count_for_documents(made):
    made.seed(f"{SITE}/")
    names = [f"/{letter}{i:02}" for letter in "pq" for i in range(15)]
    made.visit(f"{SITE}/", made.page("Home", *names, "/new.pdf", "/new.htm"))
    for name in names[:15]:
        made.visit(f"{SITE}{name}", name.encode(), content_type="application/pdf")
    for name in names[15:]:
        made.visit(f"{SITE}{name}", made.page(name))
    draw = np.random.default_rng(4)
    for i in range(300):
        shown = tuple(f"{SITE}{names[place]}" for place in draw.permutation(30)[:5])
        opened = tuple(url for url in shown if url[len(SITE) + 1] == "p")[:1]
        tell(made, Question(float(i), "x", shown, opened))
    weight = Learned(made.partition)
    found = columns(made, weight)(every(made)).importance
    assert weight.coefficients["document"] > 1.0
    document, page = made.state.table.find(keys([f"{SITE}/new.pdf", f"{SITE}/new.htm"]))
    assert found[document] > 2.0 * found[page]


def test_openings_of_a_kind_make_pages_of_that_kind_worth_more_that_were_never_shown(made):
    made.seed(f"{SITE}/")
    names = [f"/{i}.pdf" for i in range(30)] + [f"/{i}" for i in range(30)]
    made.visit(f"{SITE}/", made.page("Home", *names))
    draw = np.random.default_rng(1)
    pages = [f"{SITE}{name}" for name in names]
    shown = pages[:20] + pages[30:50]
    for i in range(400):
        five = tuple(shown[place] for place in draw.permutation(40)[:5])
        tell(made, Question(float(i), "x", five, (shown[int(draw.integers(20))],)))
    weight = Learned(made.partition)
    found = columns(made, weight)(every(made)).importance[1:]
    assert weight.coefficients["document"] > 1
    never_shown = found[20:30]
    assert never_shown.min() > 3 * found[50:].max()
    assert never_shown.max() < found[:20].max()
    assert found.sum() + worth(made, "learned")[0] == pytest.approx(importance(made).sum(), rel=0.1)


def _three_kinds(made, *shown_kinds: str) -> tuple[Learned, tuple[float, ...]]:
    """Return what is learned of thirty pages each of three kinds, where only the first is ever opened."""
    made.seed(f"{SITE}/")
    kinds = {kind: [f"/{i:02}{kind}" for i in range(30)] for kind in (".htm", ".pdf", ".png")}
    made.visit(f"{SITE}/", made.page("Home", *[name for names in kinds.values() for name in names]))
    draw = np.random.default_rng(1)
    pages = [f"{SITE}{name}" for kind in shown_kinds for name in kinds[kind]]
    for i in range(400):
        opened = f"{SITE}{kinds['.htm'][int(draw.integers(30))]}"
        shown = dict.fromkeys([opened, *(pages[place] for place in draw.permutation(len(pages))[:4])])
        tell(made, Question(float(i), "x", tuple(draw.permutation(list(shown)).tolist()), (opened,)))
    weight = Learned(made.partition)
    found = columns(made, weight)(every(made)).importance[1:]
    return weight, tuple(found.reshape(3, 30).mean(1).tolist())


def test_shown_and_never_opened_is_another_thing_than_never_shown(made):
    weight, (page, document, medium) = _three_kinds(made, ".htm", ".pdf")
    assert weight.coefficients["document"] < -1.5
    assert weight.coefficients["media"] == pytest.approx(0.0, abs=1e-6)  # nobody knows
    assert document < 0.2 * medium < medium < page


def test_nothing_is_learned_of_what_was_never_shown(made):
    weight, (page, document, medium) = _three_kinds(made, ".htm")
    assert weight.coefficients["document"] == pytest.approx(0.0, abs=1e-6)
    assert document == pytest.approx(medium)
    assert document == pytest.approx(page, rel=0.25)


def test_a_page_that_could_be_shown_and_was_not_is_worth_less_than_one_that_could_not(made):
    made.seed(f"{SITE}/")
    names = [f"/{i:02}.htm" for i in range(40)]
    made.visit(f"{SITE}/", made.page("Home", *names))
    for name in names[10:20]:
        made.visit(f"{SITE}{name}", made.page(name))
    draw, shown = np.random.default_rng(1), [f"{SITE}{name}" for name in names[:10]]
    for i in range(400):
        places = draw.permutation(10)[:4].tolist()
        tell(made, Question(float(i), "x", tuple(shown[place] for place in places), (shown[places[i % 4]],)))
    found = columns(made, Learned(made.partition))(every(made)).importance[1:]
    plain = importance(made)[1:]
    assert found[:10].mean() > 0.5 * found[20:].mean() > found[10:20].mean()
    assert (found >= FLOOR * plain * (1 - 1e-9)).all()


def test_where_only_openings_are_told_pages_nobody_named_count_as_never_opened(made):
    made.seed(f"{SITE}/")
    names = [f"/{i:02}{kind}" for kind in (".htm", ".pdf") for i in range(30)]
    made.visit(f"{SITE}/", made.page("Home", *names))
    tell(made, *(Question(float(i), "", (), (f"{SITE}{names[i % 30]}",)) for i in range(400)))
    weight = Learned(made.partition)
    columns(made, weight)(every(made))
    assert weight.coefficients["document"] < -1.5


def test_an_opening_where_few_look_counts_for_more(made):
    """Two kinds are opened equally often, one of them from the bottom of the list."""
    made.seed(f"{SITE}/")
    names = [f"/{i:02}{kind}" for kind in (".htm", ".pdf") for i in range(30)]
    made.visit(f"{SITE}/", made.page("Home", *names))
    draw = np.random.default_rng(2)
    for i in range(600):
        first, last = draw.integers(30, size=2).tolist()
        shown = [f"{SITE}{names[first]}", *(f"http://a.example/{k}" for k in range(8)), f"{SITE}{names[30 + last]}"]
        opened = [shown[-1]] if i % 3 == 0 else [shown[0]] if i % 3 == 1 else [shown[1]]
        tell(made, Question(float(i), "x", tuple(shown), tuple(opened)))
    for i in range(300):
        tell(made, Question(float(i), "y", tuple(f"http://b.example/{k}" for k in range(10)), ("http://b.example/0",)))
    weight = Learned(made.partition)
    columns(made, weight)(every(made))
    assert weight.coefficients["document"] > 0.3


def test_a_few_openings_leave_it_to_importance(ten):
    tell(ten, Question(1.0, "", (), (url(1),)))
    ratio = worth(ten, "learned") / importance(ten)
    others = np.delete(ratio, 2)
    assert others.max() / others.min() < 1.5


def test_quality_sees_growth_and_a_restart_goes_on(made):
    made.seed(f"{SITE}/", "http://a.example/", "http://b.example/")
    made.visit(f"{SITE}/", made.page("Home", "/old", "/new"))
    made.visit("http://a.example/", made.page("A", f"{SITE}/old"))
    made.now += 1000.0
    made.visit("http://b.example/", made.page("B"))
    weight = Quality(made.partition)
    seen = columns(made, weight)
    assert weight.message
    assert seen(every(made)).importance.tolist() == importance(made).tolist()  # nothing to compare with
    made.now += 1000.0
    made.visit("http://b.example/", made.page("B", f"{SITE}/new"))
    found, now = seen(every(made)).importance, importance(made)
    gain = found / now
    new, old = 4, 3
    assert gain[new] > 1.01 > 1.0 >= gain[old]
    assert (made.directory / POPULARITY_FILE).stat().st_size > 0
    again = Quality(made.partition)
    assert again.message == ""
    assert columns(made, again)(every(made)).importance == pytest.approx(found)
    made.visit("http://b.example/", made.page("B", f"{SITE}/new", f"{SITE}/newest"))
    assert seen(every(made)).importance[-1] == pytest.approx(importance(made)[-1])


def test_a_question_looks_at_importance_for_itself_alone(made, asked):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a"))
    made.now += 1000.0
    made.visit(f"{SITE}/a", made.page("A"))
    view = asked()
    before = sorted(path.name for path in made.directory.iterdir())
    view = View(view.partition, Config(weight="quality"), made.now)
    assert (view.candidates(np.arange(2, dtype=np.uint32)).importance > 0).all()
    assert sorted(path.name for path in made.directory.iterdir()) == before


def test_a_damaged_look_is_none(made):
    made.seed(f"{SITE}/")
    columns(made, Quality(made.partition))(every(made))
    file = made.directory / POPULARITY_FILE
    file.write_bytes(file.read_bytes()[:-9] + b"123456789")
    assert Quality(made.partition).message
    assert np.isfinite(worth(made, "quality")).all()


def _looked_at_twice(made) -> None:
    made.seed(f"{SITE}/", "http://a.example/")
    made.visit(f"{SITE}/", made.page("Home", "/old", "/new"))
    made.now += 1000.0
    made.visit("http://a.example/", made.page("A", f"{SITE}/old"))
    seen = columns(made, Quality(made.partition))
    seen(every(made))
    made.now += 1000.0
    made.visit("http://a.example/", made.page("A", f"{SITE}/new"))
    seen(every(made))


@pytest.mark.parametrize("goal", [stored("uniform"), stored("push", 0.1), stored("push", trusted=("example.org",))])
def test_what_another_scheme_says_is_no_growth(made, goal):
    _looked_at_twice(made)
    assert not Quality(made.partition).message
    made.save()
    run_virtual(switch(made.partition, goal, VirtualClock(), inline), start=made.now)
    weight = Quality(made.partition)
    assert weight.message  # it has to look twice again
    plain = columns(made, scheme=scheme_of(goal))
    seen = columns(made, weight, scheme_of(goal))
    assert seen(every(made)).importance.tolist() == plain(every(made)).importance.tolist()


def test_looks_from_before_schemes_were_noted_are_read(made):
    _looked_at_twice(made)
    file = made.directory / POPULARITY_FILE
    head, _, rest = file.read_bytes().partition(b"\n")
    body, noted = rest[:-8], msgspec.json.decode(head)
    assert noted["scheme"]["name"] == "push"
    old = msgspec.json.encode(noted["looks"])
    file.write_bytes(old + b"\n" + body + digest(old + body).to_bytes(8, "little"))
    assert not Quality(made.partition).message
    assert worth(made, "quality").tolist() != importance(made).tolist()


def test_quality_is_what_the_logistic_growth_leads_to():
    """By (20), with n / (r v) = 1: a page that grows logistically has the same quality at all times."""
    at, step = np.arange(0.0, 12.0, 1.0), 1e-5
    popularity = lambda t: 0.5 / (1 + 49 * np.exp(-0.5 * t))  # noqa: E731
    growth = (popularity(at + step) - popularity(at)) / popularity(at + step) / step
    assert growth + popularity(at) == pytest.approx(np.full(12, 0.5), rel=1e-4)
    found = quality(popularity(at + step), popularity(at), step)
    assert found == pytest.approx(0.1 * growth + popularity(at + step))


@pytest.mark.parametrize("name", WEIGHTS)
def test_questions_about_a_crawl_see_the_same_worth(ten, name):
    tell(ten, *(Question(float(i), "page 3", (url(3),), (url(3),)) for i in range(200)))
    slots = every(ten)
    ten.save()
    view = View(ten.partition, Config(weight=name, newcomers="alone"), ten.now)
    plain = View(ten.partition, Config(newcomers="alone"), ten.now)
    asked = view.candidates(slots).importance / plain.candidates(slots).importance
    assert asked.argmax() == (0 if name in ("importance", "quality") else 4)
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
    view = View(ten.partition, Config(weight="access", **settings), ten.now)
    sentence = "cycle does not ask what pages are worth, so weight = access changes nothing"
    assert wanted(view, 4, never=False) == (1.0, sentence)
    assert wanted(View(ten.partition, Config(**settings), ten.now), 4, never=False) == (1.0, "")


def test_what_people_open_is_kept_fresher():
    """As bench/weights.py, smaller: demand that has nothing to do with links, and no page that is most of it."""
    fresh = np.zeros(2)
    for seed in (1, 2, 3):
        world, draw = comparison.World(seed, 120, 6.0, 10.0, 50.0), np.random.default_rng(seed)
        web = world.web(endless=False)
        asked = np.array([min(draw.zipf(1.5), 30) * np.isinf(web.vanishes_at(number)) for number in range(120)], float)
        opened = draw.choice(120, 2000, p=asked / asked.sum())
        usage = [Question(float(at), "", (), (web.urls[page],)) for at, page in enumerate(opened)]
        for row, weight in enumerate(("importance", "access")):
            life = relive(world.web(endless=False), 10.0, 50.0, usage=usage, weight=weight)
            fresh[row] += life.freshness(asked, life.ended_at - 20.0, life.ended_at)
    assert fresh[1] > 1.1 * fresh[0]
