"""Names of a made-up web: the same seed leads to the same addresses, and trouble is said as resolvers say it."""

from collections import Counter

import pytest

from evercrawl.fetch.guard import Guard
from evercrawl.fetch.names import ResolveError
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual
from evercrawl.simulate.surroundings.names import INSIDE, PATIENCE_S, MadeNames

HOSTS = [f"site-{number}.example" for number in range(40)]
DAY_S = 86_400.0


def names(seed=1, **settings: float) -> MadeNames:
    return MadeNames(seed, began_at=1.7e9, true=VirtualClock().now, **settings)


def all_of(made, days=10):
    """Return what is said of every name, hour by hour."""
    return {(host, at): made.at(host, 1.7e9 + at * 3600.0) for at in range(24 * days) for host in HOSTS}


def test_the_same_seed_says_the_same_whatever_was_asked_before():
    one, other = names(), names()
    backwards = {key: other.at(key[0], 1.7e9 + key[1] * 3600.0) for key in reversed(all_of(one))}
    assert all_of(one) == backwards
    assert all_of(one, 1) != all_of(names(seed=2), 1)


def test_names_move_share_machines_and_are_troubled_for_a_while():
    said = all_of(names())
    of = Counter(record.trouble for record in said.values())
    assert 0.02 < (of["no such name"] + of["time-out"]) / len(said) < 0.10
    assert min(of["no such name"], of["time-out"]) > 50
    firsts = Counter(record.addresses[0] for (_, at), record in said.items() if record.addresses and at == 0)
    assert max(firsts.values()) > 1
    assert len({record.addresses for (host, _), record in said.items() if host == HOSTS[0]}) > 5
    assert any(len(record.addresses) > 1 for record in said.values())
    assert {record.addresses for record in said.values()} >= {(INSIDE,)}


def test_only_the_address_inside_is_one_that_is_refused():
    judge = Guard().judge
    addresses = {address for record in all_of(names()).values() for address in record.addresses}
    assert [address for address in addresses if judge(address)] == [INSIDE]


def test_when_it_clears_all_are_found_and_stay():
    made = names(clears_at=1.7e9 + DAY_S)
    after = {made.at(host, 1.7e9 + DAY_S * day) for host in HOSTS[:1] for day in range(1, 90)}
    assert len(after) == 1
    assert all(not made.at(host, 1.7e9 + DAY_S).trouble for host in HOSTS)


def test_asking_takes_a_while_and_trouble_is_raised():
    async def ask() -> Counter[str]:
        clock, found = VirtualClock(), Counter()
        made = MadeNames(1, began_at=1.7e9, true=clock.now, trouble=0.1)
        for host in HOSTS * 20:
            began, said = clock.now(), made.at(host, clock.now())
            if said.trouble:
                with pytest.raises(ResolveError, match=said.trouble):
                    await made.servers[0].resolve(host)
            else:
                assert sorted((await made.servers[0].resolve(host)).addresses) == sorted(set(said.addresses))
            patience_s = PATIENCE_S if said.trouble == "time-out" else 0.2
            assert 0.0 < clock.now() - began < patience_s + 1e-3
            found[said.trouble] += 1
            await clock.sleep(600.0)
        assert [host for _, host in made.asked] == HOSTS * 20
        return found

    found = run_virtual(ask())
    assert min(found[""], found["no such name"], found["time-out"]) > 5


def test_an_address_is_its_own_name():
    assert run_virtual(names().servers[0].resolve("[2606:2800::9]")).addresses == ("2606:2800::9",)
    assert run_virtual(names().servers[0].resolve("93.184.0.1")).addresses == ("93.184.0.1",)
