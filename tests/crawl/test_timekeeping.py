"""A machine whose clock was set back, or far ahead, between two runs of a crawl."""

import random

import pytest

from evercrawl.clock import SteadyClock
from evercrawl.crawl.timekeeping import REACH_S, go_on
from evercrawl.errors import ConfigError
from evercrawl.simulate.surroundings.disk import VirtualDisk
from evercrawl.store.journal.events import Discovery, Found
from evercrawl.store.partition import Partition

BORN_AT, LAST_AT = 1_000_000.0, 1_500_000.0


@pytest.fixture
def state(tmp_path):
    """A crawl that heard of something at LAST_AT, opened again."""
    disk = VirtualDisk(random.Random(1))
    partition = Partition(tmp_path, random.Random(1).randbytes, now=BORN_AT, disk=disk)
    url = "http://a/"
    fresh = partition.hasher.keys([url])
    partition.state.table.intern(fresh)
    found = Discovery(first_slot=0, urls=[url], hosts=[0], first_host=0, new_hosts=["a"])
    partition.state.admit(found, LAST_AT, fresh)
    partition.remember(Found(LAST_AT, found))
    partition.journal.write(partition.journal.seal())
    partition.close()
    return Partition(tmp_path, random.Random(2).randbytes, now=LAST_AT, disk=disk.reopen()).state


def clock_at(at):
    return SteadyClock(lambda: at, lambda: 0.0)


def test_a_right_clock_is_left_as_it_is(state):
    clock = clock_at(LAST_AT + 5.0)
    assert (go_on(clock, state), clock.now()) == ("", LAST_AT + 5.0)


def test_a_clock_set_back_goes_on_from_the_last_event(state):
    clock = clock_at(LAST_AT - 3 * 86_400.0)
    assert go_on(clock, state).startswith("this machine's clock is 3 days behind this crawl's last visit;")
    assert LAST_AT < clock.now() < LAST_AT + 0.1


def test_a_clock_set_right_by_seconds_is_nothing_to_speak_of(state):
    clock = clock_at(LAST_AT - 30.0)
    assert go_on(clock, state) == ""
    assert LAST_AT < clock.now() < LAST_AT + 0.1


@pytest.mark.parametrize(("behind_s", "said"), [(100.0, "100 seconds"), (300.0, "5 minutes"), (7200.0, "2 hours")])
def test_how_far_it_was_behind_is_said_in_words(state, behind_s, said):
    assert f"is {said} behind" in go_on(clock_at(LAST_AT - behind_s), state)


@pytest.mark.parametrize("ahead_s", [REACH_S + 1.0, 1e12])
def test_a_clock_far_ahead_is_refused(state, ahead_s):
    with pytest.raises(ConfigError, match=r"no crawl reaches further than 8\.5 years; set the clock right"):
        go_on(clock_at(BORN_AT + ahead_s), state)
