"""Replays tell policies of vanished pages what a crawl tells them, and treat such pages alike for every policy."""

import numpy as np
import pytest

from evercrawl.change.vanishing import VanishingRates
from evercrawl.lab.backtest.replay import Replay
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.backtest.shown import SIZE_BYTES
from evercrawl.schedule.abilities import Learns
from evercrawl.schedule.base import Policy
from evercrawl.schedule.policies.cycle import Cycle
from evercrawl.schedule.policies.notices import Notices
from evercrawl.schedule.policies.uniform import Uniform

DAY_S = 86_400.0
DAILY = ReplaySetting(1.0, since=0.0, warming=0.0)


class Hearing(Learns, Policy):
    """Polls whatever waited longest, and keeps what it is told."""

    def __init__(self) -> None:
        self.told, self.columns = [], []

    def value(self, pages, context):
        self.columns.append((context, pages))
        return np.where(np.isnan(pages.visited_at), 1e12, context.now - pages.visited_at)

    def learn(self, visits):
        self.told.append(visits)

    def of(self, page, name):
        """Return one column of the visits to a page."""
        return np.concatenate([getattr(visits, name)[visits.slot == page] for visits in self.told])


def replayed(history, policy):
    made = Replay(history, policy, DAILY)
    made.run()
    return made


@pytest.fixture(name="away", scope="module")
def history_of_pages_that_are_gone_for_a_time(written):
    """Return a history: page 1 is gone from day 20 to 50, and page 2 from day 30 to 33, and then is another."""
    return written([
        *((0, page, "born", 1) for page in range(4)), (20, 1, "gone", 0), (50, 1, "born", 1), (53, 3, "changed", 2),
        (30, 2, "gone", 0), (33, 2, "born", 7), (60, 0, "changed", 2),
    ])  # fmt: skip


@pytest.fixture(name="heard", scope="module")
def a_policy_that_heard_of_it(away):
    policy = Hearing()
    return policy, replayed(away, policy)


def test_a_poll_that_finds_a_page_gone_says_so_and_the_page_is_dropped_until_it_is_born_again(heard):
    policy, _ = heard
    for page, begun, ended in ((1, 20, 50), (2, 30, 33)):
        day, gone = policy.of(page, "at") / DAY_S, policy.of(page, "gone")
        assert gone.sum() == 1
        assert begun < day[gone][0] < begun + 2
        assert ended <= day[np.flatnonzero(gone)[0] + 1] < ended + 1


def test_of_a_page_that_is_back_the_policy_hears_whether_it_changed_since_it_was_read(heard):
    policy, _ = heard
    for page, changed in ((1, False), (2, True)):
        gone, at, interval_s = (policy.of(page, name) for name in ("gone", "at", "interval_s"))
        lost = np.flatnonzero(gone)[0]
        assert np.isnan(interval_s[lost])
        assert np.isnan(policy.of(page, "predicted_fresh")[lost + 1]), "there is no copy"
        assert interval_s[lost + 1] == pytest.approx(at[lost + 1] - at[lost - 1])
        assert policy.of(page, "changed")[lost + 1] == changed
        assert policy.of(page, "received")[lost : lost + 2].tolist() == [0.0, SIZE_BYTES if changed else 0.0]


def test_the_policy_is_told_how_fast_pages_vanish_by_what_polls_found(heard):
    policy, _ = heard
    expected, nothing, read_at = VanishingRates(), np.nan, np.full(4, np.nan)
    for visits in policy.told:
        for page, at, gone in zip(visits.slot.tolist(), visits.at.tolist(), visits.gone.tolist(), strict=True):
            expected.learn(0, at - read_at[page], nothing, nothing, read=not gone, gone=gone, back=False)
            read_at[page] = nothing if gone else at
    told = [context.deaths_per_s for context, _ in policy.columns]
    assert expected.deaths.gone > 0
    assert told[1] == pytest.approx(1 / 365.25 / DAY_S, rel=0.02), "nothing was seen yet"
    assert told[-1] == pytest.approx(expected.deaths.per_s, rel=0.02)


def test_a_page_that_is_back_is_worth_what_it_was(heard):
    policy, made = heard
    assert all((pages.importance == made.world.weight[pages.slot]).all() for _, pages in policy.columns)
    assert all(pages.comeback_scale_s is None for _, pages in policy.columns)


@pytest.mark.parametrize("policy", [Uniform(), Notices(), Cycle()])
def test_others_are_treated_likewise(away, policy):
    made = replayed(away, policy)
    polls = made.world.held["polls"]
    assert polls[1] < 60 - 30 + 3, "one finds it gone"
    assert made.replayed("away", "other", 1.0).fresh_s[1] > 27 * DAY_S
    assert made.held.columns(None).importance.tolist() == made.world.weight.tolist()


def test_a_page_is_found_when_it_is_born_and_not_when_the_replay_begins(written):
    policy = Hearing()
    replayed(written([(0, 0, "born", 1), (20, 1, "born", 1), (30, 0, "changed", 2)]), policy)
    found_at = np.concatenate([pages.found_at[pages.slot == 1] for _, pages in policy.columns])
    assert (found_at >= 20 * DAY_S).all()
    assert (found_at <= 20.1 * DAY_S).all()
