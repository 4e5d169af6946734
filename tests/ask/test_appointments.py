"""Announcements of visits."""

import math

import numpy as np
import pytest

from evercrawl.ask.appointments import LEAST, WANTED, AppointmentBook


def lived(book: AppointmentBook, errors: np.ndarray, lead_s: float) -> None:
    for page, error in enumerate(errors.tolist()):
        book.announce(page, 100.0 * page, 100.0 * page + lead_s)
        book.came(page, 100.0 * page + max(lead_s + error, 0.0))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("draw", ["normal", "skewed", "growing", "jumping"])
def test_four_in_five_come_within_the_interval_whatever_the_errors_are(seed, draw):
    random = np.random.default_rng(seed)
    errors = {
        "normal": random.normal(0.0, 3.0, 1500),
        "skewed": random.exponential(4.0, 1500),
        "growing": random.normal(0.0, 1.0, 1500) * np.linspace(1.0, 6.0, 1500),
        "jumping": np.where(np.arange(1500) < 700, random.normal(0, 1, 1500), random.normal(5, 2, 1500)),
    }[draw]
    book = AppointmentBook()
    lived(book, errors, 40.0)
    shown = book.shown()
    assert shown["judged"] == 1500 - LEAST
    assert 0.75 <= shown["kept"] <= 0.85, WANTED


def test_nothing_is_told_before_some_visits_were_judged_and_nothing_before_now():
    book = AppointmentBook()
    assert math.isnan(book.announce(1, 0.0, 10.0).high_at)
    lived(book, np.full(100, -8.0), 10.0)
    due, low, high = book.interval(0.0, 4.0)
    assert (due, math.isnan(low), math.isnan(high)) == (4.0, True, True), "another lead"
    due, low, high = book.interval(1000.0, 1010.0)
    assert 1000.0 <= low <= high <= 1010.0
    assert book.interval(1000.0, 900.0)[0] == 1000.0, "what is overdue is due now"


def test_a_visit_is_held_against_what_was_told_first_and_others_are_left_aside():
    book = AppointmentBook()
    lived(book, np.zeros(50), 10.0)
    before = book.shown()["judged"]
    book.came(12345, 3.0)
    book.announce(7, 10_000.0, 10_010.0)
    book.announce(7, 10_005.0, 10_100.0)
    book.came(7, 10_010.0)
    assert (book.shown()["judged"], book.shown()["kept"]) == (before + 1, 1.0)
