"""Names in columns: numbers in order, text once, and few bytes."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.arrays.hasher import Hasher
from evercrawl.arrays.names import NumberedNames
from evercrawl.store.table.table import KeyMap
from tests.helpers.hashing import HASHER


def names(*given: str, within: NumberedNames | None = None) -> NumberedNames:
    made = NumberedNames(KeyMap(1000), HASHER, within)
    for name in given:
        made.append(name)
    return made


@given(st.lists(st.text(), unique=True, max_size=40))
def test_they_are_as_a_list_has_them(wanted):
    made = names(*wanted)
    assert made == wanted
    assert list(made) == wanted
    assert made[1:-1] == wanted[1:-1]
    assert [made.find(name) for name in wanted] == list(range(len(wanted)))
    assert repr(made) == repr(wanted)


def test_numbers_are_found_also_of_names_that_were_not_asked_for_of_late():
    wanted = [f"host-{number}.example" for number in range(10_000)]
    made = NumberedNames(KeyMap(1000), HASHER)
    for name in wanted:
        made.append(name)
    for number in random.Random(1).choices(range(10_000), k=300):
        assert made.find(wanted[number]) == number
        assert made[number] == wanted[number]
    assert made.find("host-10000.example") is None


def test_what_has_no_number_is_not_there():
    made = names("a.example", "b.example")
    assert "a.example" in made
    assert "c.example" not in made
    assert made.index("b.example") == 1
    with pytest.raises(ValueError, match=r"c\.example has no number"):
        made.index("c.example")
    with pytest.raises(IndexError):
        made[2]
    assert made != ["a.example"]


def test_a_name_is_numbered_once():
    made = names("a.example")
    with pytest.raises(AssertionError, match="numbered once"):
        made.append("a.example")


def test_a_site_is_written_where_its_host_is():
    hosts = names()
    sites = names(within=hosts)
    for number in range(100):
        hosts.append(f"www.site{number}.example")
        sites.append(f"site{number}.example")
    assert hosts.text_bytes == sum(len(name) for name in hosts)
    assert sites[7] == "site7.example"


def test_a_hundred_thousand_hosts_and_their_sites_take_little():
    hosts = NumberedNames(KeyMap(), HASHER)
    sites = NumberedNames(KeyMap(), HASHER, within=hosts)
    for number in range(100_000):
        hosts.append(f"www.site{number:07}.example")
        sites.append(f"site{number:07}.example")
    assert (hosts.nbytes + sites.nbytes) / 100_000 < 75.0, "objects would take 400"


def test_a_name_that_was_looked_for_before_it_had_a_number_is_found_once_it_has():
    made = names()
    assert made.find("late.example") is None
    assert made.find("late.example") is None
    assert made.append("late.example") == 0
    assert made.find("late.example") == 0
    loaded = names()
    assert loaded.find("late.example") is None
    loaded.load(b"late.example\n")
    assert loaded.find("late.example") == 0


def test_many_names_are_loaded_some_at_a_time(monkeypatch):
    wanted = [f"www.site{number}.example" for number in range(3000)]
    lines, whole, largest = "".join(f"{name}\n" for name in wanted).encode(), Hasher.shorts, list[int]()
    monkeypatch.setattr("evercrawl.arrays.names.LOADED_BYTES", 1000)
    monkeypatch.setattr(Hasher, "shorts", lambda hasher, some: largest.append(len(some)) or whole(hasher, some))
    hosts = names()
    sites = names(within=hosts)
    hosts.load(lines)
    sites.load(lines.replace(b"www.", b"").replace(b"site7.", b"other7."), np.arange(3000))
    assert hosts == wanted
    assert max(largest) < 100, "each is an object for a moment"
    assert (hosts.find("www.site2999.example"), sites.find("site2999.example"), sites[7]) == (
        2999,
        2999,
        "other7.example",
    )
    assert hosts.text_bytes == sum(map(len, wanted)) + len("other7.example")
    one_by_one = names(*wanted)
    assert hosts.digest() == one_by_one.digest()
