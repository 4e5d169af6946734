"""What is known of a site is read before its host has had three times as many visits, whatever else there is to do."""

import math
from typing import Any

import pytest
from soak import in_soak

from evercrawl.config import Config
from evercrawl.simulate.living.coverage import coverage
from evercrawl.simulate.living.documentation import DocumentationWeb
from evercrawl.simulate.living.lives import explore

BUSY = {"delay_s": 0.0, "refresh_after_s": 1.0, "connections_per_ip": 8, "sitemaps": False}


def covered(web, seconds: float, **settings: Any):
    asked = explore(web, Config(**settings), seconds)
    return asked, coverage(web, [(one.url, one.status) for one in asked])


def test_sites_that_are_asked_without_a_pause_are_read_whole():
    """None of their pages ever changes, and a visit that finds that costs a fraction of the bytes of a new page."""
    web = DocumentationWeb(0, hosts=2, pages=200, depth=5, latency_s=0.02)
    _, found = covered(web, 20.0, **BUSY)
    assert all(found.read[site] == 200 for site in web.origins)
    assert max(found.overdue.values()) <= 2.0


@pytest.mark.parametrize("branches", [1, *in_soak(10)])
def test_an_endless_calendar_gets_a_tenth_of_the_visits_of_its_site_at_most(branches):
    web = DocumentationWeb(3, hosts=1, pages=200, depth=5, calendars=1, branches=branches, latency_s=0.02)
    _, found = covered(web, 30.0, **BUSY)
    site = web.origins[0]
    assert found.whole_after.get(site, math.inf) <= 1.3 * 200
    assert found.calendar[site] <= 0.1 * found.visits[site]


def test_a_deep_site_is_read_whole_at_the_default_settings():
    web = DocumentationWeb(1, hosts=1, pages=300, depth=8, even=True, latency_s=0.1)
    _, found = covered(web, 300 * 1.3 * 1.15)
    assert found.whole_after.get(web.origins[0], math.inf) <= 1.3 * 300


@pytest.mark.parametrize(("even", "seed"), [(True, 1), *in_soak((False, 2))])
def test_a_deep_site_is_read_whole_though_its_pages_fall_due_meanwhile(even, seed):
    """Of an even tree hardly a page shows that there is an end before the deepest ones are read."""
    web = DocumentationWeb(seed, hosts=1, pages=600, depth=8, even=even, latency_s=0.1)
    _, found = covered(web, 600 * 1.4 * 1.15, refresh_after_s=110.0)
    assert found.whole_after.get(web.origins[0], math.inf) <= 1.3 * 600


def test_a_page_that_takes_long_does_not_take_the_time_of_all_others():
    web = DocumentationWeb(4, hosts=1, pages=48, depth=3, latency_s=0.1, slow={1: 8.0})
    asked, found = covered(web, 75.0, **(BUSY | {"delay_s": 0.05}))
    assert found.read[web.origins[0]] == 48
    slow = [one for one in asked if one.url.endswith(web.paths[1])]
    assert sum(min(one.ended_at, web.began_at + 75.0) - one.at for one in slow) <= 25.0
