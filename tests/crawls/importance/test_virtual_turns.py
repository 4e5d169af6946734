"""The virtual page gives its cash to known pages by `discovery` and `[[focus]]`, in turns that are events."""

import numpy as np
import pytest
from msgspec.structs import replace

from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.state import EventCheck
from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config, Focus
from evercrawl.crawl.learn.virtual_turns import encode_runs
from evercrawl.errors import ConfigError
from evercrawl.model.policy.schemes import stored, wanted
from evercrawl.progress import Limits
from evercrawl.schedule.policies.greedy import Greedy
from evercrawl.simulate.worlds.made_web import MadeWeb
from evercrawl.store.journal.codec import decode_runs
from evercrawl.store.journal.events import Found, VirtualSpent, Visit
from evercrawl.store.scheme import Scheme

WEB = MadeWeb(3, ("http://a.example", "http://b.example"), pages=40)
SEEDS = [f"{origin}/" for origin in WEB.origins]
FOCUSED = replace(stored("aopic", 0.1), virtual="focused", in_turn=True)
SETTINGS = {"delay_s": 0.1, "refresh_after_s": 5.0, "snapshot_every_s": 10.0}


def crawled(run, seconds: float = 30.0, **settings: object):
    """Crawl for a while; return all events, what is known in the end, and which pages were read by then."""
    ran = run(run.World(WEB), SEEDS, Limits(seconds=seconds), scheme=FOCUSED, policy=Greedy(), **SETTINGS | settings)
    run.same()
    assert verify(run.directory).wrong == []
    partition = run.restored()
    urls = partition.state.urls.get_many(range(partition.state.known.count))
    partition.close()
    return ran.events, urls


def given(event: VirtualSpent) -> dict[int, float]:
    """Return what a turn gave to whom."""
    pairs = zip(event.runs, event.amounts, strict=True)
    return {slot: amount for runs, amount in pairs for slot in decode_runs(runs).tolist()}


def turns_of(events):
    """Yield what each turn gave, how many pages were known, and which had been read."""
    known, read = 0, set[int]()
    for event in events:
        if isinstance(event, Found | Visit) and event.found is not None:
            known += len(event.found.urls)
        if isinstance(event, Visit):
            read.add(event.slot)
        if isinstance(event, VirtualSpent):
            yield given(event), known, set(read)


def test_unread_pages_are_given_as_much_as_others_unless_asked(run):
    events, _ = crawled(run)
    found = list(turns_of(events))
    assert len(found) > 10
    for gave, known, read in found:
        assert set(range(known)) - read <= gave.keys() <= set(range(known))
        assert len(set(gave.values())) == 1
    whole = sum(found[0][0].values())
    assert whole == pytest.approx(1.0)  # at first it has everything


@pytest.mark.parametrize(("discovery", "odds"), [(0.8, 4.0), (0.2, 0.25)])
def test_discovery_says_how_much_more_unread_pages_are_given(run, discovery, odds):
    events, _ = crawled(run, discovery=discovery)
    both = 0
    for gave, _known, read in turns_of(events):
        to_read = {gave[slot] for slot in read & gave.keys()}
        to_unread = {gave[slot] for slot in gave.keys() - read}
        if to_read and to_unread:
            both += 1
            assert to_unread.pop() == pytest.approx(odds * to_read.pop())
    assert both


def test_all_of_it_to_pages_never_read_reads_more_of_them(run):
    """The knob does what it is there for: visits go to pages that nobody has read."""
    firsts = list[int]()
    for discovery in (0.0, 1.0):
        run.directory = run.directory.parent / f"discovery {discovery}"
        events, _ = crawled(run, 12.0, discovery=discovery)
        firsts.append(len({event.slot for event in events if isinstance(event, Visit)}))
    assert firsts[1] > firsts[0]


def test_a_focus_moves_cash_from_the_moment_it_is_set_also_to_known_pages(run):
    crawled(run, 10.0)
    events, urls = crawled(run, 20.0, focus=(Focus(url="/p/1", weight=5),))
    last = next(reversed([given(event) for event in events if isinstance(event, VirtualSpent)]))
    meant = {slot for slot in last if "/p/1" in urls[slot]}
    assert meant
    assert meant != last.keys()
    least = min(last.values())
    assert {slot: round(amount / least, 6) for slot, amount in last.items()} == {
        slot: 5.0 if slot in meant else 1.0 for slot in last
    }


def test_it_waits_as_long_as_there_is_nobody_to_give_to(run):
    """Nothing but pages never read may get anything, and soon there are none: the cash stays where it is."""
    events, urls = crawled(run, 60.0, discovery=1.0)
    read = {event.slot for event in events if isinstance(event, Visit)}
    assert len(read) == len(urls)
    partition = run.restored()
    assert partition.state.accounts.virtual > 0.2
    partition.close()


def test_settings_that_contradict_it_are_refused():
    with pytest.raises(ConfigError, match="needs circulating cash"):
        wanted(Config(virtual_page="focused"))
    with pytest.raises(ConfigError, match="spends in its turn"):
        wanted(Config(importance="aopic", virtual_page="focused", virtual_spends="at-once"))
    begun = wanted(Config(importance="aopic", virtual_page="focused"))
    assert (begun.virtual, begun.in_turn) == ("focused", True)
    assert wanted(Config(importance="aopic"), begun) == begun
    back = wanted(Config(importance="aopic", virtual_page="sites"), begun)
    assert (back.virtual, back.in_turn) == ("sites", False)


def test_untrusted_sites_get_nothing(run):
    scheme = replace(FOCUSED, trusted=("a.example",))
    ran = run(run.World(WEB), SEEDS, Limits(seconds=10), scheme=scheme, policy=Greedy(), **SETTINGS)
    partition = run.restored()
    urls = np.array(partition.state.urls.get_many(range(partition.state.known.count)))
    partition.close()
    slots = {slot for event in ran.events if isinstance(event, VirtualSpent) for slot in given(event)}
    assert slots
    assert all(url.startswith("http://a.example") for url in urls[list(slots)])


def test_only_a_scheme_that_says_so_has_such_turns(run):
    ran = run(run.World(WEB), SEEDS, Limits(seconds=5), scheme=Scheme("aopic", True, 0.1, "unbounded"), **SETTINGS)
    assert not any(isinstance(event, VirtualSpent) for event in ran.events)


@pytest.mark.parametrize(
    ("event", "what"),
    [
        (VirtualSpent(1.7e9, (encode_runs(np.array([2, 900])),), (0.1,)), "it gives cash to a slot beyond"),
        (VirtualSpent(1.7e9, (encode_runs(np.array([2])),), ()), "it does not have one amount per group"),
        (VirtualSpent(1.7e9, (encode_runs(np.array([2])),), (float("nan"),)), "it does not have one amount per group"),
    ],
)
def test_a_turn_that_cannot_have_been_is_found(run, event, what):
    crawled(run, 5.0)
    partition, found = run.restored(), Findings()
    assert not EventCheck(partition.state, partition.state, found).event(event, 7)
    partition.close()
    assert what in "".join(found.wrong)
