"""Machines are told apart by keyed hashes: no name is made to share another's turns."""

import pytest
import xxhash

from evercrawl.arrays.names import NumberedNames
from evercrawl.schedule.frontier.politeness import PoliteHosts
from evercrawl.store.table.table import KeyMap
from tests.helpers.forged import forged
from tests.helpers.hashing import HASHER

NAMES = [text.decode() for text in forged(b"a-host-on-the-othaaa0bside.example")]


@pytest.mark.parametrize("kept", [True, False])
def test_behind_a_proxy_names_of_one_public_hash_wait_for_nobody(kept):
    assert xxhash.xxh3_64_intdigest(NAMES[0].encode()) == xxhash.xxh3_64_intdigest(NAMES[1].encode())
    names = NumberedNames(KeyMap(1000), HASHER) if kept else None
    hosts = PoliteHosts(delay_s=1.0, connections_per_host=1, connections_per_ip=1, ip_delay_s=1.0, names=names)
    if names is not None:
        for name in NAMES:
            names.append(name)
    hosts.add_hosts(NAMES)
    for host in hosts.hosts:
        hosts.locate(host, (), 1e9)
    hosts.began(hosts.hosts[0], 10.0)
    assert hosts.wait_s(hosts.hosts[0], 10.0) > 0
    assert hosts.wait_s(hosts.hosts[1], 10.0) == 0
