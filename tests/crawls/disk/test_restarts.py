"""What a start asks for again, and what counts as a visit of a run."""

import pytest

from evercrawl.fetch.guard import Guard
from evercrawl.progress import Limits
from evercrawl.types import Outcome

A = "http://a.example"
INSIDE = {"a.example": ["127.0.0.1"]}


def site(run, *links: str):
    world = run.World()
    world.pages[f"{A}/"] = run.html(*links)
    for link in links:
        world.pages[f"{A}{link}"] = run.html(text=link)
    return world


def test_pages_that_were_refused_are_judged_again_at_the_next_start(run):
    world = site(run, "/1")
    first = run(world, [f"{A}/"], names=INSIDE)
    second = run(world, [], names=INSIDE, guard=Guard(["127.0.0.0/8"]))
    assert (first.summary.visits, first.pages) == (1, {})
    assert second.pages == {f"{A}/": 1, f"{A}/1": 1}
    run.same()


def test_pages_that_gave_no_answer_are_due_at_the_next_start_however_long_the_host_was_to_be_left_alone(run):
    world = site(run)
    world.pages[f"{A}/"] = run.NoAnswerError("timeout")
    urls = [f"{A}/", *(f"{A}/{i}" for i in range(6))]
    for url in urls:
        world.pages[url] = run.NoAnswerError("timeout")
    first = run(world, urls, Limits(pages=21))
    assert len(first.visits) == 21
    nowhere = run(world, [], Limits(seconds=40))
    assert len(nowhere.visits) >= 3
    for url in urls:
        world.pages[url] = run.html(text=url)
    second = run(world, [], Limits(seconds=12))
    assert second.pages == dict.fromkeys(urls, 1)


def test_names_that_led_nowhere_are_looked_up_at_the_next_start(run):
    world = site(run)
    first = run(world, [f"{A}/"], Limits(pages=3), names={"b.example": ["8.8.4.1"]})
    assert (first.summary.reason, first.summary.visits) == ("pages", 3)
    assert run(world, [], names={"a.example": ["8.8.4.1"]}).pages == {f"{A}/": 1}


def test_a_host_that_asked_for_a_rest_gets_it_across_a_restart(run):
    world = site(run)
    world.pages[f"{A}/"] = run.Answer(503, {"Retry-After": "1000"})
    run(world, [f"{A}/"], Limits(pages=1))
    assert run(world, [f"{A}/"], Limits(seconds=900)).pages == {}


def test_a_seed_that_is_named_again_is_visited_first_if_it_was_visited_in_vain(run):
    world = site(run, "/1", "/2", "/3")
    world.pages[f"{A}/1"] = run.Answer(404)
    run(world, [f"{A}/"], Limits(pages=2))
    second = run(world, [f"{A}/", f"{A}/1", f"{A}/2"])
    assert [asked.url for asked in second.network.log] == [f"{A}/1", f"{A}/2", f"{A}/3"]
    run.same()


def test_pages_that_robots_txt_still_disallows_are_no_news_after_a_start(run):
    world = site(run, "/closed/1", "/closed/2")
    world.pages[f"{A}/robots.txt"] = run.robots_txt("User-agent: *\nDisallow: /closed")
    first, second = run(world, [f"{A}/"]), run(world, [])
    assert [v.outcome for v in first.visits] == [Outcome.OK, Outcome.REFUSED, Outcome.REFUSED]
    assert second.visits[3:] == []
    world.pages[f"{A}/robots.txt"] = run.robots_txt("User-agent: *\nDisallow: /no")
    later = run(world, [], robots="other.sqlite")  # asked for again
    assert later.pages == {f"{A}/closed/1": 1, f"{A}/closed/2": 1}


@pytest.mark.parametrize("names", [INSIDE, {"b.example": ["8.8.4.1"]}])
def test_refusals_and_failures_are_visits_of_the_run_and_count_against_its_pages(run, names):
    ran = run(site(run), [f"{A}/{i}" for i in range(9)], Limits(pages=5, seconds=600), names=names)
    assert (ran.summary.reason, ran.summary.visits, len(ran.visits)) == ("pages", 5, 5)
    assert ran.progress[-1].visits == sum(ran.progress[-1].outcomes.values()) == 5


def test_names_that_lead_nowhere_all_at_once_are_no_more_visits_than_wanted(run):
    seeds = [f"http://n{i}.example/" for i in range(9)]
    ran = run(site(run), seeds, Limits(pages=5, seconds=600), names={"b.example": ["8.8.4.1"]})
    assert (ran.summary.reason, ran.summary.visits, len(ran.visits)) == ("pages", 5, 5)
