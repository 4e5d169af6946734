"""What partitions owe to each other: who owns a host, and letters as a fold of the journal."""

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evercrawl.arrays.hasher import Hasher
from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.verify import inspect
from evercrawl.errors import ConfigError
from evercrawl.model.stored import reader
from evercrawl.parse.sites import found_site
from evercrawl.store.birth import SHARED_FORMAT
from evercrawl.store.journal.codec import encode_slots
from evercrawl.store.journal.events import Discovery, Found
from evercrawl.store.journal.post_events import LetterReceived, LetterSent, LetterSettled
from evercrawl.store.partition import Partition
from evercrawl.store.post.ownership import Ownership, Share
from evercrawl.types import NO_SLOT

SECRET = bytes(range(16))
NAMES = [f"site{i}.example.org" if i % 3 else f"site{i}.com" for i in range(40)]


def share(number: int = 0, parts: int = 2) -> Share:
    return Share(number, parts, "crawl", 7)


def opened(directory: Path, number: int = 0, **more: Any) -> Partition:
    given = {"site": found_site, "site_rules": 7, "secret": SECRET, "share": share(number)} | more
    return Partition(directory, random.Random(1).randbytes, now=1000.0, **given)


def admit(partition: Partition, urls: list[str], hosts: list[str], at: float = 1.0, depth: int = 1) -> Discovery:
    state, new = partition.state, list[str]()
    first_slot, first_host = state.table.known, len(state.hosts)
    keys = state.hasher.keys(urls)
    state.table.intern(keys)
    numbers = [state.host_number(host, new) for host in hosts]
    found = Discovery(first_slot, urls, numbers, first_host, new, NO_SLOT, depth)
    state.admit(found, 1000.0 + at, keys)
    partition.remember(Found(1000.0 + at, found))
    return found


def commit(partition: Partition) -> None:
    partition.flush()
    partition.journal.write(partition.journal.seal())


def wrong(directory: Path) -> list[str]:
    found = Findings()
    partition = opened(directory, writable=False, share=None)
    inspect(partition, found, interrupted=True)
    partition.close()
    return found.wrong


def test_every_host_has_one_owner_and_a_site_stays_together():
    owners = [Ownership(share(number, 8), Hasher(SECRET), found_site) for number in range(8)]
    for name in NAMES:
        assert {own.of(name) for own in owners} == {owners[0].of(found_site(name))}
        assert owners[0].of(f"www.{found_site(name)}") == owners[0].of(name)
    assert len({owners[0].of(f"s{i}.net") for i in range(100)}) == 8
    assert owners[0].of("192.0.2.1") == owners[0].of("192.0.2.200")  # one network


def test_owners_follow_from_the_secret():
    one, other = (Ownership(share(0, 64), Hasher(secret), found_site) for secret in (SECRET, bytes(16)))
    assert [one.of(name) for name in NAMES] != [other.of(name) for name in NAMES]


@pytest.mark.parametrize("parts", [0, 3, 6, 512])
def test_a_crawl_has_a_power_of_two_partitions(parts):
    with pytest.raises(ValueError, match="partition"):
        Share(0, parts, "crawl", 7)


def test_a_directory_remembers_which_partition_it_is(tmp_path):
    opened(tmp_path, 1).close()
    again = opened(tmp_path, share=None)
    assert (again.birth.format, again.birth.share) == (SHARED_FORMAT, share(1))
    assert again.hasher.secret == SECRET
    again.close()


def test_another_public_suffix_list_is_refused(tmp_path):
    opened(tmp_path).close()
    with pytest.raises(ConfigError, match="another public suffix list"):
        opened(tmp_path, site_rules=8)


def owned(partition: Partition, mine: bool) -> list[str]:
    post = partition.state.post
    return [name for name in NAMES if (post.ownership.of(name) == 0) == mine]


def test_a_root_of_another_partition_gets_no_source_here(tmp_path):
    partition = opened(tmp_path)
    mine, theirs = owned(partition, True)[0], owned(partition, False)[0]
    admit(partition, [f"http://{mine}/", f"http://{theirs}/"], [mine, theirs], depth=0)
    assert partition.state.accounts.sources() == 1.0
    partition.close()


def test_letters_are_a_fold_of_the_journal_and_survive_snapshots(tmp_path):
    partition = opened(tmp_path)
    state, theirs = partition.state, owned(partition, False)[:2]
    found = admit(partition, [f"http://{name}/" for name in theirs], theirs)
    slots = np.array([found.first_slot, found.first_slot + 1], np.uint32)
    state.cashbook.move(slots, np.array([0.25, 0.5]), partition.journal.sequence)  # as links would
    amounts = np.array([0.25, 0.5])
    pointer = partition.remember(LetterSent(1002.0, 1, 1, encode_slots(slots), amounts.tobytes(), 0, 2))
    assert state.table.cash[slots].tolist() == [0.0, 0.0]
    assert (state.post.peers[1].unsettled, state.post.peers[1].sent_cash) == ({1: pointer}, 0.75)
    saved = state.post.save()
    again = partition.empty_state().post
    again.restore(saved)
    assert again.peers == state.post.peers
    partition.remember(LetterSettled(1003.0, 1, 1))
    assert state.post.peers[1].unsettled == {}
    assert abs(state.cashbook.owed()) < 1e-12
    partition.close()


def test_a_letter_is_applied_once_and_in_order(tmp_path):
    partition = opened(tmp_path)
    partition.remember(LetterReceived(1.0, 1, 1, 1))
    for number in (1, 3):
        with pytest.raises(AssertionError, match="once each"):
            partition.remember(LetterReceived(1.0, 1, 1, number))
    partition.close()


def test_cash_waits_for_a_url_until_it_becomes_known(tmp_path):
    partition = opened(tmp_path)
    name = owned(partition, True)[0]
    url = f"http://{name}/later"
    key, left = partition.hasher.keys([url]), np.array([0.125])
    for number in (1, 2):
        partition.remember(LetterReceived(1001.0, 1, 1, number, keys=key.tobytes(), left=left.tobytes()))
    assert partition.state.post.waiting == {int(key[0]): 0.25}
    found = admit(partition, [url], [name], at=5.0)
    assert partition.state.table.cash[found.first_slot] == 0.25
    assert partition.state.post.waiting == {}
    commit(partition)
    partition.close()
    assert wrong(tmp_path) == []
    again = opened(tmp_path)
    assert again.state.table.cash[found.first_slot] == 0.25
    assert again.state.post.peers[1].applied_cash == 0.25
    again.close()


def test_no_crawl_is_begun_beside_partitions(tmp_path):
    """As a program or a Scrapy project would begin one that was given the directory of all of them."""
    (tmp_path / "cluster.json").write_text("{}")
    for begin in (lambda: Partition(tmp_path, os.urandom, now=1.0), lambda: reader.opened(tmp_path)):
        with pytest.raises(ConfigError, match="several partitions, each a directory of its own; name one of them"):
            begin()
    assert [path.name for path in tmp_path.iterdir()] == ["cluster.json"]


def test_addresses_that_a_seed_of_another_partition_redirects_to_are_no_seeds(tmp_path):
    """Each would be a site of its own, with a source and a vote, though its network is one site everywhere else."""
    partition = opened(tmp_path)
    literals = [f"203.0.113.{i}" for i in range(1, 9)]

    def told(hosts: list[str], hops: int) -> Discovery:
        state, new = partition.state, list[str]()
        urls = [f"http://{host}/" for host in hosts]
        keys, first = state.hasher.keys(urls), (state.table.known, len(state.hosts))
        state.table.intern(keys)
        numbers = [state.host_number(host, new) for host in hosts]
        found = Discovery(first[0], urls, numbers, first[1], new, NO_SLOT, 0, hops)
        state.admit(found, 1001.0, keys)
        partition.remember(Found(1001.0, found))
        return found

    told(literals[:1], 0)
    told(literals[1:], 1)
    assert [partition.state.sites[i] for i in partition.state.site_of[:8].tolist()] == [
        literals[0],
        *["203.0.113.0/24"] * 7,
    ]
    assert partition.state.seeded() == {0}
    commit(partition)
    partition.close()
    partition = opened(tmp_path)
    assert partition.state.seeded() == {0}
    assert len(partition.state.sites) == 2
    partition.close()
