"""What was announced, until somebody looks."""

from typing import Any

import numpy as np
import pytest

from evercrawl.change import dates
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.stored.reader import opened
from evercrawl.store.cash.accounts import Accounts

SITE = "http://example.org"


def test_what_is_announced_counts_as_much_as_its_site_was_right():
    accounts = Accounts(handout=False)
    honest, liar = accounts.add_site(), accounts.add_site()
    accounts.sites["listed_true"][honest] = accounts.sites["listed_false"][liar] = 20
    notices = AnnouncedDates(accounts)
    slots, sites = np.array([3, 5, 9], np.uint32), np.array([honest, liar, honest], np.uint32)
    assert notices.of(slots, sites).tolist() == [0.0, 0.0, 0.0]
    notices.listed([3, 5], [100.0, 200.0])
    assert notices.of(slots, sites).tolist() == [dates.notice(20, 0), dates.notice(0, 20), 0.0]
    assert dates.notice(20, 0) > dates.notice(0, 20)


def test_a_visit_settles_it():
    notices = AnnouncedDates(Accounts(handout=False))
    notices.listed([3], [100.0])
    notices.listed([3], [150.0])
    assert (notices.date(3), notices.first(3)) == (150.0, 100.0)
    notices.visited(3)
    notices.visited(3)
    assert (notices.date(3), notices.first(3)) == (0.0, 0.0)


def announce(made, paths, *, so_s=5.0):
    """Let a sitemap say that pages changed, so long after the last visit."""
    at = made.now + so_s
    made.learner.admit_listing([f"{SITE}/{path}" for path in paths], [at] * len(paths), at)


@pytest.fixture(name="told")
def crawl_of_a_site_that_announces(made):
    """Return a crawl: of three pages two change and are announced, and one changes in silence."""
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/c"))
    for turn in range(5):
        for path in "abc":
            made.visit(f"{SITE}/{path}", made.page(path, text=f"{path} as of turn {turn}"))
        announce(made, "ab")
    made.visit(f"{SITE}/c", made.page("c", text="c changed in silence"))
    made.visit(f"{SITE}/a", made.page("a", text="a as of turn 4"))
    return made


def counts(state) -> list[float]:
    return [float(state.accounts.sites[name][0]) for name in ("announced", "unannounced", "listened", "looked")]


def test_how_much_a_site_announces_is_told_once_it_did(made):
    notices, site = AnnouncedDates(made.state.accounts), np.zeros(2, np.uint32)
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/c"))
    for turn in range(3):
        made.visit(f"{SITE}/a", made.page("a", text=f"in silence {turn}"))
    assert notices.announced_share(site) is None
    assert counts(made.state) == [0.0] * 4, "of a site that announces nothing there is nothing to count"
    for turn in range(8):
        announce(made, "a")
        made.visit(f"{SITE}/a", made.page("a", text=f"announced {turn}"))
    assert counts(made.state)[0] == 8
    believed = notices.announced_share(site)
    assert 0.5 < believed[0] == believed[1] == notices.part(0) < 1.0


def test_changes_that_were_announced_and_others_are_counted(told):
    heard, missed, listened, looked = counts(told.state)
    assert heard == 8
    assert missed == 5, "four of c after the first announcement was found true, and one more"
    assert 0.0 < looked < listened


def reopened_the_same(told: Any) -> float:
    """See that a crawl opened again counts the same, and return the part of its changes that site 0 announces."""
    told.save()
    before, part = counts(told.state), AnnouncedDates(told.state.accounts).part(0)
    told.partition.close()
    again = opened(told.directory)
    try:
        assert counts(again.state) == before
        assert AnnouncedDates(again.state.accounts).part(0) == part
    finally:
        again.close()
    return part


def test_a_killed_crawl_knows_how_much_sites_announce(told):
    assert reopened_the_same(told) > 0


def test_it_is_kept_with_a_snapshot_and_what_comes_later_is_added(told):
    told.snapshot()
    announce(told, "a")
    told.visit(f"{SITE}/a", told.page("a", text="after the snapshot"))
    assert reopened_the_same(told) > 0
