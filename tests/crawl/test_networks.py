"""Addresses: those that seeds name are sites of their own, all others belong to their network, which has no source."""

import asyncio
from contextlib import closing

import pytest

from evercrawl.parse.sites import found_site, site, site_rules
from evercrawl.parse.urls import hostname, normalise
from evercrawl.simulate.surroundings.network import inline
from evercrawl.store.partition import Partition

SEEDS = ["http://8.8.1.1/", "http://[2a00:1450:1::1]/"]
FOUND = ["http://8.8.1.2/", "http://8.8.1.3/", "http://0x08.0x080104/", "http://134742277/", "http://[::ffff:8.8.1.6]/"]
SIXES = ["http://[2a00:1450:1::2]/", "http://[2a00:1450:1:ffff::3]/", "http://[2a00:1450:2::1]/"]
SITES = {"8.8.1.1", "[2a00:1450:1::1]", "8.8.1.0/24", "2a00:1450:1::/48", "2a00:1450:2::/48"}


def begun(made):
    """Return a crawl whose seeds link to addresses of their own networks, some of which link back."""
    urls = [normalise(url) for url in (*SEEDS, *FOUND, *SIXES)]
    assert None not in urls
    for url in urls:
        made.scope.add_root(hostname(url))
    made.seed(*SEEDS)
    made.visit(SEEDS[0], made.page("seed", *FOUND, *SIXES, text="seed"))
    made.visit(urls[2], made.page("found", *urls[3:5], *SEEDS, text="found"))
    return made


def opened(directory, rule=found_site, rules=0, *, writable=False, fold_all=False):
    return Partition(directory, bytes, now=2e9, writable=writable, site=rule, site_rules=rules, fold_all=fold_all)


def told(state) -> dict[str, tuple[str, int]]:
    """Return of each host its site, and whether that has a source."""
    trusted = state.accounts.sites["trusted"]
    return {
        host: (state.sites[state.site_of.item(number)], trusted.item(state.site_of.item(number)))
        for number, host in enumerate(state.hosts)
    }


def test_a_seed_is_its_own_site_and_others_are_their_networks(made):
    state = begun(made).state
    assert {*state.sites} == SITES
    assert {host for host, (of, _) in told(state).items() if of == host} == {"8.8.1.1", "[2a00:1450:1::1]"}
    assert all(trusted == ("/" not in of) for of, trusted in told(state).values())
    assert state.accounts.sources() == 2.0  # the seeds
    assert state.site_number("8.8.1.1") != state.site_number("8.8.1.200") == state.site_number("8.8.1.2")


def test_links_within_a_network_are_links_within_a_site(made):
    begun(made)
    events = {event.slot: event for _, _, event in made.partition.journal.replay() if hasattr(event, "external")}
    known = made.state.find([normalise(url) for url in (FOUND[0], SEEDS[0], SEEDS[1])]).tolist()
    assert events[known[0]].external.hex() == "03"  # its links to the seeds, which became known before the others


@pytest.mark.parametrize("rules", [0, 7])
def test_a_restart_groups_them_the_same(made, rules):
    before = told(begun(made).state)
    made.save()
    made.stop()
    for more in ({}, {"fold_all": True}, {"rules": rules}):
        with closing(opened(made.directory, **more)) as again:
            assert again.repairs == []
            assert told(again.state) == before


def test_a_snapshot_in_which_each_address_was_a_site_is_made_anew(made):
    wanted = told(begun(made).state)
    made.save()
    made.partition.close()
    with closing(opened(made.directory, rule=site, rules=5, writable=True)) as older:
        assert {of for of, _ in told(older.state).values()} == {*older.state.hosts}
        snapshot_of(older)
    with closing(opened(made.directory, rules=5)) as believed:
        assert told(believed.state) != wanted  # the snapshot has it, where rules are the same
    for rules in (0, site_rules()):
        with closing(opened(made.directory, rules=rules)) as again:
            assert again.repairs == []
            assert told(again.state) == wanted


def snapshot_of(partition: Partition) -> None:
    """Write a snapshot."""

    async def commit() -> None:
        partition.flush()
        partition.journal.write(partition.journal.seal())

    asyncio.run(partition.snapshot(commit, inline))
