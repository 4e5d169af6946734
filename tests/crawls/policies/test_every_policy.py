"""Whole crawls under every policy: all is read, what changes is read again, and an interruption loses nothing."""

import math
from functools import partial

import numpy as np
import pytest
from soak import some_in_soak

from evercrawl.crawl import loop
from evercrawl.model.policy.policies import names, policy_of
from evercrawl.progress import Limits

HOSTS = [f"http://{letter}.example" for letter in "abc"]
PAGES = 8  # of a host
DAY_S = 86_400.0


OPTIONS = {"nutch_adaptive": ["start=1h"], "stormcrawler_adaptive": ["start=1h"]}
"""Of policies that leave every page alone for longer than these crawls last."""

SELECTIVE = {"chile", "nutch_adaptive"}
"""Those that by their authors' rules let what matters little wait for as long as anything else is due."""


def changing(run, number, links, headers, at):
    version = math.floor(at / (3600.0 * 2**number))
    return run.html(*links, text=f"{number} in its form {version}, of which there are many")


@pytest.fixture
def world(run):
    """Pages in a ring on each host, with a menu, linked across: the n-th changes every 2^n hours, and one is gone."""
    made = run.World()
    for h, host in enumerate(HOSTS):
        for number in range(PAGES):
            menu = [f"/{other}" for other in range(PAGES)] if number == 0 else ["/0"]
            links = [*menu, f"/{(number + 1) % PAGES}", f"{HOSTS[(h + 1) % len(HOSTS)]}/{number}", "/gone"]

            made.pages[f"{host}/{number}"] = partial(changing, run, number, links)
        made.pages[f"{host}/gone"] = run.Answer(410, {}, b"")
    return made


def crawl(run, world, name, seconds):
    return run(
        world, [f"{host}/0" for host in HOSTS], Limits(seconds=seconds), policy=policy_of(name, OPTIONS.get(name, ())),
        delay_s=60.0, refresh_after_s=600.0, sitemaps=False, rate_per_s=1 / 300, snapshot_every_s=1e6,
    )  # fmt: skip


# tianwang looks for what it may visit each second of half a day
@pytest.mark.parametrize("name", some_in_soak(names(), ["tianwang"]))
def test_everything_is_read_and_what_changes_is_read_again(run, world, name, monkeypatch):
    monkeypatch.setattr(loop, "REPORT_S", 1e4)  # of a day
    first = crawl(run, world, name, 0.2 * DAY_S)
    second = crawl(run, world, name, 0.35 * DAY_S)
    pages = [f"{host}/{number}" for host in HOSTS for number in range(PAGES)]
    unread = [url for url in pages if not first.pages[url] + second.pages[url]]
    assert len(unread) <= (len(pages) / 2 if name in SELECTIVE else 0), unread
    again = [visit for visit in second.visits if visit.visits > 1]
    assert len(again) > len(pages)
    assert len({visit.slot for visit in again}) > len(pages) / 2
    assert any(visit.changes for visit in again)
    visits = {visit.slot: visit.visits for visit in second.visits}
    assert sum(visits.values()) == len(second.visits), "the second run went on from the first"


@pytest.mark.parametrize("estimator", ["irregular", "last_modified", "online_momentum"])
def test_what_an_estimator_has_learned_is_there_after_a_restart(run, world, estimator, monkeypatch):
    monkeypatch.setattr(loop, "REPORT_S", 1e4)  # of half a day
    asked = {"delay_s": 60.0, "refresh_after_s": 600.0, "sitemaps": False, "rate_per_s": 1 / 300}
    before, after = (policy_of("optimal", [f"estimator={estimator}"]) for _ in range(2))
    run(world, [f"{host}/0" for host in HOSTS], Limits(seconds=0.5 * DAY_S), policy=before, **asked)
    run(world, (), Limits(pages=0, seconds=1.0), policy=after, **asked)
    slots, none = np.arange(40, dtype=np.uint32), np.full(40, np.nan)
    rates = [policy._estimated.rates(slots, none) for policy in (before, after)]
    assert np.isfinite(rates[0]).sum() > 5
    assert rates[1].tolist() == pytest.approx(rates[0].tolist(), nan_ok=True)
