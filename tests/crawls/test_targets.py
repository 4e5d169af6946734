"""Targets of freshness: met where the budget allows, at the least cost to other pages, from the moment they are set."""

import random
from dataclasses import replace

import numpy as np

from evercrawl.ask import targets as asked
from evercrawl.cli.show.targets import target_lines, target_rows
from evercrawl.config import Config, Target
from evercrawl.model.policy.policies import policy_of
from evercrawl.model.view import View
from evercrawl.progress import Limits

A = "http://a.example"
KINDS = {"plain": 30, "wanted": 10}
EVERY_S = 400.0  # pages change at random, so often on the mean
LASTS_S = 3600.0
SET_S = 1500.0


class Changing:
    """A made-up web whose pages change at random instants that a seed draws."""

    def __init__(self, run, seed=3) -> None:
        draw = random.Random(seed)
        self.changes, self.began = {}, run.now
        self.world = run.World()
        for kind, count in KINDS.items():
            for i in range(count):
                at, instants = run.now, []
                while at < run.now + 3 * LASTS_S:
                    at += draw.expovariate(1 / EVERY_S)
                    instants.append(at)
                self.changes[f"{A}/{kind}/{i}"] = np.array(instants)
        self.world.pages[f"{A}/"] = run.html(*self.changes)
        for url in self.changes:
            self.world.pages[url] = lambda headers, at, url=url: run.html(text=f"v{self.version(url, at)} of {url}")

    def version(self, url, at):
        return int(np.searchsorted(self.changes[url], at))

    def fresh(self, ran, kind, since_s, until_s, within_s=0.0):
        """Return the share of time and pages of a kind for which copies were behind by no more than `within_s`."""
        visits = {url: [each.at for each in ran.asked(url)] for url in self.changes if f"/{kind}/" in url}
        good = [
            self.version(url, at - within_s) <= self.version(url, max(t for t in seen if t <= at))
            for url, seen in visits.items()
            for at in np.arange(self.began + since_s, self.began + until_s, 25.0).tolist()
        ]
        return sum(good) / len(good)


def crawled(run, web, targets, per_page_s, lasts_s=LASTS_S, during=None):
    rate = (sum(KINDS.values()) + 1) / per_page_s
    settings = {"rate_per_s": rate, "refresh_after_s": 10.0, "probe_share": 0.0, "sitemaps": False}
    policy, limits = policy_of(Config().policy), Limits(seconds=lasts_s)
    ran = run(web.world, [f"{A}/"], limits, policy=policy, targets=targets, during=during, **settings)
    return ran, Config(targets=targets, **settings)


def view(run, config):
    return View(run.restored(), config, run.now)


def test_a_target_is_met_from_the_moment_it_is_set_and_pages_beside_it_pay_for_it(run):
    web, target = Changing(run), Target("/wanted/", 0.9)

    async def aim(one) -> None:
        import asyncio

        await asyncio.sleep(SET_S)
        one.tuning.adopt(replace(one.tuning.config, targets=(target,)), run.now)

    ran, config = crawled(run, web, (), 200.0, during=aim)
    before, after = (web.fresh(ran, "wanted", since_s, since_s + 1000.0) for since_s in (500.0, LASTS_S - 1200.0))
    assert before < 0.83, before
    assert 0.865 < after < 0.96, after
    assert 0.4 < web.fresh(ran, "plain", LASTS_S - 1200.0, LASTS_S) < 0.8
    run.same()  # nothing of it is in the journal
    (one,) = asked.met(view(run, replace(config, targets=(target,))))
    assert (one.pattern, one.copies, one.feasible) == ("/wanted/", KINDS["wanted"], True)
    assert abs(one.fresh_then - 0.9) < 0.005
    assert 0.8 < one.fresh < 0.98
    found = asked.rate(view(run, replace(config, targets=(target,))))
    assert 0.8 < found.visits_per_s / config.rate_per_s < 1.3, found


def test_a_tolerance_counts_and_what_nothing_matches_or_has_room_is_told(run):
    web = Changing(run)
    loose, none, never = Target("/wanted/", 0.9, 300.0), Target("/nothing/", 0.9), Target("/plain/1$", 0.999)
    ran, config = crawled(run, web, (loose, none, never), 100.0, 1200.0)
    one, two, three = asked.met(view(run, config))
    assert one.met
    assert (two.copies, two.fresh, two.met) == (0, None, True)
    assert not three.met
    assert three.feasible is False
    assert three.visits_per_s < 0.5 * config.rate_per_s
    assert web.fresh(ran, "wanted", 500.0, 1200.0, within_s=300.0) > 0.9
    lines = [text for _, text in target_rows((one, two, three))]
    assert lines[0].endswith(": met")
    assert lines[1].endswith("no stored copy matches")
    assert "NOT MET; the budget does not allow it" in lines[2]
    text = "\n".join(target_lines(asked.rate(view(run, config))))
    assert "which is enough" in text or "which is not enough" in text
    assert "no rate meets /plain/1$: delay_s and refresh_after_s limit" in text
