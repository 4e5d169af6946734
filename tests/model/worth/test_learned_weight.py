"""What people open teaches what pages are worth that nobody was ever shown."""

from dataclasses import replace

import numpy as np
import pytest
from weighing import SITE, columns, every, importance, tell, url, worth

from evercrawl.model.worth.learned_weight import LearnedWeight
from evercrawl.model.worth.usage import Question
from evercrawl.model.worth.weights import FLOOR
from evercrawl.schedule.pages import Pages
from evercrawl.types import Slots


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
    weight = LearnedWeight(made.partition)
    found = columns(made, weight)(every(made)).importance
    assert weight.coefficients["document"] > 1.0
    document, page = made.state.find([f"{SITE}/new.pdf", f"{SITE}/new.htm"])
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
    weight = LearnedWeight(made.partition)
    found = columns(made, weight)(every(made)).importance[1:]
    assert weight.coefficients["document"] > 1
    never_shown = found[20:30]
    assert never_shown.min() > 3 * found[50:].max()
    assert never_shown.max() < found[:20].max()
    assert found.sum() + worth(made, "learned")[0] == pytest.approx(importance(made).sum(), rel=0.1)


def _three_kinds(made, *shown_kinds: str) -> tuple[LearnedWeight, tuple[float, ...]]:
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
    weight = LearnedWeight(made.partition)
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
    found = columns(made, LearnedWeight(made.partition))(every(made)).importance[1:]
    plain = importance(made)[1:]
    assert found[:10].mean() > 0.5 * found[20:].mean() > found[10:20].mean()
    assert (found >= FLOOR * plain * (1 - 1e-9)).all()


def test_where_only_openings_are_told_pages_nobody_named_count_as_never_opened(made):
    made.seed(f"{SITE}/")
    names = [f"/{i:02}{kind}" for kind in (".htm", ".pdf") for i in range(30)]
    made.visit(f"{SITE}/", made.page("Home", *names))
    tell(made, *(Question(float(i), "", (), (f"{SITE}{names[i % 30]}",)) for i in range(400)))
    weight = LearnedWeight(made.partition)
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
    weight = LearnedWeight(made.partition)
    columns(made, weight)(every(made))
    assert weight.coefficients["document"] > 0.3


def test_a_few_openings_leave_it_to_importance(ten):
    tell(ten, Question(1.0, "", (), (url(1),)))
    ratio = worth(ten, "learned") / importance(ten)
    others = np.delete(ratio, 2)
    assert others.max() / others.min() < 1.5


def _shown(made, count: int) -> list[str]:
    """Have a crawl know of so many pages, the first ten of which are read, shown and opened, all alike."""
    made.seed(f"{SITE}/")
    names = [f"/{i:03}" for i in range(count)]
    made.visit(f"{SITE}/", made.page("Home", *names))
    for name in names[:10]:
        made.visit(f"{SITE}{name}", made.page(name))
    draw = np.random.default_rng(3)
    for i in range(1000):
        four = [f"{SITE}{names[place]}" for place in draw.permutation(10)[:4].tolist()]
        tell(made, Question(float(i), "", tuple(four), (four[int(draw.integers(4))],)))
    return names


@pytest.mark.parametrize("count", [100, 1000, 10_000])
def test_however_many_pages_nobody_read_they_share_what_importance_they_have(made, count):
    """Openings have nothing to do with importance here, among those that were shown."""
    _shown(made, count)
    weight, plain = LearnedWeight(made.partition), columns(made)

    def shared(slots: Slots) -> Pages:
        """All that were not read have as much as one that was, together."""
        known = np.concatenate([[1.0], np.logspace(-1, 0, 10), np.full(count - 10, 0.5 / (count - 10))])
        return replace(plain(slots), importance=known[slots])

    weight.begin(shared)
    found = weight.worth(every(made), shared(every(made)).importance)
    assert weight.coefficients["importance"] < 0.2
    assert found[11:].sum() < 3.0 * found[1:11].mean()
    assert found.sum() == pytest.approx(shared(every(made)).importance.sum())


def test_a_crawl_that_goes_on_values_pages_as_one_that_begins_does(made):
    """What could be shown grows with what is read, while nobody asks anything more."""
    names = _shown(made, 300)
    running = columns(made, LearnedWeight(made.partition))
    running(every(made))
    for name in names[10:250]:
        made.visit(f"{SITE}{name}", made.page(name))
        running(every(made)[-1:])
    anew = columns(made, LearnedWeight(made.partition))(every(made)).importance
    assert running(every(made)).importance == pytest.approx(anew, rel=0.2)
