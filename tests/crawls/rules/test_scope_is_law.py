"""Rules of the scope hold for pages that are known: from the moment they are set, and until they are lifted."""

import asyncio

import pytest

from evercrawl.crawl.learn.moved_seeds import MOVES
from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.store.journal.events import Bounded
from evercrawl.store.resuming import to_try

A, B = "http://a.example", "http://b.example"
KEPT, OUT = [f"{A}/kept/{i}" for i in range(6)], [f"{A}/out/{i}" for i in range(6)]
EVERY_DAY = {"refresh_after_s": 100.0, "probe_share": 0.2, "sitemaps": False}


def web(run):
    world = run.World()
    world.pages[f"{A}/"] = run.html(*KEPT, *OUT)
    for url in (*KEPT, *OUT):
        world.pages[url] = run.html(text=url)
    return world


def hours(number):
    return Limits(seconds=number * 3600.0)


def test_known_pages_that_a_changed_setting_excludes_are_not_requested_and_come_back_with_what_was_learned(run):
    world = web(run)
    run(world, [f"{A}/"], hours(0.5), **EVERY_DAY)
    before = run.outcomes()
    assert all(before[url][1] > 1 for url in (*KEPT, *OUT))
    after = run(world, [], hours(0.5), exclude=("/out/",), **EVERY_DAY)
    assert not after.pages.keys() & set(OUT)
    assert all(after.pages[url] > 1 for url in KEPT)
    assert {url: run.outcomes()[url] for url in OUT} == {url: before[url] for url in OUT}
    lifted = run(world, [], hours(0.5), **EVERY_DAY)
    assert all(lifted.pages[url] > 1 for url in (*KEPT, *OUT))
    assert all(run.outcomes()[url][1] > before[url][1] for url in OUT)
    run.same()


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({"include": ("/kept/",)}, [*KEPT, f"{A}/"]),  # a seed was named by a person
        ({"exclude": ("/out/", "^http://a.example/$")}, KEPT),  # and by another is excluded
        ({"max_depth": 1}, [*KEPT, *OUT, f"{A}/"]),
        ({"exclude": ("example",)}, []),
    ],
)
def test_each_rule_keeps_known_pages_out(run, settings, allowed):
    world = web(run)
    deep = f"{A}/deep"
    world.pages[KEPT[0]], world.pages[deep] = run.html(deep), run.html()
    run(world, [f"{A}/"], hours(0.5), **EVERY_DAY)
    after = run(world, [], hours(0.5), **settings, **EVERY_DAY)
    allowed = [*allowed, deep] if settings.get("exclude") == ("/out/", "^http://a.example/$") else allowed
    assert set(after.pages) == set(allowed)


def test_pages_of_other_hosts_are_not_requested_once_the_scope_is_that_of_the_seeds(run):
    world = web(run)
    world.pages[f"{A}/"] = run.html(*KEPT, f"{B}/")
    world.pages[f"{B}/"] = run.html(f"{B}/x")
    world.pages[f"{B}/x"] = run.html()
    first = run(world, [f"{A}/"], hours(0.5), scope="any", **EVERY_DAY)
    assert first.pages[f"{B}/x"] > 1
    after = run(world, [], hours(0.5), scope="hosts", **EVERY_DAY)
    assert not any(url.startswith(B) for url in after.pages)
    again = run(world, [f"{B}/"], hours(0.5), scope="hosts", **EVERY_DAY)  # now a seed is there
    assert again.pages[f"{B}/x"] > 1


def test_a_rule_that_is_set_while_the_crawl_runs_holds_at_once_and_so_does_lifting_it(run):
    world, instants = web(run), []

    async def change(one) -> None:
        from dataclasses import replace

        for exclude in (("/out/",), ()):
            await asyncio.sleep(1000.0)
            one.scope.change(replace(one.tuning.config, exclude=exclude))
            instants.append(asyncio.get_running_loop().time())

    ran = run(world, [f"{A}/"], Limits(seconds=3000.0), during=change, **EVERY_DAY)
    asked = sorted(each.at for url in OUT for each in ran.asked(url))
    began, ended = instants
    assert asked[0] < began
    assert asked[-1] > ended
    assert not [at for at in asked if began < at < ended]
    assert all(any(each.at > ended for each in ran.asked(url)) for url in OUT)
    gaps = [later.at - each.at for url in OUT for each, later in zip(ran.asked(url), ran.asked(url)[1:], strict=False)]
    assert min(gaps) > EVERY_DAY["refresh_after_s"] - 0.1, "none waits twice"


def test_unread_pages_that_are_excluded_wait_no_more_so_that_the_crawl_gets_idle_and_come_back_unread(run):
    world = web(run)
    run(world, [f"{A}/"], Limits(pages=1), **EVERY_DAY)
    idle = Limits(until_idle=True, seconds=7200.0)
    ran = run(world, [], idle, exclude=("/out/",), **EVERY_DAY)
    assert ran.summary.reason == "idle"
    assert ran.progress[-1].queue == 0
    assert ran.took_s < 60.0
    assert not ran.pages.keys() & set(OUT)
    partition = run.folded()
    waiting = to_try(partition.state)[0].tolist()
    assert sorted(partition.state.urls.get_many(waiting)) == sorted(OUT)
    partition.close()
    assert run(world, [], idle, **EVERY_DAY).pages.keys() >= set(OUT)


def test_it_is_journalled_since_when_a_rule_has_kept_known_pages_out(run):
    world = web(run)
    run(world, [f"{A}/"], hours(0.1), **EVERY_DAY)
    ran = run(world, [], hours(0.1), **EVERY_DAY)
    assert not [event for event in ran.events if isinstance(event, Bounded)]
    began = run.now
    run(world, [], hours(0.1), exclude=("/out/",), **EVERY_DAY)
    later = run.now
    ran = run(world, [], hours(0.1), exclude=("/out/", "/kept/"), **EVERY_DAY)
    noted = [event for event in ran.events if isinstance(event, Bounded)]
    assert [list(event.rules) for event in noted] == [
        ["scope = 'hosts'", "exclude = '/out/'"],
        ["scope = 'hosts'", "exclude = '/out/'", "exclude = '/kept/'"],
    ]
    assert began <= noted[1].rules["exclude = '/out/'"] <= began + 5.0
    assert later <= noted[1].rules["exclude = '/kept/'"] <= later + 5.0
    partition = run.restored()
    assert partition.state.steered.bounds == noted[1].rules
    partition.close()
    run.same()


def test_a_page_that_redirects_to_an_excluded_one_does_not_have_it_requested(run):
    world = web(run)
    run(world, [f"{A}/"], hours(0.1), **EVERY_DAY)
    world.pages[KEPT[0]] = run.Answer(301, {"Location": OUT[0]}, b"")
    ran = run(world, [], hours(1), exclude=("/out/",), **EVERY_DAY)
    assert ran.pages[KEPT[0]] > 1
    assert not ran.pages.keys() & set(OUT)


def test_an_excluded_page_keeps_the_cash_that_links_bring_it_and_none_is_lost(run):
    world = web(run)
    run(world, [f"{A}/"], Limits(pages=1), **EVERY_DAY)
    for exclude in (("/out/",), ()):
        run(world, [], hours(1), exclude=exclude, **EVERY_DAY)
        partition = run.folded()
        partition.state.cashbook.audit()
        slots = partition.state.find(OUT)
        cash = partition.state.table.cash[slots]
        partition.close()
        assert bool((cash > 0.0).all()) == bool(exclude)


def test_a_seed_that_redirects_elsewhere_at_each_visit_takes_the_scope_to_a_few_hosts_only_also_after_a_restart(run):
    """Each of its targets would be a seed: a site without a budget, named by a site and not by a person."""
    world = run.World()
    elsewhere = [f"http://h{i}.example/" for i in range(60)]
    for url in elsewhere:
        world.pages[url] = run.html(text=url)
    turns = iter(elsewhere)
    world.pages[f"{A}/"] = lambda headers, at: Answer(302, {"location": next(turns)})
    first = run(world, [f"{A}/"], hours(0.4), **EVERY_DAY)
    assert first.pages[f"{A}/"] > MOVES
    second = run(world, [], hours(0.4), **EVERY_DAY)
    assert second.pages[f"{A}/"] > MOVES
    assert set(first.pages | second.pages) == {f"{A}/", *elsewhere[:MOVES]}
    run.same()
