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


ONE = ["203.0.114.7", "::ffff:203.0.114.7", "::ffff:cb00:7207", "64:ff9b::cb00:7207", "2002:cb00:7207::1",
       "2002:cb00:7207:1:2:3:4:5", "2001:0:102:304:0:0:34ff:8df8"]  # fmt: skip
NETWORK = ["2a00:1:2:3::1", "2a00:1:2:3:ffff::", "2a00:1:2:3:0:0:0:9"]


@pytest.mark.parametrize("forms", [ONE, NETWORK], ids=["IPv4", "IPv6"])
def test_one_machine_is_asked_by_its_manners_however_its_addresses_are_written(forms):
    hosts = PoliteHosts(delay_s=1.0, connections_per_host=1, connections_per_ip=1, ip_delay_s=1.0)
    hosts.add_hosts([f"h{n}.evil.test" for n in range(len(forms) + 1)])
    for host, address in zip(hosts.hosts, [*forms, "2a00:1:2:4::1"], strict=True):
        hosts.locate(host, (address,), 1e9)
    hosts.began(hosts.hosts[0], 10.0)
    *others, far = [hosts.wait_s(host, 10.0) for host in list(hosts.hosts)[1:]]
    assert min(others) > 0
    assert far == 0
    assert hosts.pageless_host("h.evil.test", (forms[-1],)).rows.address[0] == hosts.hosts[0].rows.address[0]
