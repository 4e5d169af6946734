"""Dates: read, judged, believed."""

import math
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.change.dates import age_s, http_date, judge, notice, trusted, w3c_date

DAY = 86_400.0


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("Thu, 01 Jan 1970 00:00:10 GMT", 10.0),
        ("Thu, 01 Jan 1970 00:00:10", 10.0),
        ("Thu, 01 Jan 1970 00:00:10 -0000", 10.0),
        ("Thu, 01 Jan 1970 01:00:10 +0100", 10.0),
        ("01 Jan 1970 00:00:10 EST", 5 * 3600 + 10.0),
        ("Sat, 29 Feb 2020 12:00:00 GMT", 1582977600.0),
        ("Fri, 29 Feb 2019 12:00:00 GMT", None),
        ("Thu, 01 Jan 1970 25:00:10 GMT", None),
        ("Thu, 32 Jan 1970 00:00:10 GMT", None),
        ("0", None),
        ("-1", None),
        ("", None),
        ("Thu, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Thu, 01 Jan 1970 00:00:10 +9999", None),
    ],
)
def test_http_dates(text, at):
    assert http_date(text) == at


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1970", 0.0),
        ("1970-02", 31 * DAY),
        ("1970-02-03", 33 * DAY),
        (" 1970-01-02T00:00Z\n", DAY),
        ("1970-01-02T00:00:01z", DAY + 1),
        ("1970-01-02 00:00:01 +00:00", DAY + 1),
        ("1970-01-02T00:00:01.25Z", DAY + 1.25),
        ("1970-01-02T02:30:00+02:30", DAY),
        ("1970-01-01T19:00:00-0500", DAY),
        ("1970-01-02T00:00:00", DAY),
        ("Fri, 02 Jan 1970 00:00:00 +0000", DAY),
        ("1970-00-01", None),
        ("1970-02-30", None),
        ("1970-01-02T24:00Z", None),
        ("1970-1-2", None),
        ("0000-01-01", None),
        ("١٩٧٠-01-01", None),
        ("soon", None),
    ],
)
def test_w3c_dates(text, at):
    assert w3c_date(text) == at


@given(st.text(max_size=80) | st.from_regex(r"[0-9TZ:+. -]{1,40}") | st.from_regex(r"[A-Za-z]{3}, [0-9: +A-Z-]{1,30}"))
def test_any_text_will_do(text):
    for at in (http_date(text), w3c_date(text)):
        assert at is None or math.isfinite(at)


@given(st.integers(-62_135_596_800, 253_402_300_799))
def test_what_is_written_is_read(at):
    from email.utils import formatdate

    if at >= 0:
        assert http_date(formatdate(at, usegmt=True)) == at
    assert w3c_date(iso(at)) == at


def iso(at: int) -> str:
    """The days counted off the calendar of 400 years, so as not to lean on what is tested."""
    import datetime

    return (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=at)).isoformat() + "Z"  # noqa: DTZ001


def test_a_program_that_writes_the_hour_of_the_answer_is_found_out():
    assert judge(True, 100.0, 1000.0, 900.0, 1001.0) is None
    assert judge(False, 100.0, 1000.0, 900.0, 1001.0) is False
    assert age_s(1000.0, 1001.0, 100.0) is None


def test_dates_of_the_past_and_of_the_future_speak_against():
    assert judge(True, 100.0, 800.0, 700.0, 1000.0) is False
    assert judge(True, 100.0, 2000.0, 700.0, 1000.0) is False
    assert age_s(2000.0, 1000.0, 100.0) is None


def test_no_date_says_nothing():
    assert judge(True, 100.0, None, 700.0, 1000.0) is None
    assert judge(False, 100.0, 800.0, None, 1000.0) is None
    assert age_s(None, 1000.0, 100.0) is None


def test_a_date_within_the_interval_is_an_age():
    assert judge(True, 100.0, 950.0, 700.0, 1000.0) is True
    assert age_s(950.0, 1000.0, 100.0) == 50.0
    assert age_s(900.0, 1000.0, 100.0) == 100.0


@given(good=st.integers(0, 1000), bad=st.integers(0, 1000))
def test_good_visits_win_trust_and_bad_ones_lose_it(good, bad):
    assert trusted(good + 1, bad) >= trusted(good, bad) >= trusted(good, bad + 1)
    assert notice(good + 1, bad) >= notice(good, bad) >= notice(good, bad + 1) > 0


def test_no_notice_is_certain():
    assert notice(10**9, 0) == pytest.approx(-math.log(0.05))
    assert notice(0, 0) == pytest.approx(math.log(2))


@given(st.floats(0, 3.0e10))
def test_the_usual_form_is_read_as_every_other_form_is(at):
    text = formatdate(at, usegmt=True)
    assert http_date(text) == http_date(text.replace("GMT", "+0000")) == math.floor(at)
