"""What visits taught survives being packed."""

import math

import msgspec
import numpy as np
import pytest

from evercrawl.store.journal.events import Visit
from evercrawl.store.records.evidence import (
    AnnouncementEvidence,
    PredictedFresh,
    pack_predicted,
    pack_survival,
    unpack_survival,
)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_prediction_and_its_truth_come_back(fresh):
    for probability in (0.0, 1e-6, 0.3333, 0.5, 0.99994, 1.0, *np.random.default_rng(1).random(50).tolist()):
        told = PredictedFresh.unpack(pack_predicted(probability, fresh))
        assert told.probability == pytest.approx(probability, abs=0.5e-4 + 1e-12)
        assert told.fresh is fresh


@pytest.mark.parametrize(("probability", "fresh"), [(math.nan, True), (0.5, None), (math.nan, None)])
def test_what_is_not_known_is_nothing(probability, fresh):
    assert pack_predicted(probability, fresh) == 0


def test_beyond_the_bounds_is_at_the_bound():
    assert PredictedFresh.unpack(pack_predicted(1.0 + 1e-9, True)) == (1.0, True)
    assert PredictedFresh.unpack(pack_predicted(-1e-9, False)) == (0.0, False)


def test_a_prediction_costs_a_visit_three_bytes_at_most():
    nothing, something = (
        msgspec.msgpack.encode(Visit(1, 1, 1.0, 1, 200, predicted_fresh=number))
        for number in (0, pack_predicted(1.0, True))
    )
    assert len(something) - len(nothing) == 2


def test_a_survival_comes_back_to_a_step_of_its_logarithm_and_costs_three_bytes_at_most():
    for level in np.exp(np.linspace(math.log(1e-8), math.log(600.0), 200)).tolist():
        number = pack_survival(math.exp(-level))
        assert -math.log(unpack_survival(number)) == pytest.approx(level, rel=0.006, abs=1e-12)
        assert len(msgspec.msgpack.encode(number)) <= 3
    assert unpack_survival(pack_survival(1.0)) == 1.0
    assert 0.0 < unpack_survival(pack_survival(0.0)) < 1e-300


def test_what_a_site_announces_comes_back():
    for one in (0.0, 1e-3, 0.02, 0.7, 1.0, 33.0, 1e4):
        for other in (0.0, 0.3, 1.0):
            told = AnnouncementEvidence.unpack(AnnouncementEvidence(one, other).pack())
            assert told == (pytest.approx(one, rel=0.06), pytest.approx(other, rel=0.06))


def test_many_announcements_add_up_to_what_they_should():
    numbers = np.exp(np.random.default_rng(1).normal(-2.0, 1.5, 10_000))
    told = [AnnouncementEvidence.unpack(AnnouncementEvidence(one, 0.0).pack()) for one in numbers.tolist()]
    assert sum(each.listened for each in told) == pytest.approx(numbers.sum(), rel=0.005)


def test_to_expect_no_announcement_is_not_to_say_nothing():
    assert AnnouncementEvidence(0.0, 0.0).pack() > 0
    assert AnnouncementEvidence(-1.0, 0.0).pack() == AnnouncementEvidence(0.0, 0.0).pack()


def test_announcements_take_two_bytes_whatever_is_said():
    assert AnnouncementEvidence(1e300, 1e300).pack() == 1 << 16
