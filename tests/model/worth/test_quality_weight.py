"""Quality is what popularity grows to: two looks at importance tell it, of one scheme."""

import msgspec
import numpy as np
import pytest
from weighing import SITE, columns, every, importance, worth

from evercrawl.config import Config
from evercrawl.crawl.switching import switch
from evercrawl.model.policy.schemes import scheme_of, stored
from evercrawl.model.view import View
from evercrawl.model.worth.quality_weight import POPULARITY_FILE, Quality, quality
from evercrawl.parse.digest import checksum
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual
from evercrawl.simulate.surroundings.network import inline


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
    file.write_bytes(old + b"\n" + body + checksum(old + body).to_bytes(8, "little"))
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
