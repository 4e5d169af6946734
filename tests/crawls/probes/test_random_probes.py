"""Random probes in whole crawls: their share, their manners, and what becomes of them when the crawl ends."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from evercrawl.ask.measured import MeasuredCopies
from evercrawl.progress import Limits
from evercrawl.schedule.policies.uniform import Uniform
from evercrawl.store.journal.events import Drawn, Visit

A, B = "http://a.example", "http://b.example"


def web(run, pages=40, changing=0):
    """Two hosts; some pages change all the time."""
    world = run.World()
    links = [f"{origin}/{i}" for origin in (A, B) for i in range(pages // 2)]
    world.pages = {f"{A}/": run.html(*links)}
    for number, url in enumerate(links):
        text = (lambda headers, at: run.html(text=f"it is {at}")) if number < changing else run.html(text=url)
        world.pages[url] = text
    return world


def crawl(run, world, seconds, **settings: Any):
    return run(world, [f"{A}/"], Limits(seconds=seconds), scope="any", **settings)


def drawn(ran):
    return [event for event in ran.events if isinstance(event, Drawn)]


def test_their_share_is_what_was_asked_for(run):
    ran = crawl(run, web(run), 400, policy=Uniform(), rate_per_s=1.0, refresh_after_s=0.0, probe_share=0.2, delay_s=0.1)
    seen = Counter(visit.slot for visit in ran.visits)
    assert len(ran.visits) == pytest.approx(400, abs=20)
    assert len(drawn(ran)) == pytest.approx(80, abs=25)
    assert sum(each.by_importance for each in drawn(ran)) == len(drawn(ran)) // 2
    assert max(seen.values()) < 3 * min(seen.values())


def test_none_are_drawn_where_nobody_wants_them(run):
    ran = crawl(run, web(run), 200, refresh_after_s=10.0, probe_share=0.0)
    assert drawn(ran) == []
    assert len(ran.visits) > 100


def test_no_page_is_visited_again_too_soon(run):
    ran = crawl(run, web(run), 500, refresh_after_s=100.0, probe_share=0.5, delay_s=0.5)
    assert len(drawn(ran)) > 20
    for url in ran.pages:
        assert all(late.at - early.at > 99.9 for early, late in pairwise(ran.asked(url))), url


def test_a_page_that_is_drawn_twice_is_left_alone_after_the_visit_in_between(run):
    """Hosts rest for long, so what is drawn is often visited in its turn first, and then drawn again."""
    ran = crawl(run, web(run, pages=6), 1500, refresh_after_s=60.0, probe_share=0.5, delay_s=8.0)
    twice = Counter(event.slot for event in drawn(ran))
    assert min(twice.values()) > 5
    for url in ran.pages:
        assert all(late.at - early.at > 59.9 for early, late in pairwise(ran.asked(url))), url


@pytest.mark.parametrize("changing", [0, 10])
def test_every_draw_comes_to_be_judged_and_none_is_judged_twice(run, changing):
    ran = crawl(
        run, web(run, changing=changing), 150, refresh_after_s=0.0, probe_share=0.3, policy=Uniform(), delay_s=1.0
    )
    found = MeasuredCopies(window=10_000).take(ran.events)
    every, weighted = (found.measure(by_importance=each) for each in (False, True))
    assert every.probes + weighted.probes + found.waiting == len(drawn(ran)) > 25
    assert found.waiting < 10
    assert (every.fresh == 1.0) == (changing == 0)
    assert every.fresh > 0.5  # a quarter of the pages change


def test_a_probe_does_not_wait_for_the_policy(run):
    """Breadth first comes round to each page after 80 s or more; what is drawn is visited within some rests."""
    ran = crawl(run, web(run, pages=80), 400, refresh_after_s=0.0, probe_share=0.02, delay_s=2.0)
    waits = []
    for i, event in enumerate(ran.events):
        if isinstance(event, Drawn):
            later = (each.at for each in ran.events[i:] if isinstance(each, Visit) and each.slot == event.slot)
            waits += [at - event.at for at in [next(later, None)] if at is not None]
    assert 2 < len(waits) >= len(drawn(ran)) - 1
    assert max(waits) < 15.0


def test_what_a_run_leaves_the_next_one_looks_at(run):
    """Pages that may not be visited again before the first run ends."""
    world, settings = web(run), {"refresh_after_s": 400.0, "probe_share": 0.3, "scope": "any"}
    first = run(world, [f"{A}/"], Limits(seconds=60), **settings)
    waiting = {event.slot for event in drawn(first)}
    assert MeasuredCopies().take(first.events).waiting == len(drawn(first)) > 3
    second = run(world, [], Limits(seconds=450), **settings)
    assert waiting <= {visit.slot for visit in second.visits[len(first.visits) :]}
    assert MeasuredCopies().take(second.events).measure(by_importance=False).probes > 1


def test_a_page_that_is_gone_was_stale_and_is_drawn_no_more(run):
    world, began = web(run, pages=4), []

    def gone(headers, at):  # noqa: ANN202
        began.append(at)
        return run.html(text="here") if at < began[0] + 60 else run.Answer(404, {"content-type": "text/html"}, b"no")

    world.pages[f"{B}/0"] = gone
    ran = crawl(run, world, 600, refresh_after_s=20.0, probe_share=0.4)
    found = next(visit for visit in ran.visits if visit.status == 404)
    assert max(event.at for event in drawn(ran) if event.slot == found.slot) <= found.at + 2.0
    assert len({event.slot for event in drawn(ran) if event.at > found.at + 2.0}) == 4
    judged = MeasuredCopies().take([Drawn(found.slot, found.at - 1.0, False, 0.9, 1.0, 20.0), found])
    assert judged.measure(by_importance=False).fresh < 0.1


def test_a_host_that_does_not_answer_is_not_pressed(run):
    """What is drawn of it waits as its other pages do; a visit that fails ends the probe without a result."""
    world = web(run, pages=10)
    for i in range(5):
        page = world.pages[f"{B}/{i}"]
        world.pages[f"{B}/{i}"] = lambda headers, at, page=page: (
            page if at < 1.7e9 + 100 else run.NoAnswerError("timeout")
        )
    ran = crawl(run, world, 1000, refresh_after_s=30.0, probe_share=0.3)
    late = [asked.at for asked in ran.network.log if asked.url.startswith(B) and asked.at > 1.7e9 + 110]
    assert 3 < len(late) < 15  # it backs off for twice as long each time
    found = MeasuredCopies().take(ran.events)
    assert found.unanswered.total() > 0
    assert found.measure(by_importance=False).fresh == 1.0


def test_the_same_seed_draws_the_same(run):
    ran = crawl(run, web(run), 150, refresh_after_s=30.0, probe_share=0.3)
    assert len(drawn(ran)) > 8
    run.same()
