"""The living web answers as its plan says, at every instant, and the same seed gives the same web."""

import math
import re
from collections import Counter
from email.utils import parsedate_to_datetime

import numpy as np
import pytest

from evercrawl.parse.simhash import simhash
from evercrawl.simulate.living.plan import LivingPlan, UrlKind, Validators, sizes
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.simulate.worlds.made_web import Answer
from tests.helpers.hashing import HASHER

WEB = LivingWeb(seed=3, hosts=10, pages=400, cycle_s=10.0, began_at=1000.0)
LATER = 1000.0 + 100.0


def ask(web: LivingWeb, url: str, at: float = 1000.0, **headers: str) -> Answer:
    origin = url[: url.index("/", 8)]
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.answer(origin, url[len(origin) :], sent, at)


def links(answer: Answer) -> list[str]:
    return re.findall(r'<a href="([^"]+)"', answer.body.decode())


def page_of(kind: Validators) -> int:
    """Return a page that changes, on a host that validates so."""
    host = WEB.plan.validators.index(kind)
    return next(n for n, p in enumerate(WEB.plan.pages[: WEB.plan.count]) if p.host == host and p.rate > 1)


def test_every_url_answers_as_planned():
    status = {
        UrlKind.PAGE: 200,
        UrlKind.COPY: 200,
        UrlKind.MOVED: 301,
        UrlKind.HOP: 302,
        UrlKind.GONE: 404,
        UrlKind.PRIVATE: 200,
    }
    for planned, url in zip(WEB.plan.pages, WEB.urls, strict=True):
        assert ask(WEB, url).status == status[planned.kind], url
    assert {planned.kind for planned in WEB.plan.pages} == set(UrlKind)
    assert Counter(p.kind for p in WEB.plan.pages)[UrlKind.PAGE] == WEB.plan.count == 400


def test_all_is_reached_by_links_that_may_be_followed():
    seen, found = set[str](), list(WEB.seeds)
    while found:
        url = found.pop()
        if url in seen or "/calendar/" in url:
            continue
        seen.add(url)
        answer = ask(WEB, url)
        found += [answer.headers["Location"]] if "Location" in answer.headers else links(answer)
    assert seen == set(WEB.urls)


def test_a_page_shows_the_links_it_is_said_to_have():
    for url in WEB.urls[:100]:
        assert links(ask(WEB, url)) == WEB.links(url)
        assert '<a rel=nofollow href="/login">' in ask(WEB, url).body.decode()


def test_the_seed_decides_everything():
    same, other = LivingWeb(3, hosts=10, pages=400, cycle_s=10.0, began_at=1000.0), LivingWeb(4, hosts=10, pages=400)
    bodies = [[ask(web, url, LATER).body for url in web.urls[:50]] for web in (WEB, same, other)]
    assert bodies[0] == bodies[1] != bodies[2]


def test_times_of_changes_do_not_depend_on_what_was_asked_before():
    early = LivingWeb(3, hosts=10, pages=400, cycle_s=10.0, began_at=1000.0)
    fast = max(range(400), key=WEB.rate_per_s)
    for until in (1001.0, 1010.0, 1500.0):
        early.changes(fast, until)
    assert early.changes(fast, 2000.0).tolist() == WEB.changes(fast, 2000.0).tolist()


def test_pages_change_as_often_as_their_rates_say():
    duration_s = 10_000.0
    changes = sum(len(WEB.changes(n, 1000.0 + duration_s)) for n in range(400))
    expected = sum(WEB.rate_per_s(n) for n in range(400)) * duration_s
    assert abs(changes - expected) < 5 * math.sqrt(expected)
    gaps = np.diff(WEB.changes(max(range(400), key=WEB.rate_per_s), 1000.0 + duration_s))
    assert gaps.std() / gaps.mean() == pytest.approx(1.0, abs=0.05)


def test_the_content_changes_when_the_page_does_and_only_then():
    number = page_of(Validators.TAG)
    first, second = WEB.changes(number, 5000.0)[:2].tolist()
    url = WEB.urls[number]
    before, between = ask(WEB, url, first - 1e-6).body, ask(WEB, url, first).body
    assert before == ask(WEB, url, 1000.0).body != between == ask(WEB, url, (first + second) / 2).body
    assert ask(WEB, url, second).body not in (before, between)
    assert simhash(before.decode(), HASHER) != simhash(between.decode(), HASHER)


def test_a_tag_is_honoured_until_the_page_changes():
    number = page_of(Validators.TAG)
    first = float(WEB.changes(number, 5000.0)[0])
    tag = ask(WEB, WEB.urls[number]).headers["ETag"]
    assert ask(WEB, WEB.urls[number], first - 1e-6, if_none_match=tag).status == 304
    assert ask(WEB, WEB.urls[number], first, if_none_match=tag).status == 200


def test_dates_are_right_where_they_are_right():
    number = page_of(Validators.TAG_AND_DATE)
    at = float(WEB.changes(number, 5000.0)[3])
    said = ask(WEB, WEB.urls[number], at).headers["Last-Modified"]
    assert parsedate_to_datetime(said).timestamp() == math.floor(at)
    assert parsedate_to_datetime(ask(WEB, WEB.urls[number]).headers["Last-Modified"]).timestamp() < 1000.0


def test_dates_are_wrong_and_missing_elsewhere():
    wrong, none = (ask(WEB, WEB.urls[page_of(kind)], LATER) for kind in (Validators.WRONG_DATE, Validators.NONE))
    assert parsedate_to_datetime(wrong.headers["Last-Modified"]).timestamp() == LATER
    assert "ETag" not in wrong.headers
    assert not {"ETag", "Last-Modified"} & none.headers.keys()


def test_a_copy_is_one_for_ever():
    copies = [(n, p.target) for n, p in enumerate(WEB.plan.pages) if p.kind is UrlKind.COPY]
    assert copies
    for copy, original in copies:
        assert ask(WEB, WEB.urls[copy], LATER).body == ask(WEB, WEB.urls[original], 1000.0).body


def test_some_pages_vanish():
    web = LivingWeb(seed=3, hosts=5, pages=1000, cycle_s=10.0, began_at=1000.0)
    vanishing = [n for n in range(1000) if math.isfinite(web.vanishes_at(n))]
    assert vanishing
    for number in vanishing:
        at = web.vanishes_at(number)
        assert [ask(web, web.urls[number], at + d).status for d in (-0.1, 0.0)] == [200, 410]


def test_robots_txt_says_what_is_off_limits_and_who_is_slow():
    texts = [ask(WEB, f"{origin}/robots.txt").body.decode() for origin in WEB.origins]
    assert all("Disallow: /private/\n" in text for text in texts)
    assert [text for text in texts if "Crawl-delay" in text] == [texts[-1]]


@pytest.mark.parametrize("steps", [1, 10, 60])
def test_a_calendar_has_no_end(steps):
    for host, branches in WEB.plan.branches.items():
        url = f"{WEB.origins[host]}/calendar/0"
        for _ in range(steps):
            answer = ask(WEB, url)
            new = [link for link in links(answer) if "/calendar/" in link]
            assert answer.status == 200
            assert len(set(new)) == branches
            url = new[-1]
    assert ask(WEB, f"{WEB.origins[1]}/calendar/0").status == 404


def test_a_calendar_that_is_not_endless_is_a_page():
    web = LivingWeb(seed=3, hosts=10, pages=400, endless=False)
    assert links(ask(web, f"{web.origins[0]}/calendar/0")) == [f"{web.origins[0]}/"]
    assert ask(web, f"{web.origins[0]}/calendar/1").status == 404


def test_a_still_web_stands_still():
    web = LivingWeb(seed=3, hosts=10, pages=400, still=True)
    assert all(ask(web, url, 0.0).body == ask(web, url, 1e9).body for url in web.urls)


def test_hosts_differ_in_size_and_their_pages_are_alike_in_rate():
    plan = LivingPlan(seed=1)
    rates = np.log([page.rate or np.nan for page in plan.pages[: plan.count]])
    hosts = np.array([page.host for page in plan.pages[: plan.count]])
    within = np.mean([np.nanvar(rates[hosts == host]) for host in range(20)])
    assert np.bincount(hosts).tolist() == sizes(20, 2000)
    assert 0.2 < within / np.nanvar(rates) < 0.8
