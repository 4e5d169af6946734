"""What visits teach about change: evidence, whose dates are believed, when a visit is cheap."""

from email.utils import formatdate

import numpy as np
import pytest

from evercrawl.change import gamma
from evercrawl.change.comebacks import Comebacks
from evercrawl.change.prior import SHAPE, SitePriors
from evercrawl.crawl.learn.changes import Changes
from evercrawl.model.rates import priors_of
from evercrawl.store.journal.events import DATE_FALSE, DATE_TRUE, LISTED_FALSE, LISTED_TRUE, VALIDATED, Visit
from evercrawl.store.records.evidence import RateEvidence

SITE = "http://example.org"
PAGE = f"{SITE}/a"
DATES = DATE_TRUE | DATE_FALSE
LISTED = LISTED_TRUE | LISTED_FALSE


@pytest.fixture
def begun(made):
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a"))
    return made


def last(made) -> Visit:
    *_, (_, _, event) = made.partition.journal.replay()
    assert isinstance(event, Visit)
    return event


def body(words: str, nonce: str = "") -> bytes:
    return f"<title>t</title><p class='{nonce}'>{words}</p>".encode()


def dated(made, before_s: float) -> str:
    """Return the date so long before the next visit, which is 10 s from now."""
    return formatdate(made.now + 10.0 - before_s, usegmt=True)


def evidence(made) -> tuple[float, float]:
    return RateEvidence.unpack(last(made).evidence)


def test_the_first_visit_teaches_nothing_of_change(begun):
    begun.visit(PAGE, body("one"))
    assert last(begun).evidence == b""
    assert last(begun).changed_at == begun.now


def test_an_unchanged_visit_adds_its_interval(begun):
    begun.visit(PAGE, body("one"))
    begun.visit(PAGE, body("one"))
    assert evidence(begun) == pytest.approx((0.0, 10.0))
    assert last(begun).changed_at == 0.0


def test_a_change_adds_to_the_shape_as_the_posterior_has_it(begun):
    begun.visit(PAGE, body("one"))
    prior = SitePriors(1).prior(0)
    begun.visit(PAGE, body("two"))
    assert evidence(begun) == pytest.approx(gamma.learn_evidence(0.0, 0.0, prior, 10.0, True), rel=1e-6)
    assert evidence(begun)[0] > 0.5
    assert last(begun).changed_at == begun.now


def test_other_bytes_around_the_same_words_are_no_change_of_the_page(begun):
    begun.visit(PAGE, body("one", "x"))
    begun.visit(PAGE, body("one", "y"))
    assert evidence(begun) == pytest.approx((0.0, 10.0))
    assert last(begun).changes == 1  # it is all the same another content, and archived


def test_trouble_teaches_nothing_and_does_not_break_the_interval(begun):
    begun.visit(PAGE, body("one"))
    begun.visit(PAGE, b"", 500)
    assert last(begun).evidence == b""
    begun.visit(PAGE, body("one"))
    assert evidence(begun) == pytest.approx((0.0, 20.0))


def test_what_was_cut_short_teaches_nothing(begun):
    begun.visit(PAGE, body("one"))
    begun.visit(PAGE, body("on"), truncated=True)
    assert last(begun).evidence == b""


def test_evidence_fades(begun):
    begun.visit(PAGE, body("one"))
    for _ in range(200):
        begun.visit(PAGE, body("one"))
    shape, scale_s = evidence(begun)
    assert shape == 0.0
    assert scale_s == pytest.approx(10.0 / (1.0 - np.exp(-0.05)), rel=0.01)  # not 2,000 s


def test_dates_are_believed_once_they_have_proved_true(begun):
    begun.visit(PAGE, body("0"), last_modified=dated(begun, 100.0))
    for number in range(1, 4):
        begun.visit(PAGE, body(f"{number}"), last_modified=dated(begun, 7.0))
        assert last(begun).flags & DATES == DATE_TRUE
        assert last(begun).changed_at == begun.now
    before = evidence(begun)
    begun.visit(PAGE, body("4"), last_modified=dated(begun, 7.0))
    kept = np.exp(-0.05)
    assert last(begun).changed_at == pytest.approx(begun.now - 7.0, abs=1.0)
    assert evidence(begun) == pytest.approx((before[0] * kept + 1.0, before[1] * kept + 7.0), abs=1.0)
    assert evidence(begun)[0] == pytest.approx(before[0] * kept + 1.0)


def test_a_date_that_stays_while_the_page_changes_is_false(begun):
    old = dated(begun, 1000.0)
    begun.visit(PAGE, body("one"), last_modified=old)
    begun.visit(PAGE, body("two"), last_modified=old)
    assert last(begun).flags & DATES == DATE_FALSE
    begun.visit(PAGE, body("two"), last_modified=old)
    assert last(begun).flags & DATES == 0  # nothing changed, and it says so
    begun.visit(PAGE, body("two"), last_modified=dated(begun, 7.0))
    assert last(begun).flags & DATES == DATE_FALSE


def test_notices_are_held_against_what_the_visit_saw(begun):
    notices = begun.changes.notices
    begun.visit(PAGE, body("one"))
    slot = last(begun).slot
    for words, flag in (("two", LISTED_TRUE), ("two", LISTED_FALSE)):
        begun.learner.admit_listing([PAGE], [begun.now + 5.0], begun.now + 5.0)
        assert notices.date(slot) == begun.now + 5.0
        begun.visit(PAGE, body(words))
        assert last(begun).flags & LISTED == flag
        assert notices.date(slot) == 0.0
    begun.learner.admit_listing([PAGE], [begun.now - 5.0], begun.now + 1.0)
    assert notices.date(slot) == 0.0  # that was before the last visit
    row = begun.state.accounts.sites[0]
    assert (row["listed_true"], row["listed_false"]) == (1, 1)


def test_a_visit_is_cheap_where_validators_are_heeded(begun):
    begun.visit(PAGE, body("one"), etag='"1"')
    assert last(begun).flags & VALIDATED
    begun.visit(PAGE, b"", 304)
    assert last(begun).flags & VALIDATED
    begun.visit(PAGE, b"", 500)
    assert last(begun).flags & VALIDATED  # trouble says nothing of it
    begun.visit(PAGE, body("one"), etag='"1"')
    assert not last(begun).flags & VALIDATED  # it was asked with the validator, and sent it all the same
    begun.visit(f"{SITE}/", begun.page("Home", "/a"))
    assert not last(begun).flags & VALIDATED


def test_priors_are_the_same_from_the_records(begun):
    begun.visit(PAGE, body("0"))
    for number in range(30):
        begun.visit(PAGE, body(f"{number // 2}"))
    learned, again = begun.changes.priors, priors_of(begun.state)
    assert again.prior(0)[0] == SHAPE
    assert again.scale_s(0) < SitePriors(1).scale_s(0)  # it changes far more often than is thought of pages unseen
    assert learned.scale_s(0) == pytest.approx(again.scale_s(0), rel=0.5)  # it was fitted a few visits ago


def test_deaths_are_pages_found_gone_that_were_there_by_the_time_that_all_were_watched(begun):
    changes = begun.changes
    begun.visit(PAGE, b"", 404)
    assert changes.notes() == {}, "it was never there"
    begun.visit(PAGE, body("one"))
    begun.visit(PAGE, body("one"))
    begun.visit(PAGE, b"", 500)
    begun.visit(PAGE, body("two"))
    assert (changes.deaths.gone, changes.deaths.watched_s) == (0, pytest.approx(30.0))
    for _ in range(3):
        begun.visit(PAGE, b"", 404)
    assert (changes.deaths.gone, changes.deaths.watched_s) == (1, pytest.approx(40.0)), "once is enough"
    begun.state.notes.update(changes.notes())
    again = Changes(begun.state, changes.notices)
    assert again.deaths.per_s == changes.deaths.per_s
    assert again.notes() == changes.notes()


def test_a_page_found_gone_after_a_failed_visit_may_have_vanished_before(begun):
    for status in (200, 500, 404):
        begun.visit(PAGE, body("one"), status)
    assert (begun.changes.deaths.gone, begun.changes.deaths.watched_s) == (0, 0.0)


def test_of_pages_that_vanish_on_names_that_cost_nothing_five_count_and_on_sites_each(begun):
    gone = []
    begun.limited(scope="any")
    for suffix in ("github.io", "test"):
        urls = [f"http://f{i}.{suffix}/" for i in range(8)]
        begun.visit(f"{SITE}/", begun.page(f"Home {suffix}", *urls))
        for url in urls:
            begun.visit(url, body("one"))
            begun.visit(url, b"", 404)
        gone.append(begun.changes.deaths.gone)
    assert gone == [5, 13]


def test_of_pages_that_return_on_names_that_cost_nothing_five_count(begun):
    begun.limited(scope="any")
    urls = [f"http://f{i}.github.io/" for i in range(8)]
    begun.visit(f"{SITE}/", begun.page("Home", *urls))
    for url in urls:
        begun.visit(url, body("one"))
        begun.visit(url, b"", 404)
        begun.visit(url, body("one"))
    assert begun.changes.comebacks.back == 5


def test_a_page_is_not_watched_while_it_is_gone(begun):
    changes = begun.changes
    for status in (200, 200, 404, 404, 200, 200):
        begun.visit(PAGE, body("one"), status)
    assert (changes.deaths.gone, changes.deaths.watched_s) == (1, pytest.approx(30.0)), "not 20 s more"


def test_comebacks_are_pages_found_there_after_they_were_gone_by_the_time_in_which_they_could_be(begun):
    changes, expected = begun.changes, Comebacks()
    begun.visit(PAGE, body("one"))
    begun.visit(PAGE, b"", 404)
    assert "back_pages" not in changes.notes()
    for gone_s, status in ((10.0, 404), (20.0, 200)):
        begun.visit(PAGE, body("one"), status)
        expected.learn(gone_s, 10.0, back=int(status == 200))
    assert (changes.comebacks.back, changes.comebacks.watched_s) == (1, pytest.approx(expected.watched_s))
    begun.visit(PAGE, b"", 404)
    begun.visit(PAGE, b"", 503)
    begun.visit(PAGE, body("one"))
    assert changes.comebacks.back == 1, "a visit in vain tells nothing of it"
    begun.state.notes.update(changes.notes())
    again = Changes(begun.state, changes.notices)
    assert again.comebacks.per_s == changes.comebacks.per_s
    assert again.notes() == changes.notes()


@pytest.mark.parametrize(
    ("before", "location", "back"),
    [
        ("", "/a/", 1),  # it moved, to where nobody has looked
        ("", "/b", 0),  # which is there, and was all the time
        ("", "/a", 0),  # a ring
        ("", "http://elsewhere.example/", 0),
        ("/b", "/b", 1),  # as it did before it was gone
        ("/a/", "/b", 0),
    ],
)
def test_a_page_once_gone_is_back_where_it_leads_to_what_was_not_to_be_had_meanwhile(begun, before, location, back):
    changes = begun.changes
    begun.visit(f"{SITE}/", begun.page("Home", "/a", "/b"))
    begun.visit(f"{SITE}/b", body("another"))
    begun.visit(PAGE, body("one"))
    if before:
        begun.visit(PAGE, b"", 301, location=before)
    begun.visit(PAGE, b"", 404)
    begun.visit(PAGE, b"", 301, location=location)
    assert changes.comebacks.back == back
    watched_s = changes.comebacks.watched_s
    assert watched_s > 0
    begun.visit(PAGE, body("one"))
    assert (changes.comebacks.back, changes.comebacks.watched_s) == (back, watched_s), "it is not awaited any more"


def test_a_visit_that_an_announcement_brought_teaches_how_long_the_change_took_to_come(begun):
    """The first that was announced, 4 s after the visit before, not the last; and that the site announces changes.

    Half of its changes, at first: as many again may have come in these 4 s, and nobody would know.
    """
    notices = begun.changes.notices
    begun.visit(PAGE, body("one"))
    assert notices.announced_share(np.zeros(1, np.uint32)) is None
    for after_s in (4.0, 7.0):
        begun.learner.admit_listing([PAGE], [begun.now + after_s], begun.now + after_s)
    begun.visit(PAGE, body("two"))
    assert evidence(begun) == pytest.approx((1.0, 2.0))
    part = notices.part(0)
    assert 0.0 < part < 1.0
    before = evidence(begun)
    begun.learner.admit_listing([PAGE], [begun.now + 4.0], begun.now + 4.0)
    begun.visit(PAGE, body("two"))
    assert 0.9 < evidence(begun)[0] <= before[0], "a false alarm is no change"


def test_a_change_of_which_nothing_was_said_is_one_of_those_that_are_not_announced(begun):
    """It came at the rate of the others; of those that are announced it is known that none did."""
    notices = begun.changes.notices
    for number in range(8):
        begun.visit(PAGE, body(f"{number}"))
        begun.learner.admit_listing([PAGE], [begun.now + 4.0], begun.now + 4.0)
    begun.visit(PAGE, body("8"))
    part, held = notices.part(0), evidence(begun)
    assert part > 0.4
    begun.visit(PAGE, body("9"))
    kept = gamma.forget(*held, np.exp(-0.05))
    prior = begun.changes.priors.prior(0)
    quiet_s = part * 10.0
    expected = gamma.learn_evidence(kept[0], kept[1] + quiet_s, prior, 10.0 - quiet_s, True)
    assert evidence(begun) == pytest.approx(expected, rel=0.02)
    assert evidence(begun)[1] > gamma.learn_evidence(*kept, prior, 10.0, True)[1] + 1.0
