"""Hours and days of a crawl: refreshes, robots.txt asked for again, Retry-After, back-off, Crawl-delay."""

from itertools import pairwise

import pytest

from evercrawl.crawl import loop
from evercrawl.model.rules.robots_file import unreachable
from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import MadeWeb
from evercrawl.store.journal.events import CHANGED, KEEP, UNCHANGED
from evercrawl.types import Outcome

A, B = "http://a.example", "http://b.example"
HOUR, DAY = 3600.0, 86_400.0


@pytest.fixture(autouse=True)
def seldom(monkeypatch):
    """Report once a minute: days pass sooner, and nothing may depend on the report to be noticed."""
    monkeypatch.setattr(loop, "REPORT_S", 60.0)


def times(ran, url):
    return [asked.at for asked in ran.asked(url)]


def gaps(at):
    return [late - early for early, late in pairwise(at)]


# Refreshes


def test_pages_are_visited_again_when_due_and_not_sooner_and_answer_304(run):
    web = MadeWeb(seed=1, origins=(A,), pages=6, changing=0)
    ran = run(run.World(web), [f"{A}/"], Limits(seconds=5 * HOUR + 60), refresh_after_s=HOUR)
    for url, outcome in web.urls().items():
        if outcome in ("ok", "copy"):
            asked = ran.asked(url)
            assert [a.status for a in asked] == [200, *[304] * 5], url
            assert all(HOUR - 0.1 < gap < HOUR + 60 for gap in gaps([a.at for a in asked])), url
            assert all(a.headers["if-none-match"] for a in asked[1:])
    again = [visit for visit in ran.visits if visit.visits > 1 and visit.status == 304]
    assert {visit.flags & (UNCHANGED | KEEP | CHANGED) for visit in again} == {UNCHANGED | KEEP}
    assert all(visit.interval_s == pytest.approx(HOUR, abs=60) for visit in again)
    run.same()


def test_what_changed_is_seen_to_have_and_its_new_links_are_followed(run):
    world = run.World()
    edition = lambda at: int((at - 1.7e9) // (2 * HOUR))  # noqa: E731
    world.pages[f"{A}/"] = lambda headers, at: run.html(
        *[f"/{i}" for i in range(edition(at) + 1)], text=f"{edition(at)}"
    )
    for i in range(3):
        world.pages[f"{A}/{i}"] = run.html(text=f"page {i}")
    ran = run(world, [f"{A}/"], Limits(seconds=6 * HOUR), refresh_after_s=HOUR)
    front = [visit for visit in ran.visits if visit.slot == 0]
    assert [bool(visit.flags & CHANGED) for visit in front] == [False, False, True, False, True, False]
    assert front[-1].changes == 2
    assert times(ran, f"{A}/2")[0] - 1.7e9 == pytest.approx(4 * HOUR, abs=30)
    assert ran.progress[-1].changed == 2
    run.same()


def test_new_pages_come_before_refreshes(run):
    world = run.World()
    for i in range(100):
        world.pages[f"{A}/{i}" if i else f"{A}/"] = run.html(f"/{i + 1}", text=str(i))
    ran = run(world, [f"{A}/"], Limits(seconds=200), refresh_after_s=20.0, probe_share=0.0, latency_s=lambda _: 0.1)
    assert set(ran.pages) == {f"{A}/", *(f"{A}/{i}" for i in range(1, 101))}
    first = [times(ran, f"{A}/{i}")[0] for i in range(1, 100)]
    assert gaps(first) == pytest.approx([1.1] * 98, abs=0.01)


# robots.txt


def test_robots_txt_is_asked_for_again_after_a_day_and_its_new_rules_hold(run):
    world = run.World()
    world.pages[f"{A}/robots.txt"] = lambda headers, at: run.robots_txt(
        "User-agent: *\nDisallow: /private/\n" + ("Disallow: /later\n" if at > 1.7e9 + DAY else "")
    )
    world.pages[f"{A}/"] = run.html("/later", "/private/x")
    world.pages[f"{A}/later"] = run.html()
    ran = run(world, [f"{A}/"], Limits(seconds=3.1 * DAY), refresh_after_s=2 * HOUR, robots=":memory:")
    at = times(ran, f"{A}/robots.txt")
    assert len(at) == 4
    assert all(DAY - 1 < gap <= DAY + 2 * HOUR + 10 for gap in gaps(at))
    assert max(times(ran, f"{A}/later")) < at[1]
    assert {v.outcome for v in ran.visits if v.slot == 1 and v.at > at[1]} == {Outcome.REFUSED}


def test_rules_are_remembered_across_a_restart_but_not_beyond_their_day(run):
    world = run.World()
    world.pages[f"{A}/"] = run.html(*(f"/{i}" for i in range(60)))
    for i in range(60):
        world.pages[f"{A}/{i}"] = run.html(text=f"page {i}")
    first = run(world, [f"{A}/"], Limits(pages=10))
    second = run(world, [], Limits(pages=10))
    run.now += DAY
    third = run(world, [], Limits(pages=10))
    assert [len(ran.asked(f"{A}/robots.txt")) for ran in (first, second, third)] == [1, 0, 1]


def test_a_site_whose_robots_txt_fails_is_closed_until_it_answers(run):
    world = run.World()
    fails = [run.NoAnswerError("timeout"), run.Answer(500), run.Answer(503), run.Answer(429)]
    world.pages[f"{A}/robots.txt"] = lambda headers, at: fails.pop(0) if fails else run.Answer(404)
    world.pages[f"{A}/"] = run.html()
    ran = run(world, [f"{A}/"], Limits(pages=1))
    at = times(ran, f"{A}/robots.txt")
    assert len(at) == 5
    assert gaps(at) == pytest.approx([60, 120, 240, 480], abs=3)
    assert ran.progress[-1].errors == {"robots_unreachable": 4}
    assert ran.progress[-1].robots_trouble == f"robots.txt of {A} could not be fetched (status: 429)"
    assert unreachable(run.directory / "robots.sqlite") == {}  # it answered in the end
    assert times(ran, f"{A}/")[0] > at[-1]
    assert {"robots.txt": 1} in [progress.waiting for progress in ran.progress]


def test_a_robots_txt_that_moved_holds_for_the_host_first_asked(run):
    world = run.World()
    world.pages[f"{A}/robots.txt"] = run.Answer(301, {"Location": f"{B}/rules"})
    world.pages[f"{B}/rules"] = run.robots_txt("User-agent: evercrawl\nDisallow: /private/\nDisallow: /no\n")
    world.pages[f"{A}/"] = run.html("/no", "/yes", f"{B}/")
    world.pages[f"{A}/yes"] = run.html(text="yes")
    world.pages[f"{B}/"] = run.html(text="b")
    ran = run(world, [f"{A}/", f"{B}/"], names={"a.example": ["8.8.4.1"], "b.example": ["8.8.4.2"]})
    assert set(ran.pages) == {f"{A}/", f"{A}/yes", f"{B}/", f"{B}/rules"}


@pytest.mark.parametrize("others", [1, 3])
def test_asking_another_host_for_robots_txt_does_not_disturb_its_rest(run, others):
    """Every www-less name sends its robots.txt to the www one, which is being crawled already."""
    world = run.World(MadeWeb(seed=1, origins=(B,), pages=40, changing=0))
    seeds = [f"{B}/"]
    for i in range(others):
        world.pages[f"http://n{i}.example/robots.txt"] = run.Answer(301, {"Location": f"{B}/robots.txt"})
        seeds.append(f"http://n{i}.example/")
    names = {"b.example": ["8.8.4.1"]} | {f"n{i}.example": [f"8.8.5.{i + 1}"] for i in range(others)}
    ran = run(world, seeds, names=names, delay_s=1.5)  # Manners looks at every request
    assert len(ran.asked(f"{B}/robots.txt")) == 2  # once for all others
    assert all(ran.pages[f"http://n{i}.example/"] == 1 for i in range(others))


@pytest.mark.parametrize("where", [f"{A}/rules", "http://unknown.example/rules"])
def test_a_robots_txt_that_moved_waits_for_its_turn_at_the_address(run, where):
    """Four names on one machine; three are being crawled while the fourth's rules are looked for."""
    names = [f"http://n{i}.example" for i in range(3)]
    world = run.World(MadeWeb(seed=1, origins=tuple(names), pages=12, changing=0))
    world.pages[f"{A}/robots.txt"] = run.Answer(301, {"Location": where})
    world.pages[where] = run.robots_txt("User-agent: *\nDisallow: /no\n")
    world.pages[f"{A}/"] = run.html(text="at last")
    ran = run(world, [f"{name}/" for name in names] + [f"{A}/"], delay_s=2.0, connections_per_ip=2,
              latency_s=lambda _: 2.5, polite=False)  # fmt: skip
    assert ran.asked(where)[0].at < 1.7e9 + 40.0
    assert min(gaps(sorted(asked.at for asked in ran.network.log))) >= 1.0 - 1e-6
    assert ran.pages[f"{A}/"] == 1


def test_robots_txt_that_redirects_without_end_leaves_the_site_open(run):
    world = run.World()
    world.pages[f"{A}/robots.txt"] = run.Answer(302, {"Location": "/robots.txt?again"})
    world.pages[f"{A}/robots.txt?again"] = run.Answer(302, {"Location": "/robots.txt?again"})
    world.pages[f"{A}/"] = run.html()
    ran = run(world, [f"{A}/"], polite=False)
    assert len(ran.network.log) == 1 + 5 + 1
    assert min(gaps([asked.at for asked in ran.network.log])) >= 1.0


def test_a_robots_txt_that_leads_inside_closes_the_site(run):
    world = run.World()
    world.pages[f"{A}/robots.txt"] = run.Answer(302, {"Location": "http://127.0.0.1/robots.txt"})
    ran = run(world, [f"{A}/"])
    assert [asked.url for asked in ran.network.log] == [f"{A}/robots.txt"]


@pytest.mark.parametrize("addresses", [["10.0.0.1"], ["10.0.0.1", "127.0.0.1"]])
def test_a_robots_txt_that_leads_to_a_name_of_an_inside_address_closes_the_site(run, addresses):
    world = run.World()
    world.pages[f"{A}/robots.txt"] = run.Answer(302, {"Location": "http://inside.example/robots.txt"})
    names = {"a.example": ["8.8.4.1"], "inside.example": addresses}
    ran = run(world, [f"{A}/"], names=names)
    assert [asked.url for asked in ran.network.log] == [f"{A}/robots.txt"]
    assert "refused_address: 10.0.0.1 is a private" in unreachable(run.directory / "robots.sqlite")[A]


def test_a_robots_txt_that_leads_to_a_port_of_another_service_is_not_asked_for(run):
    world = run.World()
    world.pages[f"{A}/robots.txt"] = run.Answer(302, {"Location": "http://mail.example:25/robots.txt"})
    ran = run(world, [f"{A}/"])
    assert [asked.url for asked in ran.network.log] == [f"{A}/robots.txt"]


def test_crawl_delay_is_kept_from_the_first_page_on_and_across_a_restart(run):
    world = run.World(MadeWeb(seed=1, origins=(A,), pages=20, changing=0))
    world.pages[f"{A}/robots.txt"] = run.robots_txt("User-agent: *\nCrawl-delay: 7\nDisallow: /private/\n")
    first = run(world, [f"{A}/"], Limits(pages=5))
    second = run(world, [], Limits(pages=5))
    asked = first.network.log + second.network.log
    rests = [late.at - early.ended_at for early, late in pairwise(asked)]
    assert min(rests) >= 7.0 - 1e-3


def test_after_a_restart_a_second_port_keeps_its_crawl_delay_from_the_first_page_on(run):
    """The rules of one port are in force before the host has been asked on their behalf."""
    world, other = run.World(), "http://a.example:8080"
    world.pages[f"{other}/robots.txt"] = run.robots_txt("User-agent: *\nCrawl-delay: 7\n")
    world.pages[f"{A}/"] = run.html(*(f"/{i}" for i in range(6)), f"{other}/")
    world.pages[f"{other}/"] = run.html(*(f"/{i}" for i in range(6)))
    for i in range(6):
        world.pages[f"{A}/{i}"], world.pages[f"{other}/{i}"] = run.html(text=f"a {i}"), run.html(text=f"b {i}")
    run(world, [f"{A}/", f"{other}/"], Limits(pages=2))
    run.now += 60.0
    rest = run(world, [])
    requests = rest.network.log
    assert len(requests) == 12
    for before, asked in pairwise(requests):
        if asked.url.startswith(other):
            assert asked.at - before.ended_at >= 7.0 - 1e-6


def test_a_host_that_no_event_remembers_rests_after_a_restart_too(run):
    """The run before was killed when it had asked for the first robots.txt, and stored nothing as yet."""
    world = run.World(MadeWeb(seed=1, origins=(A,), pages=5, changing=0))
    run(world, [], Limits(seconds=0))
    run.now += 0.5
    again = run(world, [f"{A}/"], Limits(pages=2), delay_s=3.0)
    assert again.network.log[0].at == pytest.approx(1.7e9 + 0.5 + 3.0, abs=0.1)


def test_a_name_with_an_address_inside_keeps_the_rest_of_the_one_outside(run):
    names = {f"n{i}.example": [f"10.0.0.{i + 1}", "8.8.4.4"] for i in range(4)}
    web = MadeWeb(seed=1, origins=tuple(f"http://{name}" for name in names), pages=6, changing=0)
    ran = run(run.World(web), [f"{origin}/" for origin in web.origins], names=names, latency_s=lambda _: 0.1)
    assert {asked.address for asked in ran.network.log} == {"8.8.4.4"}
    assert min(gaps([asked.at for asked in ran.network.log])) >= 0.5 - 1e-6


# Trouble


def test_retry_after_of_an_hour_is_obeyed_also_across_a_restart(run):
    world = run.World(MadeWeb(seed=1, origins=(A,), pages=20, changing=0))
    world.pages[f"{A}/p/3"] = lambda headers, at: (
        run.Answer(429, {"Retry-After": "3600"}) if at < 1.7e9 + 100 else run.html(text="at last")
    )
    first = run(world, [f"{A}/"], Limits(seconds=60))
    asked_at = first.asked(f"{A}/p/3")[0].ended_at
    assert first.network.log[-1].url == f"{A}/p/3"  # nothing of the host after that
    second = run(world, [], Limits(pages=25))
    assert second.network.log[0].at >= asked_at + 3600.0
    assert second.network.log[0].at < asked_at + 3600.0 + 5
    assert run.outcomes()[f"{A}/p/3"] == (Outcome.OK, 2)


def test_retry_after_of_a_robots_txt_is_obeyed(run):
    world = run.World()
    world.pages[f"{A}/robots.txt"] = lambda headers, at: (
        run.Answer(503, {"Retry-After": "1000"}) if at < 1.7e9 + 100 else run.Answer(404)
    )
    world.pages[f"{A}/"] = run.html()
    ran = run(world, [f"{A}/"], Limits(pages=1))
    assert gaps(times(ran, f"{A}/robots.txt")) == pytest.approx([1000.5], abs=1.0)


def test_retry_after_is_obeyed_across_a_restart_although_a_later_request_was_not_answered(run):
    world = run.World()
    world.pages[f"{A}/"] = run.html("/1", "/2")
    world.pages[f"{A}/1"] = lambda headers, at: (
        run.Answer(429, {"Retry-After": "1000"}) if at < 1.7e9 + 500 else run.html()
    )
    world.pages[f"{A}/2"] = lambda headers, at: run.NoAnswerError("timeout") if at < 1.7e9 + 500 else run.html()
    settings = {"connections_per_host": 3, "polite": False}
    lasts_s = {f"{A}/1": 3.0, f"{A}/2": 5.0}
    first = run(world, [f"{A}/"], Limits(seconds=30), latency_s=lambda r: lasts_s.get(r.url, 1.0), **settings)
    assert [asked.status for asked in first.network.log] == [404, 200, 429, 0]
    wish_ends_at = first.network.log[2].ended_at + 1000.0
    second = run(world, [], Limits(pages=2), **settings)
    assert second.network.log[0].at == pytest.approx(wish_ends_at, abs=2.0)


def test_retry_after_as_a_date(run):
    world = run.World()
    world.pages[f"{A}/"] = lambda headers, at: (
        run.Answer(503, {"Retry-After": "Tue, 14 Nov 2023 22:43:20 GMT"}) if at < 1.7e9 + 100 else run.html()
    )
    ran = run(world, [f"{A}/"], Limits(pages=2))
    assert times(ran, f"{A}/")[1] == pytest.approx(1.7e9 + 1800, abs=1.0)


def test_back_off_doubles_from_one_second_and_ends_with_the_trouble(run):
    world = run.World()
    for i in range(12):
        world.pages[f"{A}/{i}"] = run.Answer(500) if i < 9 else run.html(text=str(i))
    seeds = [f"{A}/{i}" for i in range(12)]
    ran = run(world, seeds, Limits(pages=12), latency_s=lambda _: 0.25)
    visits = [asked for asked in ran.network.log if asked.url in seeds]
    rests = [late.at - early.ended_at for early, late in pairwise(visits)]
    assert rests == pytest.approx([1, 2, 4, 8, 16, 32, 64, 128, 256, 1, 1], abs=0.01)


def test_a_name_that_leads_nowhere_is_tried_less_and_less(run):
    world = run.World()
    ran = run(world, [f"http://nowhere.example/{i}" for i in range(3)], Limits(seconds=2 * HOUR),
              names={"b.example": ["8.8.4.1"]})  # fmt: skip
    assert ran.network.log == []
    assert all(visit.status == 0 and visit.error.startswith("dns") for visit in ran.visits)
    at = [visit.at for visit in ran.visits]
    assert gaps(at)[:8] == pytest.approx([60] * 6 + [64, 128], abs=1.0)
    assert sum(ran.progress[-1].outcomes.values()) == len(ran.visits)


def test_a_name_that_leads_inside_is_refused_and_no_request_is_made(run):
    world = run.World()
    names = {
        "in.example": ["127.0.0.1", "10.0.0.1"],
        "meta.example": ["169.254.169.254"],
        "mixed.example": ["10.1.1.1", "8.8.4.4"],
    }
    ran = run(world, [f"http://{name}/" for name in names], names=names)
    assert {asked.address for asked in ran.network.log} == {"8.8.4.4"}
    assert {asked.url for asked in ran.network.log} == {"http://mixed.example/robots.txt", "http://mixed.example/"}
    refused = [visit for visit in ran.visits if visit.outcome == Outcome.REFUSED]
    assert len(refused) == 2
    assert all(visit.error.startswith("refused_address: ") for visit in refused)


def test_a_page_that_is_gone_waits_as_long_after_a_restart(run):
    """Three times gone: eight times the usual rest, whoever was started meanwhile."""
    world = run.World()
    world.pages[f"{A}/"] = run.html("/gone")
    first = run(world, [f"{A}/"], Limits(seconds=800), refresh_after_s=100.0)
    asked = first.asked(f"{A}/gone")
    assert [round((late.at - early.at) / 100.0) for early, late in pairwise(asked)] == [2, 4]
    second = run(world, [], Limits(seconds=1000), refresh_after_s=100.0)
    assert second.asked(f"{A}/gone")[0].at >= asked[-1].at + 800.0
    assert second.asked(f"{A}/")[0].at < asked[-1].at + 300.0  # others do not wait
