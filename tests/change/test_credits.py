"""What one site can do to the rates at which pages vanish and come back."""

import pytest

from evercrawl.change.comebacks import Comebacks
from evercrawl.change.deaths import Deaths

DAY, YEAR = 86_400.0, 365.25 * 86_400.0


def watched(sites: int) -> Deaths:
    """Return what 50 pages of each site teach in 100 days, one of which vanishes on every third site."""
    deaths = Deaths()
    for site in range(sites):
        for page in range(50):
            deaths.learn_of_site(site, 100 * DAY, gone=page == 0 and site % 3 == 0)
    return deaths


def test_one_site_that_removes_its_pages_does_not_let_all_others_seem_short_lived():
    deaths = watched(150)
    before = deaths.per_s
    for _ in range(1000):
        deaths.learn_of_site(77, 3600.0, gone=True)
    assert before < deaths.per_s < 1.2 * before  # it was 21 times as much


def test_one_site_that_returns_pages_at_will_does_not_let_all_others_seem_to_return():
    comebacks = Comebacks()
    for site in range(300):
        comebacks.learn_of_site(site, DAY, 20 * DAY, back=site % 10 == 0)
    before = comebacks.per_s
    for _ in range(1000):
        comebacks.learn_of_site(77, 60.0, 60.0, back=True)
    assert before < comebacks.per_s < 1.5 * before  # it was 33 times as much


@pytest.mark.parametrize("sites", [1, 40])
def test_pages_that_vanish_as_often_as_elsewhere_all_count(sites):
    limited, whole = Deaths(), Deaths()
    for step in range(20_000):
        gone = step % 73 == 0  # each page once in about a year
        limited.learn_of_site(step % sites, YEAR / 73, gone=gone)
        whole.learn(YEAR / 73, gone=gone)
    assert limited.per_s == pytest.approx(whole.per_s, rel=0.02)


def test_a_crawl_of_one_site_learns_its_rate_though_it_is_far_from_the_usual_one():
    deaths = Deaths()
    for step in range(20_000):
        deaths.learn_of_site(0, DAY, gone=step % 10 == 0)
    assert deaths.per_s == pytest.approx(1 / (10 * DAY), rel=0.2)
